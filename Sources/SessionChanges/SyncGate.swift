import SessionChangeQueue
@_spi(Internals) public import SessionCore
public import SessionKit

/// Whether a sync may run: open exactly while a user is authenticated.
///
/// The session opens and closes it and never waits for who goes through; who syncs asks it, and never
/// decides the session's state.
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

  /// Whether it is open now; never waits for disk or network.
  public var isOpen: Bool { user != nil }

  /// The user for whom it is open; `nil` while it is closed.
  public var user: Identifier? { pass?.user }

  /// Who goes through now, and through which sign-in.
  var pass: Pass? {
    guard !isFinished, case .authenticated(let session) = state else { return nil }
    return Pass(
      user: session.user,
      signIn: journal.map { SignIn(journal: $0, generation: session.token.generation) })
  }

  /// Who goes through a gate.
  struct Pass: Hashable, Sendable {
    let user: Identifier
    let signIn: SignIn?
  }

  var state: SessionState { states.current.state }
  /// Whether the stored items were not read yet.
  var isLoading: Bool { states.current.activity == .loading }
  /// Whether the session object is closed.
  var isFinished: Bool { states.isFinished }

  /// Whether it is open, from now on: first how it is, then each change.
  ///
  /// Only the newest counts: who is slow is given how it is then. A gate that was closed and opened again
  /// meanwhile, for the same user, did not change. Ends behind a last `false` when the session object is
  /// closed, and without one when the task is cancelled.
  public var values: SyncGateValues { SyncGateValues(states: states) }

  /// Runs `work` while the gate is open for the user for whom it is open now.
  ///
  /// When it closes, the task of `work` is cancelled; the session does not wait for it, this call does.
  /// Throws `closed` where the gate is closed, or closed before `work` came to an end and that threw;
  /// else what `work` threw. What `work` returned counts, however late.
  public func run<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let user else { throw SyncGateClosed() }
    return try await run(for: user, work)
  }

  /// Runs `work` while the gate is open for `user`: not at all where it is open for another one.
  ///
  /// For the rest as `run`.
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

  /// Returns when it is not open for `user` any more, or the task is cancelled.
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

/// The gate is closed: nobody is signed in, or the session has expired.
public struct SyncGateClosed: Error, Hashable, Sendable, CustomStringConvertible {
  /// The error.
  public init() {}

  /// What it means and what to do.
  public var description: String {
    "Nothing is sent: nobody is signed in, or the session has expired. What waits stays; sign in, and it "
      + "goes on."
  }
}

/// Whether a gate is open, from now on.
public struct SyncGateValues: AsyncSequence, Sendable {
  /// Whether it is open.
  public typealias Element = Bool
  /// It never fails.
  public typealias Failure = Never

  let states: SessionStates

  /// Begins with how it is.
  public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator()) }

  /// Walks from change to change.
  public struct Iterator: AsyncIteratorProtocol {
    private var states: SessionStates.Iterator
    private var last: Identifier??

    init(states: SessionStates.Iterator) { self.states = states }

    /// Waits until it is otherwise than at the last call, or open for another user.
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
  /// Whether a sync may run.
  ///
  /// - Requirement: SYN-1
  public var gate: SyncGate { SyncGate(states, journal: journal) }
}
