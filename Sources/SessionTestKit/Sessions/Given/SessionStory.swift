@_spi(Internals) public import SessionCore

/// Begins a story: a session after these events.
///
/// ```swift
/// try given(.login(as: "ada"), .expired(.inactivity))
///   .when(.login(as: "bob", token: 2))
///   .then(.rejected(.differentUser), .user("ada"))
/// ```
/// The events are folded like those of a journal. `then` throws a text that describes each
/// difference.
///
/// - Requirement: STA-1
public func given(_ events: SessionEvent...) -> SessionStory {
  SessionStory(given: events, when: [])
}

/// Events that have happened, and the events under test.
public struct SessionStory: Hashable, Sendable {
  let given: [SessionEvent]
  let when: [SessionEvent]

  /// Adds events to the story.
  ///
  /// Events after a rejected one are not applied.
  public func when(_ events: SessionEvent...) -> SessionStory {
    SessionStory(given: given, when: when + events)
  }

  /// Folds the events, and checks the expectations.
  ///
  /// A rejected event fails the check, unless `.rejected` is among the expectations. Throws
  /// `UnexpectedOutcome`.
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
          outcome.impossible = "the given state is impossible: \(error)"
          return outcome
        }
        if case .illegal(let rejection, _) = error { outcome.rejection = rejection }
        return outcome
      }
    }
    return outcome
  }
}

/// An expectation about a session after the events of a story.
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

  /// Expects the session to be in this state.
  public static func state(_ kind: SessionState.Kind) -> SessionExpectation {
    SessionExpectation("the session is \(kind)") {
      ($0.state.kind == kind, "it is \($0.state.kind)")
    }
  }

  /// Expects the session to belong to this user, authenticated or expired; `nil` expects no user.
  public static func user(_ user: Identifier?) -> SessionExpectation {
    SessionExpectation("the user is \(user?.short ?? "none")") {
      ($0.state.user == user, "the user is \($0.state.user?.short ?? "none")")
    }
  }

  /// Expects the current token to have this generation; `nil` expects no token.
  public static func token(_ generation: UInt64?) -> SessionExpectation {
    SessionExpectation("the token is \(generation.map { "tok#\($0)" } ?? "none")") {
      let current = $0.state.token?.generation
      return (current?.number == generation, "the token is \(current.map { "\($0)" } ?? "none")")
    }
  }

  /// Expects this context to be active; `nil` expects none.
  public static func context(_ context: ActiveContext?) -> SessionExpectation {
    SessionExpectation("the context is \(context?.role.id.short ?? "none")") {
      let current = $0.state.activeContext
      return (
        current == context,
        "the context is \(current.map { "\($0.role.id.short), \($0.permissions)" } ?? "none")"
      )
    }
  }

  /// Expects this number of failed refreshes since the last token.
  public static func failures(_ count: UInt32) -> SessionExpectation {
    SessionExpectation("\(count) refreshes failed in a row") {
      guard case .authenticated(let session) = $0.state else { return (count == 0, "none did") }
      return (session.failures.total == count, "\(session.failures.total) did")
    }
  }

  /// Expects that the last event was rejected for this reason.
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

/// The difference between a story's outcome and its expectations, as text.
///
/// `then` throws it, and every test library shows its text. The shrinker accepts a simpler case
/// only if the same `then` fails.
///
/// - Requirement: TST-1
public struct UnexpectedOutcome: PlacedError, Hashable, Sendable, CustomStringConvertible {
  /// The text, in the parts given, when, then and but.
  public let description: String
  /// The file of the `then`, as `Module/File.swift`.
  public let fileID: String
  /// The line of the `then`.
  public let line: Int

  init(
    given: [String], when: [String], then: [String], but: [String], fileID: String, line: Int
  ) {
    self.fileID = fileID
    self.line = line
    let parts = [("Given", given), ("When", when), ("Then", then), ("But", but)]
    let lines = parts.flatMap { name, lines in
      (lines.isEmpty ? ["nothing"] : lines).enumerated().map { index, line in
        let head = index == 0 ? name : ""
        return head + String(repeating: " ", count: 7 - head.count) + line
      }
    }
    description = lines.joined(separator: "\n")
  }
}
