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
    for wait in 31...35 as ClosedRange<Int64> {
      let failure = RequestFailure(
        kind: .userNeeded, status: 400, serverCode: "interaction_required",
        retryAfter: .seconds(wait))
      #expect(try refused(&bench, by: failure) == reply)
    }
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
    "STA-9 a refusal that repeats after the token's end becomes a need, unless it is of the app",
    arguments: [
      (403, "access_denied", true), (400, nil, true), (401, "SHOP_CLOSED", true),
      (401, "invalid_client", false), (403, "APP_BLOCKED", false), (400, "invalid_scope", false),
      (400, "invalid_dpop_proof", false), (404, nil, false), (409, nil, false),
      (426, "APP_OUTDATED", false),
    ] as [(UInt16, String?, Bool)])
  func repeated(_ status: UInt16, _ code: String?, isNeed: Bool) throws {
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .stay
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    var facts = StoredItemsReport.session(1)
    facts.errorCodes = ["APP_BLOCKED": .clientRefused]
    bench.tell(.opened(facts))
    // How long the server asks to wait makes no other refusal.
    func failure(_ wait: Int64) -> RequestFailure {
      RequestFailure(kind: .unexpected, status: status, recordedCode: code, retryAfter: wait)
    }
    for wait in 1...2 as ClosedRange<Int64> {
      #expect(try refused(&bench, by: failure(wait)) == .failed(.request(failure(wait))))
    }
    bench.advance(by: 7_200_000)
    for wait in 3...4 as ClosedRange<Int64> {
      let reply = try refused(&bench, by: failure(wait))
      let need = shown(bench)
      #expect(reply == .failed(need.map(CommandFailure.userNeeded) ?? .request(failure(wait))))
      #expect((need?.reason == .refused && need?.serverCode == code) == isNeed)
      #expect(need?.tokenStillWorks != true)
    }
    #expect(bench.names.count { $0 == "userNeeded" } == (isNeed ? 1 : 0))
    // Another failure is reported unchanged.
    let offline = RequestFailure(kind: .noConnection)
    #expect(try refused(&bench, by: offline) == .failed(.request(offline)))
  }

  @Test("STA-9 a refused token of unknown lifetime counts as expired if the server needs the user")
  func unknownLifetime() throws {
    var policy = SessionPolicy.bench
    policy.ending.onExhaustion = .stay
    var bench = CoordinatorBench.signedIn(policy, lifetime: TokenMetadata.unknownLifetime)
    _ = try refused(&bench)
    #expect(bench.tell(.login(bench.caller(), .password)).request == nil)
    bench.advance(by: 86_400_000)
    let used = try #require(bench.coordinator.state.token?.generation)
    let call = SessionInput.refresh(bench.caller(), .unauthorized, .unlessNewer(than: used))
    let number = try #require(bench.tell(call).request)
    bench.tell(.failed(number, Self.refused, jitter: 0))
    #expect(shown(bench)?.tokenStillWorks == false)
    #expect(bench.tell(.login(bench.caller(), .password)).request != nil)
  }

  @Test("STA-9 the first need of a call is noted, once for each token")
  func calls() throws {
    var bench = CoordinatorBench.signedIn()
    let before = bench.names.count
    for maxAge in [300, 300, 60] { bench.tell(call(bench, maxAge)) }
    bench.tell(call(bench, of: Generation(7)))
    #expect(bench.names[before...] == ["userNeeded"])
    #expect(shown(bench)?.maxAge == .seconds(300) && shown(bench)?.source == .call)
    _ = try refused(&bench)
    bench.tell(call(bench, 10))
    #expect(shown(bench)?.source == .refresh)
  }

  @Test("STA-9 LOG-16 a need ends with the next token, and with the session")
  func endings() throws {
    for isOfCall in [true, false] {
      for input in [
        .reauthenticate(Caller(90), .interactive), .refresh(Caller(90), .manual, .always),
        .switchContext(Caller(90)), .logout(Caller(90)),
      ] as [SessionInput] {
        var bench = CoordinatorBench.signedIn()
        if isOfCall { bench.tell(call(bench)) } else { _ = try refused(&bench) }
        #expect(shown(bench) != nil)
        if let number = bench.tell(input).request { bench.tell(.answered(number, .login("ada"))) }
        #expect(shown(bench) == nil, "\(isOfCall) \(input)")
      }
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
      (String(repeating: "a/", count: 101), "0", nil, "max_age=0"),
      ("tx:eyJhbGciOi.e30.c2ln", "4915112345678", "user:ana%40school.test tel:+4915112345678", nil),
      ("https://id.test/?login_hint=ana", nil, "tel:4915112345678 555-123-4567 10.192.168.15", nil),
      (String(repeating: "aB3_", count: 8), nil, "0b9f6f0e-1d5a-4c39-9d4e-00000000000a", nil),
      (
        "http://schemas.openid.net/pape/policies/2007/06/multi-factor", nil, "User.ReadWrite.All",
        "acr=http://schemas.openid.net/pape/policies/2007/06/multi-factor scope=User.ReadWrite.All"
      ),
      (
        String(repeating: "abcdefgh ", count: 60), nil, nil,
        String(repeating: "acr=abcdefgh ", count: 29) + "acr=abcdefgh"
      ),
    ] as [(String?, String?, String?, String?)])
  func demand(_ acr: String?, _ maxAge: String?, _ scope: String?, _ text: String?) {
    let demand = AuthenticationDemand(acrValues: acr, maxAge: maxAge, scope: scope)
    #expect(demand?.description == text)
  }

  @Test("STO-3 a demand has no other words, and other names as far as they fit")
  func words() {
    for text in [
      "ana.lopez=1", "acr", "acr=", "=a", "max_age=ana", "max_age=+5", "max_age=-0", "max_age=",
      "acr=a  acr=b",
    ] {
      #expect(AuthenticationDemand(text) == nil, "\(text)")
    }
    let long = AuthenticationDemand("max_age=5" + String(repeating: " acr=a", count: 60))
    let renamed = long?.renamed { _ in "code-abcdefghij" }?.description
    #expect(renamed == "max_age=5" + String(repeating: " acr=code-abcdefghij", count: 19))
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
