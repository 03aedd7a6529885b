import Testing

@_spi(Internals) @testable import SessionCore

/// Which causes end a session, cause by cause.
///
/// The token is good until the uptime 10,000. The policy clears after a rejection, and ends after
/// three failures.
@Suite("The function that decides whether a session ends")
struct SessionEndingTests {
  private func ending(
    at uptime: Int64 = 0, doubtEnd: Int64? = nil,
    _ change: (inout SessionPolicy) -> Void = { _ in }
  ) -> SessionEnding {
    var policy = SessionPolicy()
    policy.ending.onRejection = .clear
    policy.ending.onExhaustion = .end(.keep)
    policy.refresh.attempts = 3
    policy.refresh.firstRetryDelay = .seconds(2)
    policy.refresh.longestRetryDelay = .seconds(60)
    change(&policy)
    return SessionEnding(
      policy: PolicyFigures(policy), tokenDeadline: 10_000, doubtEnd: doubtEnd, uptime: uptime)
  }

  private func refresh(
    _ kind: RequestFailure.Kind, status: UInt16 = 0, retryAfter: Int64? = nil,
    after earlier: [RequestFailure.Kind] = []
  ) -> SessionEnding.Cause {
    let last = earlier.last.map { RequestFailure(kind: $0) }
    let failures = SessionState.RefreshFailures(
      total: UInt32(earlier.count), answered: UInt32(earlier.count { $0.isAnswered }), last: last)
    let failure = RequestFailure(
      kind: kind, status: status, recordedCode: nil, retryAfter: retryAfter)
    return .refreshFailed(failure, after: failures, jitter: 0)
  }

  @Test("LOG-6 an inactive user expires and a deleted one is logged out, whatever failed")
  func account() {
    for ending in [ending(), ending(at: 10_000), ending(doubtEnd: 9_000)] {
      #expect(ending.verdict(on: refresh(.userInactive)) == .expires(.userInactive, .keep))
      #expect(ending.verdict(on: refresh(.userDeleted)) == .logsOut(.userDeleted))
      for (kind, verdict) in [
        (.userInactive, .expires(.userInactive, .keep)), (.userDeleted, .logsOut(.userDeleted)),
        (.rejected, .goesOn(retryAfter: nil)), (.server, .goesOn(retryAfter: nil)),
      ] as [(RequestFailure.Kind, SessionEnding.Verdict)] {
        #expect(ending.verdict(on: .profileFailed(RequestFailure(kind: kind))) == verdict)
      }
    }
  }

  @Test("REF-6 a rejected refresh ends the session by the policy")
  func rejected() {
    #expect(ending().verdict(on: refresh(.rejected)) == .expires(.refreshRejected, .clear))
    #expect(ending().verdict(on: refresh(.otherUser)) == .expires(.refreshRejected, .clear))
    let keeping = ending { $0.ending.onRejection = .keep }
    #expect(keeping.verdict(on: refresh(.rejected)) == .expires(.refreshRejected, .keep))
  }

