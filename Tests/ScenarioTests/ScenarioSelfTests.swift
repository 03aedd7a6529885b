import Foundation
import SessionTestKit
import SessionTestSupport
import Testing

/// Files that are wrong at a known line: a runner that checks nothing passes them.
@Suite("A false scenario fails at its false line")
struct ScenarioSelfTests {
  static let good = """
    scenario A day
    proves LOG-4
    app EDU
      environment staging
    user maria maria@school.test correct-horse-9

    at 0s
    do login maria
    request POST /auth/login
      json {"email": "maria@school.test", "password": "correct-horse-9"}
    answer 200
      json {"access_token": "<A1: jwt 3600s sub=u-7>", "refresh_token": "<R1>", "expires_in": 3600,
        "user": {"id": "u-7"}, "active_context": {"role_id": "r-1", "role_name": "teacher"}}
    event login user=u-7 token=1
    result ok user=u-7
    state authenticated user=u-7 token=1
    shows token=<A1> expired=no
    stored token user context

    at 55m
    request POST /auth/refresh
      json {"refresh_token": "<R1>"}
    answer 503
    event refreshFailed kind=server status=503
    note requestSent kind=refresh
    at 55m1s
    request POST /auth/refresh
      json {"refresh_token": "<R1>"}
    answer 401
      json {"error": {"code": "TOKEN_REVOKED"}}
    event refreshFailed kind=rejected
    event sessionExpired
    event logout reason=policy
    state unauthenticated
    stored nothing
    """

  /// A part of the file that is replaced, and the line that must fail.
  struct Lie: Sendable, CustomTestStringConvertible {
    let truth: String
    let lie: String
    let failing: String
    let problem: String

    /// If the failing line is not named, it is the first of the replaced part.
    init(_ truth: String, _ lie: String, at failing: String? = nil, _ problem: String) {
      (self.truth, self.lie, self.problem) = (truth, lie, problem)
      self.failing = failing ?? String(lie.split(separator: "\n").first ?? "")
    }

    var testDescription: String { "\(truth) → \(lie)" }

    /// Expects that the scenario fails at the false line.
    @discardableResult
    func expectFound(in scenario: String) throws -> ScenarioFailure {
      let place = try #require(scenario.firstRange(of: truth))
      let text = scenario.replacingCharacters(in: place, with: lie)
      let failure = try #require(ScenarioSelfTests.problem(in: text))
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      #expect(lines[failure.line - 1].hasPrefix(failing), "\(failure)")
      #expect(failure.problem.contains(problem), "\(failure)")
      return failure
    }
  }

  private static let login = "request POST /auth/login"
  private static let loginBody =
    "  json {\"email\": \"maria@school.test\", \"password\": \"correct-horse-9\"}\n"
  private static let first = "event refreshFailed kind=server status=503"
  private static let end = "stored nothing"

