import SessionChangeQueue
@_spi(Internals) public import SessionCore
public import SessionKit

/// Tells whether a sync may run.
///
/// It is open exactly while a user is authenticated.
///
/// The session opens and closes it, and never waits for a sync. A sync reads it, and never decides
/// the session's state.
///
/// ```swift
/// for await isOpen in session.gate.values where isOpen {
///   try await session.gate.run { try await sync() }
/// }
/// ```
///
/// - Requirement: SYN-1
public struct SyncGate: Sendable {
  private let states: SessionStates
  /// The session's journal.
  let journal: Identifier?

  init(_ states: SessionStates, journal: Identifier? = nil) {
    self.states = states
    self.journal = journal
  }

  /// Whether the gate is open now.
  ///
  /// It never waits for disk or network.
  public var isOpen: Bool { user != nil }

  /// The user for whom the gate is open; `nil` while it is closed.
  public var user: Identifier? { pass?.user }

  /// The user for whom the gate is open, with the sign-in.
  var pass: Pass? {
    guard !isFinished, case .authenticated(let session) = state else { return nil }
    return Pass(
      user: session.user,
      signIn: journal.map { SignIn(journal: $0, generation: session.token.generation) })
  }

  /// A user with a sign-in for whom a gate is open.
  struct Pass: Hashable, Sendable {
    let user: Identifier
    let signIn: SignIn?
  }

  var state: SessionState { states.current.state }
  /// Whether the stored items were not read yet.
  var isLoading: Bool { states.current.activity == .loading }
  /// Whether the session object is closed.
  var isFinished: Bool { states.isFinished }

  /// Whether the gate is open, as a sequence: the current value first, then each change.
  ///
  /// Only the newest value is delivered to a slow subscriber. If a gate was closed and opened again
  /// for the same user meanwhile, it did not change. When the session object is closed, the
  /// sequence ends after a last `false`. When the task is cancelled, it ends without one.
  public var values: SyncGateValues { SyncGateValues(states: states) }

  /// Runs `work` while the gate is open for its current user.
  ///
  /// When the gate closes, the task of `work` is cancelled. This call waits for it, but the session
  /// does not. Throws `SyncGateClosed` if the gate is closed, or if it closed and `work` threw
  /// afterwards. Otherwise it throws the error of `work`. If `work` returns a value, that is the
  /// result, even after the gate has closed.
  public func run<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let user else { throw SyncGateClosed() }
    return try await run(for: user, work)
  }

  /// Runs `work` while the gate is open for `user`.
  ///
  /// If it is open for another user, `work` does not run.
  ///
  /// Otherwise it behaves like `run(_:)`.
  public func run<Value: Sendable>(
    for user: Identifier, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard self.user == user else { throw SyncGateClosed() }
    return try await withThrowingTaskGroup(of: Ending<Value>.self) { group in
      group.addTask { .worked(try await work()) }
      group.addTask {
        await untilClosed(for: user)
        return .closed
      }
      defer { group.cancelAll() }
      var hasClosed = false
      do {
        while let ending = try await group.next() {
          if case .worked(let value) = ending { return value }
          hasClosed = !Task.isCancelled
          group.cancelAll()
        }
      } catch {
        throw hasClosed ? SyncGateClosed() : error
      }
      throw SyncGateClosed()
    }
  }

  /// Returns when the gate is not open for `user` any more, or when the task is cancelled.
  private func untilClosed(for user: Identifier) async {
    for await status in states {
      guard case .authenticated(let session) = status.state, session.user == user else { return }
    }
  }

  private enum Ending<Value: Sendable>: Sendable {
    case worked(Value)
    case closed
  }
}

/// The gate is closed: no user is signed in, or the session has expired.
public struct SyncGateClosed: Error, Hashable, Sendable, CustomStringConvertible {
  /// Creates the error.
  public init() {}

  /// A description of the consequence and what to do.
  public var description: String {
    "Nothing is sent: no user is logged in, or the session has expired. Pending changes are kept. "
      + "Sending continues after a login."
  }
}

/// Whether a gate is open, as a sequence.
public struct SyncGateValues: AsyncSequence, Sendable {
  /// Whether the gate is open.
  public typealias Element = Bool
  /// It never fails.
  public typealias Failure = Never

  let states: SessionStates

  /// Returns an iterator that begins with the current value.
  public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator()) }

  /// Iterates over the changes.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: SessionStates.Iterator
    private var last: Identifier??

    init(states: SessionStates.Iterator) { self.states = states }

    /// Waits until the value differs from that of the last call, or the gate is open for another
    /// user.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Bool? {
      while let status = await states.next(isolation: actor) {
        var user: Identifier?
        if case .authenticated(let session) = status.state { user = session.user }
        guard last != .some(user) else { continue }
        last = .some(user)
        return user != nil
      }
      guard !Task.isCancelled, case .some(.some) = last else { return nil }
      last = .some(nil)
      return false
    }
  }
}

extension Session {
  /// The gate that tells whether a sync may run.
  ///
  /// - Requirement: SYN-1
  public var gate: SyncGate { SyncGate(states, journal: journal) }
}
