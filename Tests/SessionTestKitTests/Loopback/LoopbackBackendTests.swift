import Testing

@testable import SessionTestKit

/// The service as a value: no socket, no clock.
@Suite struct LoopbackBackendTests {
  private var backend = LoopbackBackend.edu(users: [.sample])
  private var settings = LoopbackSettings()
  private var now: Int64 = 1_700_000_000_000

  private mutating func post(
    _ path: String, _ body: WireValue, bearer: String? = nil
  ) throws -> (status: Int, reply: TokenReply) {
    let fields = bearer.map { [HTTPField("Authorization", "Bearer \($0)")] } ?? []
    let request = ReceivedRequest(method: "POST", path: path, fields: fields, body: body.bytes)
    let response = backend.answer(request, now: now, settings: settings).response
    return (
      response.status, try TokenReply.read(response.body.isEmpty ? [123, 125] : response.body)
    )
  }

  private mutating func login(
    _ email: String = LoopbackUser.sample.email,
    _ password: String = LoopbackUser.sample.password
  ) throws -> (status: Int, reply: TokenReply) {
    try post("/auth/login", ["email": .string(email), "password": .string(password)])
  }

  private mutating func refresh(_ token: String?) throws -> (status: Int, reply: TokenReply) {
    try post("/auth/refresh", ["refresh_token": .string(try #require(token))])
  }

  private mutating func materials(_ token: String?) throws -> String {
    let request = ReceivedRequest(
      method: "GET", path: "/materials",
      fields: [HTTPField("Authorization", "bearer \(try #require(token))")])
    let answer = backend.answer(request, now: now, settings: settings)
    return answer.code ?? String(answer.status)
  }

  private mutating func change(
    _ body: String, key: String?, _ token: String?
  ) throws -> (answer: BackendAnswer, number: Int?) {
    var fields = [HTTPField("Authorization", "Bearer \(try #require(token))")]
    if let key { fields.append(HTTPField("Idempotency-Key", key)) }
    let answer = backend.answer(
      ReceivedRequest(method: "POST", path: "/changes", fields: fields, body: Array(body.utf8)),
      now: now, settings: settings)
    guard case .object(let members)? = answer.body, case .int(let number)? = members["number"]
    else { return (answer, nil) }
    return (answer, number)
  }

  @Test(
    "TST-2 SYN-2 a change is accepted once for its key, and its first response is repeated")
  mutating func changes() throws {
    let eve = LoopbackUser(
      id: "7c1d2f7e-52f0-4f0a-9f3c-1d2b3c4d5e6f", email: "eve@school.test", password: "eve-8888",
      firstName: "Eve", lastName: "Other", contexts: [])
    backend = .edu(users: [.sample, eve])
    let token = try login().reply.accessToken
    let other = try login(eve.email, eve.password).reply.accessToken
    #expect(try change("one", key: "k1", token).number == 1)
    #expect(try change("two", key: "k2", token).number == 2)
    let again = try change("one", key: "k1", token)
    #expect(again.number == 1 && again.answer.status == 201)
    #expect(try change("three", key: "k1", token).answer.code == "KEY_REUSED")
    #expect(try change("one", key: "k1", other).number == 3, "a key is its user's")
    for key in [nil, "", String(repeating: "k", count: 256)] {
      #expect(try change("one", key: key, token).answer.violation == .body)
    }
    #expect(try change("one", key: "k9", "unknown").answer.status == 401)
    #expect(backend.changes.map(\.key) == ["k1", "k2", "k1"])
    #expect(
      backend.changes.map(\.userID) == [LoopbackUser.sample.id, LoopbackUser.sample.id, eve.id])
  }

  @Test mutating func aLoginCarriesUserContextAndClaims() throws {
    settings.accessTokenLifetime = .milliseconds(2500)
    let (status, reply) = try login()
    #expect(status == 200)
    #expect(reply.tokenType == "Bearer")
    #expect(reply.expiresIn == 3)
    #expect(reply.user?.id == LoopbackUser.sample.id)
    #expect(reply.user?.firstName == "María")
    #expect(reply.activeContext?.roleName == "teacher")
    #expect(reply.activeContext?.academicUnitId == LoopbackContext.teacher.unit?.id)
    let claims = try reply.claims()
    #expect(claims.sub == LoopbackUser.sample.id)
    #expect(claims.email == LoopbackUser.sample.email)
    #expect(claims.iat == 1_700_000_000 && claims.nbf == claims.iat)
    #expect(claims.exp == 1_700_000_002)
    #expect(claims.iss == "loopback")
    #expect(claims.activeContext == reply.activeContext)
  }

  @Test mutating func eachRefusalOfALoginHasItsStatusAndCode() throws {
    var inactive = LoopbackUser.sample
    inactive.email = "inactive@school.test"
    inactive.status = .inactive
    var locked = LoopbackUser.sample
    locked.email = "locked@school.test"
    locked.status = .locked
    backend = .edu(users: [.sample, inactive, locked])
    let answers = try [
      login(LoopbackUser.sample.email, "wrong"), login("nobody@school.test"),
      login(inactive.email), login(locked.email), login(locked.email, "wrong"),
    ]
    #expect(answers.map(\.status) == [401, 404, 403, 423, 401])
    #expect(
      answers.map(\.reply.error?.code) == [
        "INVALID_CREDENTIALS", "USER_NOT_FOUND", "USER_INACTIVE", "USER_LOCKED",
        "INVALID_CREDENTIALS",
      ])
  }

  @Test mutating func aTokenDiesAtItsMillisecond() throws {
    settings.accessTokenLifetime = .seconds(2)
    let reply = try login().reply
    now += 1999
    #expect(try materials(reply.accessToken) == "200")
    now += 1
    #expect(try materials(reply.accessToken) == "TOKEN_EXPIRED")
    #expect(try materials("a.b.c") == "TOKEN_INVALID")
    let refreshed = try refresh(reply.refreshToken).reply
    #expect(refreshed.refreshToken == nil && refreshed.user == nil)
    #expect(refreshed.expiresIn == 2 && refreshed.tokenType == "Bearer")
    #expect(try materials(refreshed.accessToken) == "200")
    #expect(try refreshed.claims().jti != reply.claims().jti)
  }

  @Test mutating func withoutRotationTheRefreshTokenLasts() throws {
    let token = try login().reply.refreshToken
    for _ in 0..<3 { #expect(try refresh(token).status == 200) }
    settings.refreshTokenLifetime = .seconds(5)
    let mortal = try login().reply.refreshToken
    now += 5000
    #expect(try refresh(mortal).reply.error?.code == "TOKEN_EXPIRED")
    #expect(try refresh(token).status == 200)
  }

  @Test mutating func rotationRepeatsTheSuccessorWithinTheGraceOnly() throws {
    settings.rotatesRefreshTokens = true
    settings.rotationGrace = .seconds(10)
    let first = try login().reply.refreshToken
    let second = try refresh(first).reply.refreshToken
    #expect(second != nil && second != first)
    now += 9999
    #expect(try refresh(first).reply.refreshToken == second)
    now += 1
    let late = try refresh(first)
    #expect(late.status == 401 && late.reply.error?.code == "TOKEN_REUSED")
    #expect(try refresh(second).status == 200)
  }

  @Test mutating func reuseMayEndTheSession() throws {
    settings.rotatesRefreshTokens = true
    settings.reuseEndsSession = true
    let signedIn = try login().reply
    let second = try refresh(signedIn.refreshToken).reply
    #expect(try refresh(signedIn.refreshToken).reply.error?.code == "TOKEN_REUSED")
    #expect(try refresh(second.refreshToken).reply.error?.code == "TOKEN_REVOKED")
    #expect(try materials(second.accessToken) == "TOKEN_REVOKED")
  }

  @Test mutating func aSwitchIssuesBothTokensForTheContext() throws {
    let signedIn = try login().reply
    let wanted: WireValue = [
      "role_id": .string(LoopbackContext.coordinator.roleID),
      "school_id": .string(LoopbackContext.coordinator.schoolID),
    ]
    let (status, reply) = try post("/auth/switch-context", wanted, bearer: signedIn.accessToken)
    #expect(status == 200)
    #expect(reply.context?.roleName == "coordinator")
    #expect(reply.context?.academicUnitId == nil)
    #expect(try reply.claims().activeContext == reply.context)
    #expect(reply.refreshToken != nil && reply.refreshToken != signedIn.refreshToken)
    let refreshed = try refresh(reply.refreshToken).reply
    #expect(try refreshed.claims().activeContext == reply.context)

    let strange: WireValue = ["role_id": "none", "school_id": "none"]
    let refused = try post("/auth/switch-context", strange, bearer: reply.accessToken)
    #expect(refused.status == 403 && refused.reply.error?.code == "CONTEXT_FORBIDDEN")
    #expect(try post("/auth/switch-context", wanted).reply.error?.code == "TOKEN_MISSING")
  }

  @Test mutating func aLogoutKillsTheTokensOfItsSessionOnly() throws {
    let here = try login().reply
    let there = try login().reply
    let body: WireValue = ["refresh_token": .string(try #require(here.refreshToken))]
    let foreign = try post("/auth/logout", body, bearer: there.accessToken)
    #expect(foreign.status == 403 && foreign.reply.error?.code == "TOKEN_FOREIGN")
    #expect(try post("/auth/logout", body, bearer: here.accessToken).status == 204)
    #expect(try materials(here.accessToken) == "TOKEN_REVOKED")
    #expect(try refresh(here.refreshToken).reply.error?.code == "TOKEN_REVOKED")
    #expect(try post("/auth/logout", body, bearer: here.accessToken).status == 401)
    #expect(try materials(there.accessToken) == "200")
  }

  @Test mutating func brokenRulesAreAnswered400AndNoted() throws {
    let token = try #require(try login().reply.refreshToken)
    let cases: [(ReceivedRequest, Int, LoopbackCall.Violation)] = [
      (
        ReceivedRequest(
          method: "POST", path: "/auth/refresh",
          fields: [HTTPField("authorization", "Bearer x")],
          body: (["refresh_token": .string(token)] as WireValue).bytes), 400,
        .authorizationOnRefresh
      ),
      (ReceivedRequest(method: "POST", path: "/auth/login", body: Array("{".utf8)), 400, .body),
      (ReceivedRequest(method: "POST", path: "/auth/login", body: Array("[1]".utf8)), 400, .body),
      (ReceivedRequest(method: "POST", path: "/auth/login", body: Array("{}".utf8)), 400, .body),
      (
        ReceivedRequest(
          method: "POST", path: "/auth/refresh", body: Array(#"{"refresh_token":7}"#.utf8)), 400,
        .body
      ),
      (ReceivedRequest(method: "GET", path: "/auth/login"), 405, .method),
    ]
    for (request, status, violation) in cases {
      let answer = backend.answer(request, now: now, settings: settings)
      #expect(answer.status == status && answer.violation == violation)
    }
    let nowhere = ReceivedRequest(method: "GET", path: "/nowhere")
    #expect(backend.answer(nowhere, now: now, settings: settings).status == 404)
  }

  @Test mutating func absurdKnobsDoNotTrap() throws {
    for lifetime in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      settings.accessTokenLifetime = lifetime
      settings.refreshTokenLifetime = lifetime
      settings.rotationGrace = lifetime
      #expect(try login().reply.expiresIn ?? 0 >= 1)
    }
  }

  @Test func equalSeedsGiveEqualTokensAndOthersDoNot() throws {
    func tokens(seed: UInt64) throws -> TokenReply {
      var backend = LoopbackBackend.edu(seed: seed)
      let body: WireValue = [
        "email": .string(LoopbackUser.sample.email),
        "password": .string(LoopbackUser.sample.password),
      ]
      let request = ReceivedRequest(method: "POST", path: "/auth/login", body: body.bytes)
      return try TokenReply.read(
        backend.answer(request, now: 0, settings: LoopbackSettings()).response.body)
    }
    #expect(try tokens(seed: 1) == tokens(seed: 1))
    #expect(try tokens(seed: 1).refreshToken != tokens(seed: 2).refreshToken)
  }

  @Test mutating func nothingThatIsPrintedIsSecret() throws {
    _ = try login()
    var text = "\(backend) \(LoopbackUser.sample) \(String(reflecting: backend))"
    dump(backend, to: &text)
    dump(LoopbackUser.sample, to: &text)
    dump(LoopbackFault.patch(["access_token": "tok-secret"]), to: &text)
    text += "\(LoopbackFault.body(Array("tok-secret".utf8)))"
    #expect(!text.contains("tok-secret"))
    for secret in backend.secrets {
      #expect(!text.contains(secret))
    }
    // Address, password, two tokens, and two parts of the one that has parts.
    #expect(backend.secrets.count == 6)
  }
}
