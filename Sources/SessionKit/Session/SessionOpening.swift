@_spi(Internals) import SessionCore
import SessionJournal

/// Opens a session whose journal may not be readable *yet*.
///
/// Before a device is unlocked for the first time, its system refuses to read protected files. This
/// does not mean that no user is signed in, and it is no reason to give up. So an opening stays
/// `loading` and tries again automatically: first after one second, then less often. ``retry()``
/// tries at once.
///
/// ```swift
/// let opening = SessionOpening(configuration)     // at launch, also in the background
/// let session = try await opening.session()       // waits for as long as it takes
/// ```
///
/// There is no session to call before it is open. So the app cannot sign a user in, or conclude
/// that no user is signed in, while the files cannot be read. `get()` throws the reason as a typed
/// error.
///
/// - Requirement: RES-3
public final class SessionOpening: Sendable {
  /// The progress of an opening.
  public enum Status: Sendable {
    /// The session is not open yet, and the opening tries again.
    ///
    /// The error says why, if that is known.
    case loading(SessionError?)
    /// The session is open.
    case open(Session)
    /// The session cannot be opened, and trying again would not help.
    ///
    /// Fix the cause, then create another opening.
    case failed(SessionError)
  }

  private let desk = OpeningState()
  private let task: Task<Void, Never>

  /// Begins to open the session.
  public init(_ configuration: SessionConfiguration) {
    let desk = desk
    task = Task { await desk.open(configuration) }
  }

  deinit {
    task.cancel()
    desk.end()
  }

  /// The progress of the opening, readable on any thread.
  public var status: Status { desk.status }

  /// Tries again at once.
  ///
  /// Call it after the device was unlocked or the app came to the foreground.
  ///
  /// It does nothing if the session is open or cannot be opened.
  public func retry() { desk.retry() }

  /// Waits until the session is open.
  ///
  /// - Throws: the error that prevents the session from ever being opened.
  /// - Throws: `cancelled` if the calling task is cancelled.
  public func session() async throws(SessionError) -> Session {
    try await desk.outcome().get()
  }

  /// Returns the session if it is open.
  ///
  /// Throws the reason if it is not.
  ///
  /// It throws `locked` if the reason is not known yet.
  public func get() throws(SessionError) -> Session {
    switch status {
    case .open(let session): return session
    case .loading(let problem): throw problem ?? .secretsUnavailable
    case .failed(let problem): throw problem
    }
  }
}

/// The state of an opening, and the callers that wait for its outcome.
private final class OpeningState: Sendable {
  // A journal that cannot be read yet is not "no session" (RES-3). An incomplete session returned
  // by `Session.open` was rejected: its `state` would report that no user is logged in, though that
  // is unknown, `events` would have no place to begin at, and each command would need one more way
  // to fail. If only the items cannot be read, it is known who is logged in, so there is a session,
  // which is `loading`.
  typealias Outcome = Result<Session, SessionError>

  private struct State: Sendable {
    var status = SessionOpening.Status.loading(nil)
    /// Sleeps until the next try.
    var pause: Task<Void, Never>?
    var isRetryAsked = false
  }

  private let state = WaitableState(State())

  var status: SessionOpening.Status { state.withLock { $0.status } }

  func open(_ configuration: SessionConfiguration) async {
    var tries: UInt32 = 0
    while !Task.isCancelled {
      do throws(SessionError) {
        let session = try await Session.open(configuration)
        return finish(.success(session))
      } catch {
        guard error.isTransient else { return finish(.failure(error)) }
        set(.loading(error))
        let delay = Self.delay(after: tries)
        tries = tries == .max ? tries : tries + 1
        let clock = configuration.clock
        await pause(clock, until: clock.now().uptime.addingSaturating(delay))
      }
    }
  }

  /// Returns the milliseconds before the next try, after a number of tries: one second, doubling up
  /// to 30 seconds.
  static func delay(after tries: UInt32) -> Int64 {
    min(30_000, 1_000 << Int64(min(tries, 10)))
  }

  private func pause(_ clock: any SessionClock, until uptime: Int64) async {
    let pause = Task {
      do { try await clock.sleep(untilUptime: uptime) } catch { return }
    }
    guard begin(pause) else { return pause.cancel() }
    await withTaskCancellationHandler {
      await pause.value
    } onCancel: {
      pause.cancel()
    }
    endPause()
  }

  /// Begins a pause.
  ///
  /// Returns `false` if another try was requested since the last one began.
  private func begin(_ pause: Task<Void, Never>) -> Bool {
    state.withLock { state in
      defer { state.isRetryAsked = false }
      guard !state.isRetryAsked else { return false }
      state.pause = pause
      return true
    }
  }

  private func endPause() {
    state.withLock { state in
      state.pause = nil
      state.isRetryAsked = false
    }
  }

  private func set(_ status: SessionOpening.Status) { state.withLock { $0.status = status } }

  func retry() {
    let pause = state.withLock { state in
      state.isRetryAsked = true
      return state.pause
    }
    pause?.cancel()
  }

  /// Ends the opening, because no caller needs it any more.
  func end() {
    if case .loading = status { finish(.failure(.cancelled)) }
  }

  private func finish(_ outcome: Outcome) {
    state.change { state in
      switch outcome {
      case .success(let session): state.status = .open(session)
      case .failure(let error): state.status = .failed(error)
      }
    }
  }

  func outcome() async -> Outcome {
    await state.wait { state in
      switch state.status {
      case .open(let session): .success(session)
      case .failed(let error): .failure(error)
      case .loading: nil
      }
    } ?? .failure(.cancelled)
  }
}

extension SessionError {
  /// Whether opening may succeed later without a repair of the files.
  ///
  /// This is the case if they cannot be read or written *yet*, if a peer holds the lock, or if there
  /// is no space.
  ///
  /// It does not apply to requests. If the network is unavailable, the ``code`` is `noConnection`,
  /// and ``advice`` says what to do.
  ///
  /// - Requirement: RES-3, RES-6
  public var isTransient: Bool {
    switch secretsError {
    case .unavailable, .accessDenied, .failed: return true
    default: break
    }
    switch journalError {
    case .permissionDenied, .readOnlyFolder, .busy, .unavailable, .diskFull, .noRoomToCreate,
      .folderMissing, .danglingLink:
      return true
    default: return false
    }
  }
}

extension Session {
  /// Reads the stored items again at once, if they could not be read yet.
  ///
  /// Call it after the device was unlocked or the app came to the foreground.
  ///
  /// The session itself tries each second. This does nothing if the items were read.
  ///
  /// - Requirement: RES-3
  public func retry() async {
    await engine.retry()
  }
}

extension SessionEngine {
  fileprivate func retry() {
    feed(.fired(.restore))
  }
}