  static let lies = [
    // Requests.
    Lie(login, "request POST /auth/logon", "the next request is not POST /auth/logon"),
    Lie(login, "request GET /auth/login", "the next request is not GET /auth/login"),
    Lie(login, login + "\n  bearer x", "has another Authorization, or none"),
    Lie(login, login + "\n  basic x y", "has another Authorization, or none"),
    Lie(login, login + "\n  header Accept: text/html", "has another accept"),
    Lie(loginBody, "", at: login, "has a body"),
    Lie(", \"password\": \"correct-horse-9\"", "", at: login, "also has password"),
    Lie("correct-horse-9\"}", "another-one\"}", at: login, "password is another"),
    Lie("correct-horse-9\"}", "*\", \"otp\": 1}", at: login, "otp is missing"),
    Lie(loginBody, "  form email=maria@school.test\n", at: login, "also has"),
    Lie(
      "  json {\"refresh_token\": \"<R1>\"}\nanswer 503",
      "  json {\"refresh_token\": \"<A1>\"}\nanswer 503", at: "request POST /auth/refresh",
      "refresh_token is another"),
    Lie("do login maria\n", "do refresh\n", at: login, "no further request arrived"),
    Lie("at 55m\n", "at 54m\n", at: "request POST /auth/refresh", "no further request arrived"),
    Lie("at 55m\n", "at 56m\n", "it is only 3300000 ms, and no line expects POST"),
    Lie("at 55m\n", "until 56m\n", at: "answer 503", "no line expects the event"),
    Lie("at 55m1s\n", "at 20m\n", "time does not go back"),
    Lie(
      "state authenticated user=u-7 token=1", "do refresh\nclock +1h", at: "clock +1h",
      "no line expects POST /auth/refresh"),
    // Answers.
    Lie("answer 503", "lost", at: first, "kind of refreshFailed is noReply, not server"),
    Lie("answer 503", "silent", at: first, "there is no further event"),
    Lie("answer 503", "answer 200\n  html x", at: first, "intercepted, not server"),
    Lie("answer 503", "answer 503\nanswer 502", at: "answer 502", "no line expects the event"),
    Lie(first, first + "\nanswer 200", at: "answer 200", "no open request matches this answer"),
    Lie(first, first + "\nlost", at: "lost", "no open request matches this answer"),
    // Events and notes.
    Lie("event login user=u-7 token=1\n", "", at: "at 55m", "no line expects the event login"),
    Lie("event login user=u-7", "event login user=u-8", "user of login is u-7, not u-8"),
    Lie("event login user=u-7", "event logout reason=user\nevent login", "is not logout"),
    Lie(first, first + "\n" + first, at: first, "there is no further event"),
    Lie(first, first + " x2", at: first + " x2", "there is no further event"),
    Lie("event sessionExpired\n", "", at: "event logout reason=policy", "is not logout"),
    Lie("event logout reason=policy\n", "", at: end, "no line expects the event logout"),
    Lie("reason=policy", "reason=user", at: "event logout reason=user", "reason of logout is"),
    Lie("note requestSent kind=refresh", "note requestSent kind=switchContext", "is refresh"),
    Lie("note requestSent kind=refresh", "note tailCut", "there is no further note tailCut"),
    // Results.
    Lie("result ok user=u-7\n", "", at: "at 55m", "no result line expects that"),
    Lie("result ok user=u-7", "result error expired", "\"do login in app\" ended: ok"),
    Lie("result ok user=u-7", "result ok user=u-8", "user of the result is u-7, not u-8"),
    Lie("result ok user=u-7", "result ok role=r-1", "the result has no role here"),
    Lie(
      "result ok user=u-7", "result ok\nresult ok token=*", at: "result ok token=*",
      "no command is left that has this result"),
    Lie(
      "answer 200", "result ok\nanswer 200", at: "result ok",
      "\"do login in app\" has not ended yet"),
    Lie(end, end + "\ndo clearError", at: "do clearError", "no result line expects that"),
    Lie(
      "state authenticated user=u-7 token=1",
      "pending 2\ndo logout\nresult error pendingChanges count=3",
      at: "result error pendingChanges count=3", "count of the result is 2, not 3"),
    Lie(
      "state authenticated user=u-7 token=1",
      "pending 2\ndo logout\nresult error pendingChanges spanish=otra", at: "result error",
      "is No se ha"),
    Lie(
      "state authenticated user=u-7 token=1", "pending 2\ndo logout discarding\nresult ok",
      at: "result ok", "has not ended yet"),
    Lie(
      "state authenticated user=u-7 token=1", "do use\nresult ok token=<R1>",
      at: "result ok token=<R1>", "token of the result is another"),
    Lie(
      "state authenticated user=u-7 token=1", "do foreground\nresult ok state=expired",
      at: "result ok state=expired", "state of the result is authenticated"),
    // States.
    Lie(end, end + "\ncleared 0", at: "cleared 0", "was cleared 1 times"),
    Lie(end, end + "\nreceived 1", at: "received 1", "a subscriber in app received the events"),
    Lie(end, end + "\nreceived 99", at: "received 99", "not the first 99"),
    Lie(end, end + "\nreceived 1 in other", at: "received 1 in other", "other is not open"),
    Lie("state authenticated user=u-7 token=1", "state unauthenticated", "app is not"),
    Lie("state authenticated user=u-7 token=1", "state authenticated token=2", "is 1, not 2"),
    Lie("shows token=<A1> expired=no", "shows expired=yes", "expired of app is no, not yes"),
    Lie("shows token=<A1> expired=no", "shows token=<R1>", "token of app is another"),
    Lie("shows token=<A1> expired=no", "shows expired=no in other", "other is not open"),
    Lie("stored token user context", "stored token user", "stored is context token user"),
    Lie("stored token user context", end, at: end, "stored is context token user"),
    Lie("at 55m\n", "do open\n", "app is open already"),
    Lie("at 55m\n", "do close\nresult ok\ndo refresh\n", at: "do refresh", "app is not open"),
  ]

