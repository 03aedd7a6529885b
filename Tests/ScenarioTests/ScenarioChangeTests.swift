import Foundation
import SessionTestKit
import SessionTestSupport
import Testing

/// The failures of a runner for a change log that contradicts the file, and for dead processes.
@Suite("A scenario with a false change log fails at its false line")
struct ScenarioChangeTests {
  typealias Lie = ScenarioSelfTests.Lie

  static let good = """
    scenario Two changes
    proves SYN-2
    app OFF
    changes
    known session
      json {"access_token": "<A1>", "refresh_token": "<R1>", "expires_in": 3600, "user": {"id": "u-1"}}

    at 0s
    do open
    result ok
    request GET /users/me
      bearer <A1>
    answer 200
      json {"id": "u-1"}
    do add create task/1 <K1>
      json {"title": "Tent"}
    result ok waiting=1
    do add delete north/task/2 <K2>
    result ok waiting=2
    shows gate=open
    waiting <K1> <K2>
    do drain
    request POST /task/1
      bearer <A1>
      key <K1>
      json {"title": "Tent"}
    answer 201
    request DELETE /north/task/2
      bearer <A1>
      key <K2>
    kill
    waiting <K2>
    change acknowledged key=<K1>
    at 2h
    """

  static let lies = [
    Lie(
      "  key <K1>\n", "", at: "request POST /task/1", "another Idempotency-Key, an unexpected one"
    ),
    Lie(
      "  key <K1>", "  key <K2>", at: "request POST /task/1", "another Idempotency-Key"),
    Lie(
      "  json {\"title\": \"Tent\"}\nanswer 201", "answer 201", at: "request POST /task/1",
      "has a body"),
    Lie(
      "request DELETE /north/task/2", "request DELETE /task/2", "the next request is not"),
    Lie("waiting <K1> <K2>", "waiting <K2> <K1>", "these changes wait: K1, K2"),
    Lie("waiting <K1> <K2>", "waiting 1", "2 changes wait"),
    Lie("waiting <K1> <K2>", "waiting nothing", "2 changes wait"),
    Lie("waiting <K1> <K2>", "givenUp <K1>", "these changes are given up: "),
    Lie("shows gate=open", "shows gate=closed", "gate of app is open, not closed"),
    Lie("result ok waiting=2", "result ok waiting=1", "waiting of the result is 2"),
    Lie("change acknowledged", "change givenUp", "no further record givenUp"),
    Lie(
      "acknowledged key=<K1>", "acknowledged key=<K2>", at: "change acknowledged",
      "key of acknowledged is"),
    Lie(
      "kill\n", "kill\nanswer 200\n", at: "answer 200", "no open request matches this answer"),
    Lie("kill\n", "kill other\n", "other is not open"),
    Lie("kill\n", "kill\ndo drain\n", at: "do drain", "app is not open"),
    Lie("waiting <K1> <K2>", "news 1", "the app received 0 notifications"),
    // A process that is not killed continues.
    Lie("kill\n", "answer 200\n", at: "waiting <K2>", "these changes wait: "),
    Lie(
      "kill\nwaiting <K2>", "answer 200\nresult ok sent=2", at: "at 2h",
      "no line expects POST /auth/refresh"),
  ]

  @Test("TST-2 SYN-2 each false line is found in a simulated world", arguments: lies)
  func found(lie: Lie) throws {
    try lie.expectFound(in: Self.good)
  }

  @Test(
    "TST-2 SYN-2 the correct file passes, also if the power fails instead of the process"
  )
  func truth() throws {
    #expect(ScenarioSelfTests.problem(in: Self.good) == nil)
    let cut = Self.good.replacing("kill\n", with: "power cut\n")
      .replacing("change acknowledged key=<K1>\n", with: "")
    #expect(ScenarioSelfTests.problem(in: cut) == nil)
  }

  @Test(
    "TST-2 SYN-2 over real sockets a killed process does nothing more",
    .timeLimit(.minutes(1)))
  func dead() async throws {
    try await Scenario(Self.good, file: "x").runOverLoopback()
  }

  @Test("STO-3 TST-2 a secret in the change log is found")
  func leak() throws {
    let text = Self.good.replacing(
      "changes\n", with: "changes\nuser sam sam@off.test one-two-three\n"
    )
    .replacing("\"Tent\"", with: "\"one-two-three\"")
    let failure = try #require(ScenarioSelfTests.problem(in: text))
    #expect(failure.problem.contains("is in the journal or in a text"), "\(failure)")
  }
}
