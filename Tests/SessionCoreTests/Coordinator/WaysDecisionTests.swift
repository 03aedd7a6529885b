@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: login methods, and the status of the user")
struct WaysDecisionTests {
  private func bench(_ policy: SessionPolicy = .bench, clears: Bool = false) -> CoordinatorBench {
    var bench = CoordinatorBench(policy)
    var facts = StoredItemsReport.nothing
    facts.hostClears = clears
    bench.tell(.opened(facts))
    return bench
  }

  private static let inactive = RequestFailure(kind: .userInactive, status: 200)
  private static let deleted = RequestFailure(kind: .userDeleted, status: 200)

  @Test("LOG-5 the login event names its method", arguments: [LoginMethod.social, .registration])
  func method(method: LoginMethod) throws {
    var bench = bench()
    let caller = bench.caller()
    let number = try #require(bench.tell(.login(caller, method)).request)
    let effects = bench.tell(.answered(number, .login("ada")))
    #expect(effects.reply(to: caller) == .signedIn)
    guard case .login(let login)? = bench.events.first else {
      Issue.record("\(bench.names)")
      return
    }
    #expect(login.method == method)
  }

  @Test(
    "LOG-5 LOG-2 all login methods share one limit",
    arguments: [LoginMethod.social, .registration])
  func limited(method: LoginMethod) throws {
    var policy = SessionPolicy.bench
    policy.limits.loginsPerMinute = 1
    var bench = bench(policy)
    let first = try #require(bench.tell(.login(bench.caller(), .password)).request)
    bench.tell(.failed(first, RequestFailure(kind: .rejected, status: 401), jitter: 0))
    let caller = bench.caller()
    let effects = bench.tell(.login(caller, method))
    #expect(effects.reply(to: caller) == .failed(.tooManyAttempts(retryAfter: 60_000)))
    #expect(effects.sendCount == 0)
  }

  @Test("LOG-2 LOG-5 a silent attempt without credentials does not count towards the limit")
  func silentIsNoTry() throws {
    var policy = SessionPolicy.bench
    policy.limits.loginsPerMinute = 1
    var bench = bench(policy)
    for _ in 0..<3 {
      let number = try #require(bench.tell(.login(bench.caller(), .silent)).request)
      bench.tell(.notSignedIn(number, .noAccount))
    }
    #expect(bench.tell(.login(bench.caller(), .interactive)).request != nil)
  }