  @Test("TST-2 each false line is found in a simulated world", arguments: lies)
  func found(lie: Lie) throws {
    let failure = try lie.expectFound(in: Self.good)
    #expect(failure.description.hasPrefix("x:\(failure.line): "))
  }

  /// The beginning of a sign-in on a page, up to the token request.
  static let paged = """
    scenario A page
    proves LOG-5
    app B2C
      client app-1
      scope s
    user maria maria@school.test correct-horse-9

    at 0s
    do page
    request GET /tenant/b2c_1_signin/oauth2/v2.0/authorize
      query client_id=app-1 response_type=code redirect_uri=app://auth scope=s prompt=none
      query state=<S1> nonce=<N1> code_challenge=<H1> code_challenge_method=S256
    answer 302
      header Location: app://auth?error=interaction_required&state=<S1>
    request GET /tenant/b2c_1_signin/oauth2/v2.0/authorize
      query client_id=app-1 response_type=code redirect_uri=app://auth scope=s
      query state=<S2> nonce=<N2> code_challenge=<H2> code_challenge_method=S256
    answer 200
      page /signin
    shows activity=authenticating page=yes
    page types maria
    request POST /signin
      form username=maria@school.test password=correct-horse-9
    answer 302
      header Location: app://auth?code=<C1>&state=<S2>
    request POST /tenant/b2c_1_signin/oauth2/v2.0/token
      form grant_type=authorization_code code=<C1> redirect_uri=app://auth code_verifier=* client_id=app-1 scope=s
    token I1 3600s
      json {"oid": "o-1", "nonce": "<N2>"}
    answer 200
      json {"access_token": "<A1>", "refresh_token": "<R1>", "expires_in": 3600, "id_token": "<I1>"}
    event login user=o-1 method=interactive
    result ok user=o-1
    shows page=no
    """

  private static let authorize = "request GET /tenant/b2c_1_signin/oauth2/v2.0/authorize"

  static let pageLies = [
    Lie(" prompt=none", "", at: authorize, "also has prompt"),
    Lie("state=<S2> ", "", at: authorize, "also has state"),
    Lie(
      "scope=s\n  query state=<S2>", "scope=s prompt=none\n  query state=<S2>", at: authorize,
      "has no prompt"),
    Lie("client_id=app-1 response", "client_id=app-2 response", at: authorize, "client_id of GET"),
    Lie("state=<S2>", "state=<S1>", at: authorize, "state of GET"),
    Lie(
      "request POST /signin\n", "request POST /signin\n  query tx=1\n", at: "request POST /signin",
      "has no query"), Lie("page types maria", "page forgets", "the page has no link forgot"),
    Lie("  page /signin\n", "  html x\n", at: "page types maria", "the page has no form"),
    Lie("page types maria\n", "", at: "request POST /signin", "no further request arrived"),
    Lie(
      "page types maria", "page leaves", at: "request POST /signin", "no further request arrived"),
    Lie(
      "result ok user=o-1\n", "result ok user=o-1\npage leaves\n", at: "page leaves",
      "no page is shown"),
    Lie(
      "state=<S2>\nrequest", "state=<S1>\nrequest", at: "request POST /tenant", "no further request"
    ), Lie("\"<N2>\"", "\"<N1>\"", at: "event login", "there is no further event"),
    Lie("page=yes", "page=no", at: "shows activity=authenticating", "page of app is yes, not no"),
    Lie("shows page=no", "shows page=yes", "page of app is no, not yes"),
    Lie("result ok user=o-1", "result error webSignIn", "ended: ok"),
  ]

