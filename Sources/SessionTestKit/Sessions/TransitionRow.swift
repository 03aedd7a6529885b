@_spi(Internals) public import SessionCore

/// A row of the transition table (`Specs/Transitions.md`): a state, a kind of event and a
/// condition.
///
/// Its label, such as `authenticated refreshFailed current token`, names the row in the report of a
/// case. So a property can require rows:
///
/// ```swift
/// Property("…", requiredLabels: TransitionRow.legal.map(\.label)).check { choices in
///   var walk = SessionWalk()
///   while choices.chance(15, in: 16) { walk.step(choices) }    // labels each row that it meets
/// }
/// ```
///
/// - Requirement: TST-1
public struct TransitionRow: Hashable, Sendable, CustomStringConvertible {
  /// The state before the event.
  public let state: SessionState.Kind
  /// The kind of the event.
  public let event: SessionEvent.Kind
  /// The condition that distinguishes rows of the same state and kind; empty if there is only one.
  public let condition: String
  /// Whether the event is legal.
  public let isLegal: Bool

  /// Finds the row of an event, using only the model; `nil` if there is none.
  ///
  /// An event whose token is not newer than all before is rejected before the table applies. It has
  /// a row only if the table has one for such a token. An event is legal if and only if it has a
  /// row whose `isLegal` is `true`.
  public init?(_ event: SessionEvent, after model: SessionModel) {
    let number = event.announcedToken?.generation.number
    let condition =
      switch (model.state, event) {
      case (.authenticated, .refreshSucceeded):
        (number ?? 0) > model.token ? "newer token" : "token not newer"
      case (.authenticated, .refreshFailed(let refresh)):
        refresh.generation.number == model.token ? "current token" : "another token"
      case (.authenticated, .contextSwitched):
        number.map { $0 > model.token ? "newer token" : "token not newer" } ?? "no token"
      case (.expired, .login(let login)):
        login.user == model.user ? "same user" : "another user"
      default: ""
      }
    self.init(model.state, event.kind, condition)
    let isStale = number.map { $0 <= model.newest } ?? false
    guard !isStale || condition == "token not newer" else { return nil }
  }

  private init(_ state: SessionState.Kind, _ event: SessionEvent.Kind, _ condition: String) {
    (self.state, self.event, self.condition) = (state, event, condition)
    isLegal =
      switch (state, event) {
      case (.unauthenticated, .login), (.expired, .logout): true
      case (.unauthenticated, _), (.authenticated, .login): false
      case (.authenticated, _): !["token not newer", "another token"].contains(condition)
      case (.expired, .login): condition == "same user"
      case (.expired, _): false
      }
  }

  /// The row as a label for a case.
  public var label: String {
    "\(state.rawValue) \(event)" + (condition.isEmpty ? "" : " \(condition)")
  }

  /// The label.
  public var description: String { label }

  /// All rows of the table, in its order.
  public static let all: [TransitionRow] =
    SessionState.Kind.allCases.flatMap { state in
      SessionEvent.Kind.allCases.flatMap { event in
        conditions(state, event).map { TransitionRow(state, event, $0) }
      }
    }

  /// The rows of legal events.
  public static let legal = all.filter(\.isLegal)

  private static func conditions(_ state: SessionState.Kind, _ event: SessionEvent.Kind)
    -> [String]
  {
    switch (state, event) {
    case (.authenticated, .refreshSucceeded): ["newer token", "token not newer"]
    case (.authenticated, .refreshFailed): ["current token", "another token"]
    case (.authenticated, .contextSwitched): ["newer token", "token not newer", "no token"]
    case (.expired, .login): ["same user", "another user"]
    default: [""]
    }
  }
}
