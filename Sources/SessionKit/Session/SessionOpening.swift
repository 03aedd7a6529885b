@_spi(Internals) import SessionCore
import SessionJournal
import Synchronization

/// A session on its way: its journal may not be readable *yet*.
///
/// Before a device is unlocked for the first time its system refuses protected files. That is neither
/// "nobody is signed in" nor a reason to give up, so an opening stays `loading` and tries again by
/// itself, after one second and then more seldom, and at once when it is told to.
///
/// ```swift
/// let opening = SessionOpening(configuration)     // at launch, also in the background
/// let session = try await opening.session()       // waits for as long as it takes
/// ```
///
/// Until it is open there is no session to call: nothing can sign in, or read "nobody is signed in",
/// where only nothing could be read. `get()` says why in a typed error.
///
/// - Requirement: RES-3
public final class SessionOpening: Sendable {
  /// How far it has come.
  public enum Status: Sendable {
    /// It is tried, or will be tried again: why it could not be opened, once that is known.
    case loading(SessionError?)
    /// It is open.
    case open(Session)
    /// It cannot be opened, and trying again would not help; make another opening once that is mended.
    case failed(SessionError)
  }

  private let desk = OpeningState()
  private let task: Task<Void, Never>

  /// Begins to open.
  public init(_ configuration: SessionConfiguration) {
    let desk = desk
    task = Task { await desk.open(configuration) }
  }

  deinit {
    task.cancel()
    desk.end()
  }

  /// How far it has come, on any thread.
  public var status: Status { desk.status }

  /// Tries again at once: the device was unlocked, or the app came to the foreground.
  ///
  /// Does nothing where it is open, or cannot be opened.
  public func retry() { desk.retry() }

  /// Waits until the session is open.
  ///
  /// Throws what keeps it from ever being opened, and `cancelled` where the calling task is.
  public func session() async throws(SessionError) -> Session {
    try await desk.outcome().get()
  }

  /// The session, if it is open; throws why it is not.
  ///
  /// `locked` if that is not known yet.
  public func get() throws(SessionError) -> Session {
    switch status {
    case .open(let session): return session
    case .loading(let problem): throw problem ?? .secretsUnavailable
    case .failed(let problem): throw problem
    }
  }
}

/// Where an opening's outcome is waited for.
private final class OpeningState: Sendable {
  typealias Outcome = Result<Session, SessionError>

  private struct State {
    var status = SessionOpening.Status.loading(nil)
    var waiters: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
    var tickets: UInt64 = 0
    /// Sleeps until the next try.
    var pause: Task<Void, Never>?
    var isRetryAsked = false
  }

  private let state = Mutex(State())

  // Never inlined: async functions look at it before and after an `await`, and a lock knows its thread.

  var status: SessionOpening.Status {
    @inline(never) get { state.withLock { $0.status } }
  }

  func open(_ configuration: SessionConfiguration) async {
    var tries: UInt32 = 0
    while !Task.isCancelled {
      do throws(SessionError) {
        let session = try await Session.open(configuration)
        return finish(.success(session))
      } catch {
        guard error.mayPass else { return finish(.failure(error)) }
        set(.loading(error))
        let delay = Self.delay(after: tries)
        tries = tries == .max ? tries : tries + 1
        let clock = configuration.clock
        await pause(clock, until: clock.now().uptime.addingSaturating(delay))
      }
    }
  }

  /// Milliseconds before the next try, after so many others: 1 s, doubling up to 30 s.
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

  /// Whether it is to be waited for; not where another try was asked for since the last one began.
  @inline(never)
  private func begin(_ pause: Task<Void, Never>) -> Bool {
    state.withLock { state in
      defer { state.isRetryAsked = false }
      guard !state.isRetryAsked else { return false }
      state.pause = pause
      return true
    }
  }

  @inline(never)
  private func endPause() {
    state.withLock { state in
      state.pause = nil
      state.isRetryAsked = false
    }
  }

  @inline(never)
  private func set(_ status: SessionOpening.Status) { state.withLock { $0.status = status } }

  func retry() {
    let pause = state.withLock { state in
      state.isRetryAsked = true
      return state.pause
    }
    pause?.cancel()
  }

  /// Nobody wants it any more.
  func end() {
    if case .loading = status { finish(.failure(.cancelled)) }
  }

  @inline(never)
  private func finish(_ outcome: Outcome) {
    let waiters = state.withLock { state in
      switch outcome {
      case .success(let session): state.status = .open(session)
      case .failure(let error): state.status = .failed(error)
      }
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }.map(\.value)
    }
    for waiter in waiters { waiter.resume(returning: outcome) }
  }

  func outcome() async -> Outcome {
    let ticket = nextTicket()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket) }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: ticket) }?
        .resume(returning: .failure(.cancelled))
    }
  }

  @inline(never)
  private func nextTicket() -> UInt64 {
    state.withLock { state in
      state.tickets += 1
      return state.tickets
    }
  }

  @inline(never)
  private func park(_ continuation: CheckedContinuation<Outcome, Never>, _ ticket: UInt64) {
    let known = state.withLock { state -> Outcome? in
      switch state.status {
      case .open(let session): return .success(session)
      case .failed(let error): return .failure(error)
      case .loading:
        guard !Task.isCancelled else { return .failure(.cancelled) }
        state.waiters[ticket] = continuation
        return nil
      }
    }
    if let known { continuation.resume(returning: known) }
  }
}

extension SessionError {
  /// Whether opening may succeed later with nothing mended in the files: they cannot be read or written
  /// *yet*, others hold the lock, or there is no room.
  ///
  /// It says nothing of requests: a network that is away has the ``code`` `noConnection`, and ``advice``
  /// says what to do.
  ///
  /// - Requirement: RES-3, RES-6
  public var mayPass: Bool {
    switch failure {
    case .journal(.permissionDenied), .journal(.readOnlyFolder), .journal(.busy),
      .journal(.diskFull), .journal(.noRoomToCreate), .journal(.folderMissing),
      .journal(.danglingLink):
      true
    default: false
    }
  }
}

extension Session {
  /// Looks at the stored items again at once, where they could not be read yet: the device was unlocked,
  /// or the app came to the foreground.
  ///
  /// By itself that is done each second. Does nothing where they were read.
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