  @Test("TST-2 WEB-5 each false line of a sign-in on a page is found", arguments: pageLies)
  func foundOnPage(lie: Lie) throws { try lie.expectFound(in: Self.paged) }

  @Test("TST-2 STO-3 the correct sign-in on a page passes and shows neither state nor code")
  func pageTruth() {
    #expect(Self.problem(in: Self.paged) == nil)
    for lie in Self.pageLies {
      let failure = Self.problem(in: Self.paged.replacing(lie.truth, with: lie.lie))
      for secret in ["maria@", "correct-horse-9", "C1~", "A1~"] {
        #expect(failure.map { !"\($0)".contains(secret) } ?? true, "\(lie)")
      }
    }
  }

  @Test("TST-2 a false line is found over real sockets", .timeLimit(.minutes(1)))
  func foundOverLoopback() async throws {
    let text = Self.good.replacing(Self.login, with: Self.login + "\n  bearer x")
    let scenario = try Scenario(text, file: "x")
    await #expect { try await scenario.runOverLoopback() } throws: { error in
      "\(error)".contains("x:9: POST /auth/login has another Authorization, or none")
    }
  }

  @Test("STO-3 TST-2 a failure shows no token, no password and no e-mail address")
  func silent() throws {
    for lie in Self.lies {
      let text = Self.good.replacing(lie.truth, with: lie.lie)
      guard Scenario.isReadable(text), let failure = Self.problem(in: text) else { continue }
      for secret in ["maria@school.test", "correct-horse-9", "R1~", "eyJ"] {
        #expect(!failure.description.contains(secret), "\(failure)")
      }
    }
  }

  @Test("STO-3 TST-2 a secret in the journal is found")
  func leak() throws {
    let text = Self.good.replacing("u-7", with: "correct-horse-9")
    let failure = try #require(Self.problem(in: text))
    #expect(failure.problem.contains("is in the journal or in a text"))
  }

  @Test("TST-2 a request without a response is found, and so is a command without a result")
  func cutShort() throws {
    let place = try #require(Self.good.firstRange(of: "answer 200"))
    let open = try #require(Self.problem(in: String(Self.good[..<place.lowerBound])))
    #expect(open.line == 9 && open.problem == "nothing answers this request", "\(open)")
    let result = try #require(Self.good.firstRange(of: "result ok"))
    let unnamed = try #require(Self.problem(in: String(Self.good[..<result.lowerBound])))
    #expect(unnamed.problem.contains("no result line expects"), "\(unnamed)")
  }

  @Test("TST-2 a session that never rests is found")
  func restless() throws {
    let text = Self.good.replacing("at 55m\n", with: "network off\nuntil 3h\n").replacing(
      "user maria", with: "policy longestRetryDelay=1s\nuser maria")
    let failure = try #require(Self.problem(in: text))
    #expect(failure.problem == "there are more than 400 events on the way", "\(failure)")
  }

  @Test("TST-2 the correct file passes")
  func truth() throws { #expect(Self.problem(in: Self.good) == nil) }

  static func problem(in text: String) -> ScenarioFailure? {
    do {
      try Scenario(text, file: "x").runSimulated(Choices(replaying: []))
      return nil
    } catch let error as ScenarioFailure { return error } catch {
      Issue.record("the file cannot be read: \(error)")
      return nil
    }
  }
}

extension Scenario {
  fileprivate static func isReadable(_ text: String) -> Bool {
    do {
      _ = try Scenario(text, file: "x")
      return true
    } catch { return false }
  }
}
