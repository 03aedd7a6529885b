import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: the server needs the user")
struct UserNeedTests {
  private static let refused = RequestFailure(
    kind: .userNeeded, status: 400, serverCode: "interaction_required")
  private static let challenged = RequestFailure(
    kind: .userNeeded, status: 401, serverCode: "insufficient_user_authentication")

  private func call(_ bench: CoordinatorBench, _ maxAge: Int = 300, of token: Generation? = nil)
    -> SessionInput
  {
    .userNeeded(
      SessionNote.UserNeeded(
        generation: token ?? bench.coordinator.state.token?.generation ?? .none, isOfCall: true,
        failure: Self.challenged, demand: AuthenticationDemand("max_age=\(maxAge)")))
  }

  /// A bench whose refresh the server refuses, as often as this, and the last caller's reply.
  private func refused(
    _ bench: inout CoordinatorBench, by failure: RequestFailure = refused, times: Int = 1
  ) throws -> SessionEffect.Reply? {
    var reply: SessionEffect.Reply?
    for _ in 0..<times {
      let caller = bench.caller()
      let number = try #require(bench.tell(.refresh(caller, .manual, .always)).request)
      reply = bench.tell(.failed(number, failure, jitter: 0)).reply(to: caller)
    }
    return reply
  }

  private func shown(_ bench: CoordinatorBench) -> UserNeed? {
    bench.coordinator.fold.intents.need.map {
      UserNeed($0, tokenStillWorks: bench.coordinator.isTokenGood(at: bench.now.uptime))
    }
  }