  @Test("WEB-4 STA-3 a failed page ends only its own login and shows only the failure")
  func notSignedIn() throws {
    let cases: [(LoginMethod, WebSignInProblem, Bool)] = [
      (.interactive, .refused(nil), true), (.interactive, .unreachable, true),
      (.interactive, .cancelledByUser, false), (.interactive, .forgottenPassword, false),
      (.silent, .noAccount, false), (.silent, .unreachable, false),
    ]
    var bench = bench()
    for (method, problem, isShown) in cases {
      let caller = bench.caller()
      let number = try #require(bench.tell(.login(caller, method)).request)
      #expect(
        bench.tell(.notSignedIn(number, problem))
          == [.resume(caller, .failed(.webSignIn(problem)))])
      #expect(bench.coordinator.loginError == (isShown ? .webSignIn(problem) : nil))
      #expect(bench.tell(.notSignedIn(number, problem)).isEmpty && bench.journal.isEmpty)
    }
    // A cancelled attempt does not affect the next login.
    let gone = bench.caller()
    let late = try #require(bench.tell(.login(gone, .interactive)).request)
    bench.tell(.cancelled(gone))
    bench.tell(.login(bench.caller(), .password))
    #expect(bench.tell(.notSignedIn(late, .cancelled)).isEmpty)
    #expect(bench.coordinator.activity == .authenticating)
  }

  @Test(
    "WEB-5 WEB-6 a response names its method and whether a provider renews it")
  func byProvider() throws {
    var bench = bench()
    let number = try #require(bench.tell(.login(bench.caller(), .interactive)).request)
    var facts = ResponseMetadata.login("ada")
    (facts.method, facts.isRenewedByProvider, facts.hasRefreshToken) = (.silent, true, false)
    bench.tell(.answered(number, facts))
    guard case .login(let login)? = bench.events.first else {
      Issue.record("\(bench.names)")
      return
    }
    #expect(login.method == .silent && login.token.isRefreshable)
  }

  @Test("LOG-5 creating an account does not sign in, and the next sign-in may begin")
  func accountOnly() throws {
    var bench = bench()
    let caller = bench.caller()
    let number = try #require(bench.tell(.login(caller, .registration)).request)
    #expect(bench.coordinator.activity == .authenticating)
    #expect(bench.tell(.accountCreated(number)) == [.resume(caller, .accountCreated)])
    #expect(bench.journal.isEmpty && bench.coordinator.activity == .idle)
    #expect(bench.tell(.accountCreated(number)).isEmpty)
    #expect(bench.tell(.login(bench.caller(), .password)).sendCount == 1)
  }

  @Test("LOG-5 STA-6 LOG-10 registering during an expired session is refused before the network")
  func registeringWhileExpired() throws {
    var bench = try CoordinatorBench(
      .benchKeeping, journal: [.event(.login(as: "ada")), .event(.expired(.refreshRejected))])
    bench.tell(.opened(.nothing))
    let caller = bench.caller()
    let effects = bench.tell(.login(caller, .registration))
    let rejection = SessionRejection(state: .expired, event: .login, reason: .differentUser)
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .failed(.rejected(rejection)))
  }

  @Test("LOG-6 a login of an inactive user and its end are one batch, with nothing stored")
  func inactive() throws {
    var bench = bench()
    let caller = bench.caller()
    let number = try #require(bench.tell(.login(caller, .password)).request)
    var facts = ResponseMetadata.login("ada")
    facts.profileFailure = Self.inactive
    let effects = bench.tell(.answered(number, facts))
    #expect(bench.names == ["login", "sessionExpired"])
    #expect(effects.reply(to: caller) == .failed(.ended(.expired, by: Self.inactive)))
    #expect(effects.contains(.discard(number, revoking: true)))
    #expect(bench.coordinator.state.kind == .expired)
    #expect(bench.coordinator.loginError == .request(Self.inactive))
  }

  @Test("LOG-6 SYN-5 a login of a deleted user ends as a logout, and the app's data is cleared")
  func deleted() throws {
    var bench = bench(clears: true)
    let caller = bench.caller()
    let number = try #require(bench.tell(.login(caller, .password)).request)
    var facts = ResponseMetadata.login("ada")
    facts.profileFailure = Self.deleted
    let effects = bench.tell(.answered(number, facts))
    #expect(bench.names == ["login", "logout"])
    #expect(effects.reply(to: caller) == .failed(.ended(.unauthenticated, by: Self.deleted)))
    #expect(effects.contains(.clearLocalData(.userDeleted)))
  }

  @Test("LOG-6 a failed profile ends only a login that needs it to name its user")
  func unread() throws {
    let refused = RequestFailure(kind: .rejected, status: 401)
    var bench = bench()
    let caller = bench.caller()
    let number = try #require(bench.tell(.login(caller, .password)).request)
    var nobody = ResponseMetadata.token()
    nobody.profileFailure = refused
    let effects = bench.tell(.answered(number, nobody))
    #expect(effects.reply(to: caller) == .failed(.unidentified(refused)))
    #expect(effects.contains(.discard(number, revoking: true)))
    let again = try #require(bench.tell(.login(bench.caller(), .password)).request)
    var ada = ResponseMetadata.login("ada")
    ada.profileFailure = refused
    bench.tell(.answered(again, ada))
    #expect(bench.names == ["login"])
  }

  @Test("LOG-6 at launch the profile is requested once, and a failure ends nothing")
  func launch() throws {
    var policy = SessionPolicy.bench
    policy.limits.profileCheck = .afterLoginAndLaunch
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    let effects = bench.tell(.opened(.session(1)))
    #expect(effects.contains(.askProfile("ada", Generation(1))))
    let failures: [RequestFailure?] = [
      nil, RequestFailure(kind: .noConnection), RequestFailure(kind: .rejected, status: 401),
      RequestFailure(kind: .server, status: 503), RequestFailure(kind: .unexpected, status: 404),
    ]
    for failure in failures { #expect(bench.tell(.profileRead("ada", failure)).isEmpty) }
    let later = bench.tell(.clearError)
    #expect(later.isEmpty && bench.coordinator.state.kind == .authenticated)
    #expect(bench.tell(.profileRead("bob", Self.deleted)).isEmpty)
  }

  @Test(
    "LOG-6 POL-3 with an expired token, the refresh precedes the profile request")
  func afterRefresh() throws {
    var policy = SessionPolicy.bench
    policy.limits.profileCheck = .afterLoginAndLaunch
    policy.refresh.atLaunch = .always
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    let effects = bench.tell(.opened(.session(1)))
    let asked = effects.place { if case .askProfile = $0 { true } else { false } }
    #expect(asked == effects.count)
    let number = try #require(effects.request)
    #expect(bench.tell(.answered(number, .token())).contains(.askProfile("ada", Generation(2))))
  }

  @Test(
    "LOG-6 SYN-5 at launch an inactive user expires and a deleted one is logged out and cleared")
  func launchEnds() throws {
    for (failure, kind) in [
      (Self.inactive, SessionState.Kind.expired), (Self.deleted, .unauthenticated),
    ] {
      var policy = SessionPolicy.bench
      policy.limits.profileCheck = .afterLoginAndLaunch
      var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
      var facts = StoredItemsReport.session(1)
      facts.hostClears = true
      bench.tell(.opened(facts))
      let (waiter, _) = bench.refresh()
      let effects = bench.tell(.profileRead("ada", failure))
      #expect(bench.coordinator.state.kind == kind)
      #expect(effects.reply(to: waiter) == .failed(.ended(kind, by: failure)))
      let kept = Generation(1)
      #expect(
        effects.contains(
          .wipe(
            kind == .expired
              ? .token(keepingRevocation: kept) : .everything(keepingRevocation: kept))))
      #expect(effects.contains(.clearLocalData(.userDeleted)) == (kind == .unauthenticated))
    }
  }
}
