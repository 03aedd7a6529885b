/// The login of a user who is signed in already: a proof of presence, a consent, a second factor.
///
/// ```
///            begin              answered             take
///  none ──────────────▶ asking ──────────▶ answered ──────▶ settling ──▶ none: the token is journaled
///                          │                  │   ▲            │
///                          │ end              │   └────────────┘ putBack: decided again
///                          ▼                  ▼
///                        none               none
/// ```
///
/// The user may need minutes. So it is not the request under way: the token is refreshed meanwhile, and
/// other callers do not wait. Its response becomes that request once no other one is under way.
///
/// - Requirement: LOG-16
struct Reauthentication: Hashable, Sendable {
  private enum State: Hashable, Sendable {
    /// Exits: `asking`.
    case none
    /// The shell asks the server or the user. Exits: `answered`, `none`.
    case asking
    /// The response waits until no request is under way. Exits: `settling`, `none`.
    case answered(TokenRequest.ReceivedResponse)
    /// The response is the request under way. Exits: `answered`, `none`.
    case settling(TokenRequest.ReceivedResponse)
  }

  private var state = State.none
  /// The number of the request; meaningful unless the state is `none`.
  private var number = RequestNumber.stray
  /// The caller who waits; meaningful unless the state is `none`.
  private var caller = Caller(0)

  /// Whether no other one can begin.
  var isUnderWay: Bool { state != .none }

  /// Whether this request waits for its response.
  func isAsking(_ request: RequestNumber) -> Bool { state == .asking && number == request }

  /// Whether this caller waits for it.
  func isOf(_ caller: Caller) -> Bool { state != .none && self.caller == caller }

  /// Whether this is the number of the request.
  func has(_ request: RequestNumber) -> Bool { state != .none && number == request }

  mutating func begin(_ number: RequestNumber, for caller: Caller) {
    (state, self.number, self.caller) = (.asking, number, caller)
  }

  mutating func answered(_ response: TokenRequest.ReceivedResponse) {
    if state == .asking { state = .answered(response) }
  }

  /// The response that waits until no request is under way.
  var held: TokenRequest.ReceivedResponse? {
    if case .answered(let response) = state { response } else { nil }
  }

  /// Makes the response that waits the request under way; returns its caller.
  mutating func take() -> Caller? {
    guard let held else { return nil }
    state = .settling(held)
    return caller
  }

  /// Lets the response wait again: another token came first.
  mutating func putBack() {
    if case .settling(let response) = state { state = .answered(response) }
  }

  /// Ends it: its token is journaled, or its response is dropped.
  mutating func settled() { state = .none }

  /// Ends it, unless its response is the request under way; returns what was under way.
  ///
  /// `isHeld`: its response has arrived.
  mutating func end() -> (number: RequestNumber, caller: Caller, isHeld: Bool)? {
    switch state {
    case .none, .settling: return nil
    case .asking, .answered:
      defer { state = .none }
      return (number, caller, held != nil)
    }
  }
}