  @Test("REF-3 a rejection is doubted while another process's request may be its reason")
  func doubted() {
    #expect(
      ending(doubtEnd: 500).verdict(on: refresh(.rejected)) == .goesOn(retryAfter: 500))
    #expect(
      ending(doubtEnd: 9_000).verdict(on: refresh(.rejected)) == .goesOn(retryAfter: 2_000))
    #expect(ending(doubtEnd: 50).verdict(on: refresh(.rejected)) == .goesOn(retryAfter: 100))
    #expect(
      ending(at: 500, doubtEnd: 500).verdict(on: refresh(.rejected))
        == .expires(.refreshRejected, .clear))
  }

  @Test("REF-6 a missing refresh token ends the session when the access token has expired")
  func noRefreshToken() {
    #expect(ending(at: 4_000).verdict(on: refresh(.noRefreshToken)) == .goesOn(retryAfter: 6_000))
    #expect(ending(at: 9_999).verdict(on: refresh(.noRefreshToken)) == .goesOn(retryAfter: 100))
    #expect(
      ending(at: 10_000).verdict(on: refresh(.noRefreshToken))
        == .expires(.refreshRejected, .clear))
  }

  @Test("REF-6 failures that a server responded with exhaust the attempts")
  func exhausted() {
    let third = refresh(.server, status: 503, after: [.server, .server])
    #expect(ending().verdict(on: third) == .expires(.attemptsExhausted, .keep))
    #expect(
      ending { $0.ending.onExhaustion = .stay }.verdict(on: third)
        == .goesOn(retryAfter: 60_000))
    let patient = { (uptime: Int64) in
      self.ending(at: uptime) { $0.ending.onExhaustion = .endAfterExpiry(.clear) }
    }
    #expect(patient(2_000).verdict(on: third) == .goesOn(retryAfter: 8_000))
    #expect(patient(10_000).verdict(on: third) == .expires(.attemptsExhausted, .clear))
    // The second one is within the attempts.
    #expect(
      ending().verdict(on: refresh(.server, status: 503, after: [.server]))
        == .goesOn(retryAfter: 4_000))
  }

  @Test("REF-19 a server that asks for a repetition never ends a session")
  func repetition() {
    let earlier = SessionState.RefreshFailures(total: 9, answered: 9, last: nil)
    for code in ["temporarily_unavailable", "slow_down", "server_error", "use_dpop_nonce"] {
      let failure = RequestFailure(kind: .server, status: 503, serverCode: code)
      let cause = SessionEnding.Cause.refreshFailed(failure, after: earlier, jitter: 0)
      #expect(ending(at: 20_000).verdict(on: cause) == .goesOn(retryAfter: 60_000))
    }
  }

  @Test("STA-9 a session whose user is needed ends only after its token, and then by the policy")
  func userNeeded() {
    let earlier = Array(repeating: RequestFailure.Kind.userNeeded, count: 5)
    for uptime: Int64 in [0, 9_999] {
      #expect(
        ending(at: uptime).verdict(on: refresh(.userNeeded, status: 400, after: earlier))
          == .goesOn(retryAfter: max(100, 10_000 - uptime)))
    }
    #expect(
      ending(at: 10_000).verdict(on: refresh(.userNeeded, status: 400, after: earlier))
        == .expires(.attemptsExhausted, .keep))
    #expect(
      ending(at: 10_000).verdict(on: refresh(.userNeeded, status: 400))
        == .goesOn(retryAfter: 2_000))
  }

  @Test("REF-6 REF-7 a 200 that cannot be read is tried again soon, with growing pauses")
  func unreadable() {
    let ended = SessionEnding.Verdict.expires(.attemptsExhausted, .keep)
    // Which failures came before, the attempts, the uptime, and the verdict if exhaustion ends the
    // session at once, and if it ends it after the token's expiry (at 10,000).
    let rows: [([RequestFailure.Kind], Int, Int64, SessionEnding.Verdict, SessionEnding.Verdict)] =
      [
        ([], 1, 0, .goesOn(retryAfter: 2_000), .goesOn(retryAfter: 2_000)),
        ([], 1, 10_000, .goesOn(retryAfter: 2_000), .goesOn(retryAfter: 2_000)),
        ([.unreadable], 1, 0, ended, .goesOn(retryAfter: 4_000)),
        ([.unreadable], 1, 10_000, ended, ended),
        (
          [.unreadable, .noReply], 1, 10_000, .goesOn(retryAfter: 8_000), .goesOn(retryAfter: 8_000)
        ),
        ([.server, .server], 3, 10_000, .goesOn(retryAfter: 8_000), .goesOn(retryAfter: 8_000)),
        ([.unreadable, .unreadable], 3, 10_000, ended, ended),
      ]
    for (earlier, attempts, uptime, atOnce, afterExpiry) in rows {
      let exhaustions: [(SessionPolicy.Exhaustion, SessionEnding.Verdict)] = [
        (.end(.keep), atOnce), (.endAfterExpiry(.keep), afterExpiry),
      ]
      for (exhaustion, verdict) in exhaustions {
        let ending = ending(at: uptime) {
          ($0.refresh.attempts, $0.ending.onExhaustion) = (attempts, exhaustion)
        }
        let cause = refresh(.unreadable, status: 200, after: earlier)
        #expect(ending.verdict(on: cause) == verdict, "\(earlier) \(attempts) \(uptime)")
      }
    }
    let offline = ending { $0 = .offlineFirst }
    #expect(offline.verdict(on: refresh(.unreadable)) == .goesOn(retryAfter: 1_000))
  }

  @Test("REF-6 the network never ends a session")
  func network() {
    for kind in [RequestFailure.Kind.noConnection, .noReply, .secretsUnavailable, .intercepted] {
      let earlier = Array(repeating: kind, count: 9)
      #expect(ending().verdict(on: refresh(kind, after: earlier)) == .goesOn(retryAfter: 60_000))
    }
  }

  @Test("REF-7 a lost response is tried again at once, and only once")
  func noReply() {
    #expect(ending().verdict(on: refresh(.noReply)) == .goesOn(retryAfter: 0))
    #expect(
      ending().verdict(on: refresh(.noReply, after: [.server])) == .goesOn(retryAfter: 0))
    #expect(
      ending().verdict(on: refresh(.noReply, after: [.noReply])) == .goesOn(retryAfter: 4_000))
  }

  @Test("REF-6 a server may request a longer delay, and not a shorter one")
  func retryAfter() {
    let wait = { (milliseconds: Int64) in
      self.ending().verdict(
        on: self.refresh(.rateLimited, status: 429, retryAfter: milliseconds))
    }
    #expect(wait(90_000) == .goesOn(retryAfter: 90_000))
    #expect(wait(1) == .goesOn(retryAfter: 2_000))
  }

  @Test("POL-7 a token that cannot be refreshed ends the session after its expiry, or if rejected")
  func notRefreshable() {
    let issued = Timestamp(milliseconds: 0)
    let known = TokenMetadata(
      generation: Generation(1), issuedAt: issued, expiresAt: issued.advanced(by: 10_000),
      isRefreshable: false)
    let unknown = TokenMetadata(
      generation: Generation(1), issuedAt: issued,
      expiresAt: issued.advanced(by: TokenMetadata.unknownLifetime), isRefreshable: false)
    let cause = SessionEnding.Cause.notRefreshable
    #expect(ending(at: 9_999).verdict(on: cause(.command, known)) == .goesOn(retryAfter: nil))
    #expect(
      ending(at: 10_000).verdict(on: cause(.command, known)) == .expires(.tokenExpired, .clear))
    #expect(ending().verdict(on: cause(.unauthorized, known)) == .goesOn(retryAfter: nil))
    let refusing = ending { $0.ending.onRefusedToken = .end }
    #expect(refusing.verdict(on: cause(.unauthorized, known)) == .goesOn(retryAfter: nil))
    #expect(refusing.verdict(on: cause(.command, unknown)) == .goesOn(retryAfter: nil))
    #expect(
      refusing.verdict(on: cause(.unauthorized, unknown)) == .expires(.endedByServer, .clear))
  }

  @Test("POL-5 POL-10 RES-1 RES-8 time limits and the stored items end the session")
  func others() {
    #expect(ending().verdict(on: .unused) == .expires(.inactivity, .clear))
    #expect(ending().verdict(on: .tooOld) == .expires(.lifetimeEnded, .clear))
    #expect(
      ending().verdict(on: .disagreement(.secretsMissing)) == .expires(.secretsMissing, .clear))
    #expect(ending().verdict(on: .replaced) == .expires(.secretsNewer, .keep))
    #expect(ending().verdict(on: .notRenewed) == .expires(.attemptsExhausted, .keep))
  }

  @Test("CTX-1 a failed switch of the context never ends the session")
  func failedSwitch() {
    for kind in [
      RequestFailure.Kind.rejected, .userInactive, .userDeleted, .server, .noReply, .noConnection,
    ] {
      let cause = SessionEnding.Cause.switchFailed(RequestFailure(kind: kind))
      #expect(ending(at: 10_000).verdict(on: cause) == .goesOn(retryAfter: nil))
    }
  }

  @Test("RES-6 the end of a session that had expired in another journal follows the policy")
  func orphaned() {
    let cause = SessionEnding.Cause.orphaned(.userInactive)
    #expect(ending().verdict(on: cause) == .expires(.userInactive, .clear))
    let keeping = ending { $0.ending.onRejection = .keep }
    #expect(keeping.verdict(on: cause) == .expires(.userInactive, .keep))
  }

  @Test("REF-6 an end that clears is an expiry and a logout")
  func events() {
    let kinds = { (verdict: SessionEnding.Verdict) in
      verdict.events.compactMap { content -> SessionEvent.Kind? in
        guard case .event(let event) = content else { return nil }
        return event.kind
      }
    }
    #expect(kinds(.goesOn(retryAfter: 5)).isEmpty)
    #expect(kinds(.expires(.inactivity, .keep)) == [.sessionExpired])
    #expect(kinds(.expires(.inactivity, .clear)) == [.sessionExpired, .logout])
    #expect(kinds(.logsOut(.userDeleted)) == [.logout])
    #expect(SessionEnding.Verdict.goesOn(retryAfter: 5).retryAfter == 5)
    #expect(SessionEnding.Verdict.logsOut(.userDeleted).retryAfter == nil)
  }
}
