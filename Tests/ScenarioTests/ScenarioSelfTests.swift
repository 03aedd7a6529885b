import SessionTestKit
import SessionTestSupport
import Testing

/// One false line of each kind: a runner that does not look at such a line passes the file.
@Suite("A false scenario fails at its false line")
struct ScenarioSelfTests {
  private static let good = """
    scenario A day
    app OFF
    user sam sam@off.test one-two-three
    changes

    at 0s
    do login sam
    request POST /auth/login
      json {"email": "sam@off.test", "password": "one-two-three"}
    answer 200
      json {"access_token": "<A1>", "refresh_token": "<R1>", "expires_in": 3600, "user": {"id": "u-1"}}
    request GET /users/me
      bearer <A1>
    answer 200
      json {"id": "u-1"}
    event login user=u-1 token=1
    result ok user=u-1
    state authenticated user=u-1
    stored token user
    do add create task/1 <K1>
      json {"title": "Tent"}
    result ok waiting=1
    waiting <K1>
    do drain
    request POST /task/1
      bearer <A1>
      key <K1>
      json {"title": "Tent"}
    kill
    change sent key=<K1>
    at 10m
    """

  /// What is replaced by what, the beginning of the line that must fail, and why it must.
  private static let lies = [
    ("/auth/login", "/auth/logon", "request POST /auth/logon", "the next request is not"),
    ("one-two-three\"}", "one-two\"}", "request POST /auth/login", "password is another"),
    ("\n  bearer <A1>\nanswer", "\nanswer", "request GET", "another authorization"),
    ("event login user=u-1 token=1\n", "", "do add", "no line expects the event login"),
    ("event login user=u-1", "event login user=u-2", "event login", "user of login is u-1"),
    ("result ok user=u-1\n", "", "do add", "no result line expects that"),
    ("result ok user=u-1", "result error expired", "result error", "ended: ok"),
    ("state authenticated", "state expired", "state expired", "app is not expired"),
    ("stored token user", "stored nothing", "stored nothing", "stored is token user"),
    ("waiting <K1>", "waiting nothing", "waiting nothing", "these changes wait"),
    ("  key <K1>\n", "", "request POST /task/1", "another idempotency-key"),
    ("change sent", "change givenUp", "change givenUp", "no further record givenUp"),
    ("kill\n", "", "at 10m", "no result line expects that"),
    ("stored token user", "stowed token", "stowed token", "\"stowed\" is not a step"),
  ]

  @Test("TST-2 each false line is found in a simulated world, and the correct file passes")
  func found() throws {
    #expect(problem(in: Self.good) == nil)
    for (truth, lie, failing, cause) in Self.lies {
      let text = Self.good.replacing(truth, with: lie, maxReplacements: 1)
      let failure = try #require(problem(in: text), "\(lie)")
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[failure.line - 1].hasPrefix(failing), "\(failure)")
      #expect(failure.problem.contains(cause), "\(failure)")
      for secret in ["sam@off.test", "one-two-three", "R1~", "eyJ"] {
        #expect(!failure.description.contains(secret), "STO-3: \(failure)")
      }
    }
  }

  @Test("STO-3 TST-2 a secret in a journal is found")
  func leak() throws {
    for place in ["u-1", "\"Tent\""] {
      let secret = place == "u-1" ? "one-two-three" : "\"one-two-three\""
      let failure = try #require(problem(in: Self.good.replacing(place, with: secret)))
      #expect(failure.problem.contains("is in the journal or in a text"), "\(failure)")
    }
  }

  @Test("TST-2 a false line is found over real sockets", .timeLimit(.minutes(1)))
  func foundOverLoopback() async throws {
    let text = Self.good.replacing("/auth/login", with: "/auth/logon")
    await #expect(throws: ScenarioFailure.self) {
      try await Scenario(text, file: "x").runOverLoopback()
    }
  }

  private func problem(in text: String) -> ScenarioFailure? {
    do throws(ScenarioFailure) {
      try Scenario(text, file: "x").runSimulated(Choices(replaying: []))
      return nil
    } catch { return error }
  }
}
