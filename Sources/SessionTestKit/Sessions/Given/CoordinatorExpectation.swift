@_spi(Internals) package import SessionCore

/// An expectation about a living session after the steps of a story.
package struct CoordinatorExpectation: Sendable {
  let text: String
  let problem: @Sendable (CoordinatorStory.Outcome) -> String?

  private init(
    _ text: String, _ problem: @escaping @Sendable (CoordinatorStory.Outcome) -> String?
  ) {
    self.text = text
    self.problem = problem
  }

  /// Expects the session to be in this state.
  package static func state(_ kind: SessionState.Kind) -> CoordinatorExpectation {
    CoordinatorExpectation("the session is \(kind)") { outcome in
      let actual = outcome.bench.coordinator.state.kind
      return actual == kind ? nil : "it is \(actual)"
    }
  }

  /// Expects exactly these records in the journal, by the names of their kinds.
  package static func journals(_ names: String...) -> CoordinatorExpectation {
    CoordinatorExpectation("journaled is \(names.joined(separator: ", "))") { outcome in
      outcome.names == names ? nil : "journaled is \(outcome.names.joined(separator: ", "))"
    }
  }

  /// Expects that this number of requests was sent.
  package static func sends(_ count: Int) -> CoordinatorExpectation {
    CoordinatorExpectation("\(count) requests are sent") { outcome in
      let actual = outcome.effects.sendCount
      return actual == count ? nil : "\(actual) were sent"
    }
  }

  /// Expects that the caller received exactly this reply, once.
  package static func reply(_ reply: SessionEffect.Reply, to caller: UInt64)
    -> CoordinatorExpectation
  {
    CoordinatorExpectation("caller \(caller) receives \(reply.line)") { outcome in
      let replies = outcome.replies(to: Caller(caller))
      if replies == [reply] { return nil }
      return "caller \(caller) receives \(replies.told)"
    }
  }

  /// Expects that the caller still waits.
  package static func waits(_ caller: UInt64) -> CoordinatorExpectation {
    CoordinatorExpectation("caller \(caller) waits") { outcome in
      let replies = outcome.replies(to: Caller(caller))
      return replies.isEmpty ? nil : "caller \(caller) receives \(replies.told)"
    }
  }

  /// Expects that the timer was last set to fire this number of milliseconds from now.
  package static func timer(_ timer: SessionTimer, in milliseconds: Int64)
    -> CoordinatorExpectation
  {
    CoordinatorExpectation("timer \(timer) is set for in \(milliseconds) ms") { outcome in
      guard let uptime = outcome.effects.uptime(of: timer) else { return "it is not set" }
      let actual = uptime.subtractingSaturating(outcome.bench.now.uptime)
      return actual == milliseconds ? nil : "it is set for in \(actual) ms"
    }
  }

  /// Expects this effect among the effects.
  package static func effect(_ effect: SessionEffect) -> CoordinatorExpectation {
    CoordinatorExpectation(effect.line) { outcome in
      outcome.effects.contains(effect) ? nil : "that is not among the effects"
    }
  }
}

extension [SessionEffect.Reply] {
  fileprivate var told: String {
    isEmpty ? "nothing" : map(\.line).joined(separator: ", and then ")
  }
}
