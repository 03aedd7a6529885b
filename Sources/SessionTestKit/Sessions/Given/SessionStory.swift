@_spi(Internals) public import SessionCore

/// What has happened to a session before a test begins.
///
/// ```swift
/// try given(.login(as: "ada"), .expired(.inactivity))
///   .when(.login(as: "bob", token: 2))
///   .then(.rejected(.differentUser), .user("ada"))
/// ```
/// The events are folded as a journal is; `then` throws a text that says what is otherwise.
///
/// - Requirement: STA-1
public func given(_ events: SessionEvent...) -> SessionStory {
  SessionStory(given: events, when: [])
}

/// Events that have happened, and events that a test is about.
public struct SessionStory: Hashable, Sendable {
  let given: [SessionEvent]
  let when: [SessionEvent]

  /// What happens next; events behind one that is rejected do not happen.
  public func when(_ events: SessionEvent...) -> SessionStory {
    SessionStory(given: given, when: when + events)
  }

  /// Checks how the session is now.
  ///
  /// An event that is rejected fails the check, unless `.rejected` is among the expectations.
  /// Errors: `UnexpectedOutcome`.
  public func then(
    _ expectations: SessionExpectation..., fileID: String = #fileID, line: Int = #line
  ) throws(UnexpectedOutcome) {
    let outcome = outcome()
    var problems = expectations.compactMap { $0.problem(outcome) }
    if let impossible = outcome.impossible { problems = [impossible] }
    if let rejection = outcome.rejection, !expectations.contains(where: \.isOfRejection) {
      problems.append("\(rejection)")
    }
    guard !problems.isEmpty else { return }
    throw UnexpectedOutcome(
      given: given.map(\.line), when: when.map(\.line), then: expectations.map(\.text),
      but: problems + ["the session is \(outcome.fold.state.line)"],
      fileID: fileID, line: line)
  }

  struct Outcome {
    var fold = SessionFold()
    var rejection: SessionRejection?
    var impossible: String?
  }

  private func outcome() -> Outcome {
    var outcome = Outcome()
    let history = History((given + when).map(SessionRecord.Content.event))
    for (index, record) in history.records.enumerated() {
      do {
        try outcome.fold.apply(record)
      } catch {
        guard index >= given.count else {
          outcome.impossible = "what is given cannot be: \(error)"
          return outcome
        }
        if case .illegal(let rejection, _) = error { outcome.rejection = rejection }
        return outcome
      }
    }
    return outcome
  }
}

/// Something that should be so after the events of a story.
public struct SessionExpectation: Sendable {
  let text: String
  let isOfRejection: Bool
  let problem: @Sendable (SessionStory.Outcome) -> String?

  private init(
    _ text: String, isOfRejection: Bool = false,
    _ actual: @escaping @Sendable (SessionFold) -> (isSo: Bool, instead: String)
  ) {
    self.text = text
    self.isOfRejection = isOfRejection
    problem = { outcome in
      let (isSo, instead) = actual(outcome.fold)
      return isSo ? nil : instead
    }
  }

  /// The session is in this state.
  public static func state(_ kind: SessionState.Kind) -> SessionExpectation {
    SessionExpectation("the session is \(kind)") {
      ($0.state.kind == kind, "it is \($0.state.kind)")
    }
  }

  /// The session is this user's, signed in or expired; `nil` is nobody's.
  public static func user(_ user: Identifier?) -> SessionExpectation {
    SessionExpectation("the user is \(user?.short ?? "nobody")") {
      ($0.state.user == user, "the user is \($0.state.user?.short ?? "nobody")")
    }
  }

  /// The current token has this generation; `nil` where there is none.
  public static func token(_ generation: UInt64?) -> SessionExpectation {
    SessionExpectation("the token is \(generation.map { "tok#\($0)" } ?? "none")") {
      let current = $0.state.token?.generation
      return (current?.number == generation, "the token is \(current.map { "\($0)" } ?? "none")")
    }
  }

  /// This context is active; `nil` where none is.
  public static func context(_ context: ActiveContext?) -> SessionExpectation {
    SessionExpectation("the context is \(context?.role.id.short ?? "none")") {
      let current = $0.state.activeContext
      return (
        current == context,
        "the context is \(current.map { "\($0.role.id.short), \($0.permissions)" } ?? "none")"
      )
    }
  }

  /// So many refreshes failed since the last token.
  public static func failures(_ count: UInt32) -> SessionExpectation {
    SessionExpectation("\(count) refreshes failed in a row") {
      guard case .authenticated(let session) = $0.state else { return (count == 0, "none did") }
      return (session.failures.total == count, "\(session.failures.total) did")
    }
  }

  /// The last event was rejected for this reason.
  ///
  /// - Requirement: STA-2
  public static func rejected(_ reason: SessionRejection.Reason) -> SessionExpectation {
    SessionExpectation(reason)
  }

  private init(_ reason: SessionRejection.Reason) {
    text = "it is rejected: \(reason)"
    isOfRejection = true
    problem = { outcome in
      guard let rejection = outcome.rejection else { return "nothing was rejected" }
      return rejection.reason == reason ? nil : "it is rejected: \(rejection.reason)"
    }
  }
}