  @Test("STA-9 a refresh that needs the user is noted once, and ends nothing")
  func refresh() throws {
    var bench = CoordinatorBench.signedIn()
    let before = bench.names.count
    let reply = try refused(&bench)
    #expect(bench.names[before...] == ["requestSent", "refreshFailed", "userNeeded"])
    let need = try #require(shown(bench))
    #expect(need.source == .refresh && need.reason == .interaction && need.tokenStillWorks)
    #expect(reply == .failed(.userNeeded(need)))
    // As often as the policy would allow a failing server, and more.
    _ = try refused(&bench, times: 5)
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.names.count { $0 == "userNeeded" } == 1)
  }

  @Test("STA-9 after the token's end the policy decides as for a server that fails")
  func ends() throws {
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .end(.keep)
    var bench = CoordinatorBench.signedIn(policy)
    _ = try refused(&bench, times: 5)
    bench.advance(by: 7_200_000)
    _ = try refused(&bench)
    #expect(bench.coordinator.state.kind == .expired)
    #expect(shown(bench) == nil)
  }

  @Test("STA-9 once the token has ended, the user can log in as well")
  func login() throws {
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .stay
    var bench = CoordinatorBench.signedIn(policy)
    _ = try refused(&bench)
    #expect(bench.tell(.login(bench.caller(), .password)).request == nil)
    bench.advance(by: 7_200_000)
    let number = try #require(bench.tell(.login(bench.caller(), .password)).request)
    bench.tell(.answered(number, .login("ada")))
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime) && shown(bench) == nil)
  }

  @Test(
    "STA-9 a refusal that repeats after the token's end becomes a need, unless it is of the app")
  func repeated() throws {
    let failure = RequestFailure(kind: .unexpected, status: 403, serverCode: "access_denied")
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .stay
    for (status, code) in [(401, "invalid_client"), (404, nil)] as [(UInt16, String?)] {
      var bench = CoordinatorBench.signedIn(policy)
      bench.advance(by: 7_200_000)
      let failure = RequestFailure(kind: .unexpected, status: status, serverCode: code)
      #expect(try refused(&bench, by: failure, times: 3) == .failed(.request(failure)))
    }
    var bench = CoordinatorBench.signedIn(policy)
    #expect(try refused(&bench, by: failure, times: 3) == .failed(.request(failure)))
    bench.advance(by: 7_200_000)
    guard case .failed(.userNeeded(let need))? = try refused(&bench, by: failure) else {
      Issue.record("no need was told")
      return
    }
    #expect(need.reason == .refused && need.serverCode == "access_denied" && !need.tokenStillWorks)
    // Another failure is reported unchanged.
    let offline = RequestFailure(kind: .noConnection)
    #expect(try refused(&bench, by: offline) == .failed(.request(offline)))
  }

  @Test("STA-9 a call's need is noted once for each demand, and only for the current token")
  func calls() throws {
    var bench = CoordinatorBench.signedIn()
    let before = bench.names.count
    for maxAge in [300, 300, 60] { bench.tell(call(bench, maxAge)) }
    bench.tell(call(bench, of: Generation(7)))
    #expect(bench.names[before...] == ["userNeeded", "userNeeded"])
    #expect(shown(bench)?.maxAge == .seconds(60) && shown(bench)?.source == .call)
    _ = try refused(&bench)
    bench.tell(call(bench, 10))
    #expect(shown(bench)?.source == .refresh)
  }

  @Test("STA-9 LOG-16 a need ends by a login again; only one of a refresh by a refresh")
  func endings() throws {
    for isOfCall in [true, false] {
      for isLogin in [true, false] {
        var bench = CoordinatorBench.signedIn()
        if isOfCall { bench.tell(call(bench)) } else { _ = try refused(&bench) }
        let caller = bench.caller()
        let input: SessionInput =
          isLogin ? .reauthenticate(caller, .interactive) : .refresh(caller, .manual, .always)
        let number = try #require(bench.tell(input).request)
        bench.tell(.answered(number, .login("ada")))
        #expect((shown(bench) == nil) == (isLogin || !isOfCall), "\(isOfCall) \(isLogin)")
      }
      var bench = CoordinatorBench.signedIn()
      if isOfCall { bench.tell(call(bench)) } else { _ = try refused(&bench) }
      bench.tell(.logout(bench.caller()))
      #expect(shown(bench) == nil)
    }
  }

  @Test(
    "STA-9 another process's login again comes first: the need of the former token is not noted")
  func conflict() throws {
    var bench = CoordinatorBench.signedIn()
    var token = try #require(bench.coordinator.state.token)
    token = TokenMetadata(
      generation: token.generation.next, issuedAt: token.issuedAt, expiresAt: token.expiresAt,
      isRefreshable: true)
    let login = SessionEvent.RefreshSucceeded(
      token: token, trigger: .reauthentication, attempt: 1, isRotated: true, request: 0)
    bench.commitEndings = [.conflicts([.event(.refreshSucceeded(login))])]
    bench.tell(call(bench))
    #expect(bench.names.last == "refreshSucceeded" && shown(bench) == nil)
  }

  @Test(
    "STA-9 STO-3 a demand keeps what the server asked for, and nothing that may be a secret",
    arguments: [
      ("urn:a urn:b", "300", "pay", "max_age=300 acr=urn:a acr=urn:b scope=pay"),
      ("urn:a", nil, nil, "acr=urn:a"), (nil, "-1", nil, nil), (nil, "5 minutes", nil, nil),
      ("eyJhbGciOi.e30.c2ln", nil, "ada@school.test", nil), ("", "", "", nil), (nil, nil, nil, nil),
      (String(repeating: "a", count: 201), "0", nil, "max_age=0"),
      (
        String(repeating: "abcdefgh ", count: 60), nil, nil,
        String(repeating: "acr=abcdefgh ", count: 29) + "acr=abcdefgh"
      ),
    ] as [(String?, String?, String?, String?)])
  func demand(_ acr: String?, _ maxAge: String?, _ scope: String?, _ text: String?) {
    let demand = AuthenticationDemand(acrValues: acr, maxAge: maxAge, scope: scope)
    #expect(demand?.description == text)
  }

  @Test(
    "STA-9 a code says why the user is needed",
    arguments: [
      ("login_required", .login), ("AADSTS70043", .login), ("consent_required", .consent),
      ("AADSTS65001", .consent), ("insufficient_user_authentication", .strongerAuthentication),
      ("AADSTS50076", .strongerAuthentication), ("interaction_required", .interaction),
      ("insufficient_authorization", .interaction), ("SHOP_ASK_USER", .interaction),
    ] as [(String, UserNeed.Reason)])
  func reasons(_ code: String, _ reason: UserNeed.Reason) {
    let failure = RequestFailure(
      kind: .userNeeded, status: 400, recordedCode: code, retryAfter: nil)
    let need = SessionNote.UserNeeded(
      generation: Generation(1), isOfCall: false, failure: failure,
      demand: AuthenticationDemand("max_age=5 acr=a acr=b scope=c"))
    let shown = UserNeed(
      OpenNeed(need, since: Timestamp(milliseconds: 0)), tokenStillWorks: true)
    #expect(shown.reason == reason && shown.serverCode == code)
    #expect(shown.parameters == ["max_age": "5", "acr_values": "a b", "scope": "c"])
  }
}
