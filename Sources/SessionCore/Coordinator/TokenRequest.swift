/// The single request that may change the token; there is never a second one.
///
/// ```
///             intentDurable             left                 answered
///  intended ────────────────▶ ready ──────────▶ on the wire ──────────▶ answered
///      │                        ▲                                        │    ▲
///      │ holdBack               │ intentDurable, release       keep      ▼    │ settled later
///      └───────▶ held back ─────┘                                     unjournaled
/// ```
///
/// A login has no intent: it is ready at once. One of the signed-in user is here only after its response. A request may fail before anything of it left, for example
/// if its refresh token cannot be read. Each state may end with the session.
///
/// - Requirement: REF-3, REF-10, REF-11, CTX-2
struct TokenRequest: Hashable, Sendable {
  enum Purpose: Hashable, Sendable {
    case login(Caller, LoginMethod)
    case refresh(RefreshTrigger, attempt: UInt32)
    case switchContext(Caller)
    case reauthenticate(Caller)
  }

  /// A response and its arrival, from which the token's lifetime counts.
  ///
  /// - Requirement: REF-8
  struct ReceivedResponse: Hashable, Sendable {
    let number: RequestNumber
    let facts: ResponseMetadata
    let moment: ClockReading

    /// When its token expires, on the clock that never jumps.
    var deadline: Int64 { moment.uptime.addingSaturating(facts.lifetime) }

    /// The latest end of the session that the response states, on the clock that never jumps; `nil`
    /// for none.
    ///
    /// - Requirement: POL-10
    var sessionEnd: Int64? { facts.sessionLifetime.map(moment.uptime.addingSaturating) }
  }

  /// A response that could not be journaled yet; its caller has been notified.
  struct Unjournaled: Hashable, Sendable {
    let response: ReceivedResponse
    /// Why it could not be stored.
    fileprivate(set) var obstacle: StorageObstacle
    /// How often storing it has failed since a caller asked to close.
    fileprivate(set) var failuresAtClose = 0
  }

  private enum Departure: Hashable, Sendable {
    /// It may be sent as soon as its intent is durable. Exits: `heldBack`, `left`.
    case ready
    /// It supersedes a request whose process is not proven gone. It is sent only after another read of
    /// the journal. Exits: `ready`.
    case heldBack
    /// The shell was allowed to send it. Exits: none.
    case left
  }

  private enum Answer: Hashable, Sendable {
    /// Exits: `received`; `unjournaled`.
    case none
    /// Its response or its failure is being journaled. Exits: `unjournaled`.
    case received
    /// Storing the response has failed. Exits: `unjournaled`, after another failure.
    case unjournaled(Unjournaled)
  }

  let number: RequestNumber
  let purpose: Purpose
  /// The token with which the request is made; for a login, the last one there was.
  let base: Generation
  /// The sequence of its `requestSent`; 0 until that is durable.
  private(set) var intent: UInt64 = 0
  private var departure = Departure.ready
  private var answer = Answer.none

  init(number: RequestNumber, purpose: Purpose, base: Generation) {
    (self.number, self.purpose, self.base) = (number, purpose, base)
  }

  // MARK: Inputs

  /// Records that its intent is in the journal.
  mutating func intentDurable(at sequence: UInt64) { intent = sequence }

  /// Holds it back for another read of the journal.
  mutating func holdBack() {
    if departure == .ready { departure = .heldBack }
  }

  /// Ends the wait for that read.
  mutating func release() {
    if departure == .heldBack { departure = .ready }
  }

  /// Records that the shell was allowed to send it.
  mutating func left() { departure = .left }

  /// Records its response or its failure; a second one changes nothing.
  mutating func answered() {
    if answer == .none { answer = .received }
  }

  /// Keeps a response that could not be journaled.
  ///
  /// - Parameters:
  ///   - response: the response.
  ///   - obstacle: why it could not be stored; an earlier attempt may have stored it.
  ///   - isClosing: whether a caller asked to close.
  mutating func keep(
    _ response: ReceivedResponse, _ obstacle: StorageObstacle, isClosing: Bool
  ) {
    let earlier = unjournaled
    let isStored = obstacle.isStored || earlier?.obstacle.isStored == true
    answer = .unjournaled(
      Unjournaled(
        response: response,
        obstacle: StorageObstacle(cause: obstacle.cause, isStored: isStored),
        failuresAtClose: (earlier?.failuresAtClose ?? 0) + (isClosing ? 1 : 0)))
  }

  // MARK: Questions

  var isRefresh: Bool {
    guard case .refresh = purpose else { return false }
    return true
  }

  var isLogin: Bool {
    guard case .login = purpose else { return false }
    return true
  }

  /// Whether the user logs in, or the signed-in user does so again.
  var signsIn: Bool {
    if case .reauthenticate = purpose { true } else { isLogin }
  }

  func isLogin(of caller: Caller) -> Bool {
    guard case .login(caller, _) = purpose else { return false }
    return true
  }

  var isHeldBack: Bool { departure == .heldBack }

  /// Whether the shell was allowed to send it.
  var hasLeft: Bool { departure == .left }

  /// Whether its intent is durable, but nothing of it was sent.
  var isUnsent: Bool { intent != 0 && !hasLeft }

  /// Whether it was sent and has no response yet.
  var isOnTheWire: Bool { hasLeft && answer == .none }

  /// Its response, if that could not be journaled yet.
  var unjournaled: Unjournaled? {
    if case .unjournaled(let response) = answer { response } else { nil }
  }

  /// The caller for which it was started, unless that has had its reply; `nil` for a refresh.
  var owner: Caller? {
    guard unjournaled == nil else { return nil }
    return switch purpose {
    case .login(let caller, _), .switchContext(let caller), .reauthenticate(let caller): caller
    case .refresh: nil
    }
  }
}

/// Why a response could not be stored.
struct StorageObstacle: Hashable, Sendable {
  let cause: StorageCause
  /// Whether the token item holds the response's token, so that only its event is missing.
  let isStored: Bool
}
