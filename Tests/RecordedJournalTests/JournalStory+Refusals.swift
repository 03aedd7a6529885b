@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

extension JournalStory {
  /// The app's own logout, and the server's refusals.
  static let refusals: [JournalStory] = [
    JournalStory(.userLogout, "sign in, refresh, log out") { stage in
      let session = try await stage.signedIn()
      try await session.refresh()
      stage.clock.advance(by: .seconds(600))
      try await session.logout()
      try await session.close()
    },
    JournalStory(
      .userLogoutAfterExpiry, "the server revokes; the app keeps, and logs out later",
      asks: "logout"
    ) { stage in
      let session = try await stage.signedIn(.keeping)
      stage.server.revokeAllTokens()
      await stage.refreshInVain(session)
      stage.clock.advance(by: .seconds(3_600))
      try await session.logout()
      try await session.close()
    }, refusedWith(.accountDeleted, .status(403, code: "USER_DELETED")),
    refusedWith(.accountInactive, .status(403, code: "USER_INACTIVE")),
    JournalStory(.lostReply, "a strict server rotates, its reply is cut off, the repeat is refused")
    { stage in
      stage.server.settings.update { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
      let session = try await stage.signedIn()
      try await session.refresh()
      stage.clock.advance(by: .seconds(360))
      stage.server.failNext(.refresh, with: .dropConnection(.afterActing))
      await stage.refreshInVain(session)
      try await session.close()
    },
    JournalStory(
      .answerNotRead,
      "a strict server rotates, its answer has no access token that can be read, the repeat is refused"
    ) { stage in
      stage.server.settings.update { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
      let session = try await stage.signedIn()
      stage.server.failNext(.refresh, with: .patch(["access_token": .int(7)]))
      await stage.refreshInVain(session, times: 2)
      try await session.close()
    },
    JournalStory(
      .usedElsewhere, "journal and secrets are copied, the copy refreshes, then the original"
    ) { stage in
      stage.server.settings.update { $0.rotatesRefreshTokens = true }
      try await stage.signedIn().close()
      try stage.copy("a.journal", to: "b.journal")
      try stage.copy("secrets", to: "b.secrets")
      let copy = try await stage.open()
      try await copy.refresh()
      try await copy.close()
      try stage.copy("b.journal", to: "a.journal")
      try stage.copy("b.secrets", to: "secrets")
      let session = try await stage.open()
      await stage.refreshInVain(session)
      try await session.close()
    },
    JournalStory(.revokedElsewhere, "the server revokes all tokens, then the app refreshes") {
      stage in
      let session = try await stage.signedIn()
      stage.server.revokeAllTokens()
      await stage.refreshInVain(session)
      try await session.close()
    },
    JournalStory(
      .refreshTokenExpired, "refresh tokens live a week, and the app comes back after 8 days"
    ) { stage in
      stage.server.settings.update { $0.refreshTokenLifetime = .seconds(7 * 86_400) }
      try await stage.signedIn().close()
      stage.clock.advance(by: .milliseconds(8 * 86_400_000))
      stage.server.settings.update { $0.clockSkew = .seconds(8 * 86_400) }
      let session = try await stage.open(.keeping)
      await stage.endLaunchPause()
      await eventually("the refusal") { session.state.kind == .expired }
      try await session.close()
    },
    JournalStory(
      .unusedTooLong,
      "the server keeps refresh tokens for a week, and the app comes back after 8 days"
    ) { stage in
      stage.server.failNext(.login, with: .patch(["refresh_expires_in": 604_800]))
      try await stage.signedIn().close()
      stage.clock.advance(by: .seconds(8 * 86_400))
      stage.server.failNext(.refresh, with: .status(400, code: "invalid_grant"))
      let session = try await stage.open(.keeping)
      await stage.endLaunchPause()
      await eventually("the refusal") { session.state.kind == .expired }
      try await session.close()
    },
    refusedWith(.unknownToServer, .status(401, code: "TOKEN_NOT_FOUND")),
    refusedWith(.refused, .status(401)),
    refusedWith(.passwordChanged, .status(401, code: "PASSWORD_CHANGED")),
    refusedWith(.endedByAdministrator, .status(401, code: "REVOKED_BY_ADMIN")),
    refusedWith(.sessionLimit, .status(401, code: "TOO_MANY_SESSIONS")),
    refusedWith(.allSessionsEnded, .status(401, code: "ALL_SESSIONS_REVOKED")),
    JournalStory(.otherUser, "the answer to a refresh names another user") { stage in
      let session = try await stage.signedIn()
      let token = LoopbackToken.make(claims: ["sub": "0b9f6f0e-1d5a-4c39-9d4e-000000000002"])
      stage.server.failNext(
        .refresh,
        with: .patch([
          "access_token": .string(token),
          "user": ["id": "0b9f6f0e-1d5a-4c39-9d4e-000000000002", "email": "other@school.test"],
        ]))
      await stage.refreshInVain(session)
      try await session.close()
    },
    JournalStory(.noRefreshToken, "the stored item has lost its refresh token; the token expires") {
      stage in
      try await stage.signedIn().close()
      try stage.editToken { $0["refresh"] = nil }
      stage.clock.advance(by: .seconds(7_200))
      let session = try await stage.open(.keeping)
      await stage.endLaunchPause()
      await eventually("the end") { session.state.kind == .expired }
      try await session.close()
    },
  ]

  /// The server answers a refresh with this code.
  private static func refusedWith(_ cause: Cause, _ fault: LoopbackFault) -> JournalStory {
    JournalStory(cause, "a refresh is answered: \(fault)") { stage in
      let session = try await stage.signedIn()
      stage.server.failNext(.refresh, with: fault)
      await stage.refreshInVain(session)
      try await session.close()
    }
  }
}

extension JournalStory {
  /// A server that fails until the policy gives up, and expired tokens.
  static let exhaustions: [JournalStory] = [
    exhausted(.serverFailing, [.status(503), .status(503), .status(500, code: "DB_DOWN")]),
    exhausted(
      .rateLimited,
      [.status(429, retryAfter: 30), .status(429, retryAfter: 60), .status(429, retryAfter: 90)]),
    JournalStory(
      .refreshingTooOften, "tokens of a minute and a threshold of five, until the server has enough"
    ) { stage in
      stage.server.settings.update { $0.accessTokenLifetime = .seconds(60) }
      let session = try await stage.open()
      try await session.login(.sample)
      for generation: UInt64 in 2...5 {
        await stage.clock.waitForSleepers(1)
        stage.clock.advance(by: .seconds(30))
        await eventually("the refresh") {
          session.currentToken?.generation == Generation(generation)
        }
      }
      stage.server.failNext(.refresh, with: .status(429, retryAfter: 5), times: 3)
      await stage.refreshInVain(session, times: 3)
      try await session.close()
    }, exhausted(.answersUnreadable, [.brokenJSON, .brokenJSON, .brokenJSON]),
    exhausted(.appRefused, Array(repeating: .status(400, code: "invalid_client"), count: 3)),
    exhausted(.endpointMissing, Array(repeating: .status(404), count: 3)),
    JournalStory(
      .signInDemanded,
      "each refresh is answered with 401 MFA_REQUIRED, before and after the token's end"
    ) { stage in
      let session = try await stage.signedIn()
      stage.server.failNext(.refresh, with: .status(401, code: "MFA_REQUIRED"), times: 4)
      await stage.refreshInVain(session)
      stage.clock.advance(by: .seconds(7_200))
      await stage.refreshInVain(session, times: 3)
      try await session.close()
    },
    exhausted(.attemptsExhausted, [.status(503), .status(429), .status(409)]),
    JournalStory(.tokenExpired, "a token without a refresh token is adopted, and used to its end") {
      stage in
      let session = try await stage.adopted(lifetime: 3_600_000)
      await stage.clock.waitForSleepers(1)
      stage.clock.advance(by: .seconds(3_600))
      await eventually("the end") { session.state.kind != .authenticated }
      try await session.close()
    },
    JournalStory(.expiredOnArrival, "a token is adopted that has no life left") { stage in
      let session = try await stage.adopted(lifetime: 0)
      stage.clock.advance(by: .seconds(1))
      await eventually("the end") { session.state.kind != .authenticated }
      try await session.close()
    },
    JournalStory(
      .clockForward, "the clock is set forward by nine hours, then the system is started anew"
    ) { stage in
      let session = try await stage.adopted(lifetime: 8 * 3_600_000)
      stage.clock.advance(by: .seconds(600))
      try await session.close()
      try await stage.open(.adopting).close()
      stage.clock.setTime(stage.clock.now().time.advanced(by: 9 * 3_600_000))
      stage.clock.advance(by: .seconds(60))
      try await stage.open(.adopting).close()
      stage.clock.restart()
      stage.clock.advance(by: .seconds(30))
      let last = try await stage.open(.adopting)
      await eventually("the end") { last.state.kind != .authenticated }
      try await last.close()
    },
    JournalStory(.inactive, "nobody uses it for a quarter of an hour") { stage in
      var policy = SessionPolicy.keeping
      policy.ending.inactivityLimit = .seconds(900)
      let session = try await stage.signedIn(policy)
      await stage.clock.waitForSleepers(1)
      stage.clock.advance(by: .seconds(900))
      await eventually("the end") { session.state.kind == .expired }
      try await session.close()
    },
    JournalStory(
      .lifetimeOver, "the policy lets a session last for an hour, and it is used to its end"
    ) { stage in
      var policy = SessionPolicy.keeping
      policy.ending.absoluteLifetime = .seconds(3_600)
      let session = try await stage.signedIn(policy)
      await stage.clock.waitForSleepers(1)
      stage.clock.advance(by: .seconds(1_800))
      try await session.refresh()
      stage.clock.advance(by: .seconds(1_800))
      await eventually("the end") { session.state.kind == .expired }
      try await session.close()
    },
  ]

  private static func exhausted(_ cause: Cause, _ faults: [LoopbackFault]) -> JournalStory {
    let answers = faults.map { "\($0)" }.joined(separator: "; ")
    return JournalStory(cause, "three refreshes are answered: \(answers)") { stage in
      let session = try await stage.signedIn()
      for fault in faults { stage.server.failNext(.refresh, with: fault) }
      await stage.refreshInVain(session, times: 3)
      try await session.close()
    }
  }
}
