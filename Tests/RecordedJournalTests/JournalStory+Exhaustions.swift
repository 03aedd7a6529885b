@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

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
    },
    exhausted(.answersUnreadable, [.brokenJSON, .brokenJSON, .brokenJSON]),
    exhausted(
      .appRefused, Array(repeating: .status(400, code: "invalid_client"), count: 3)),
    exhausted(.endpointMissing, Array(repeating: .status(404), count: 3)),
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
    ) {
      stage in
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
