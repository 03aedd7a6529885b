@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// What is stored about a session's uses by several processes that share it.
@Suite("The time of the last use")
struct LastActivityTests {
  private static let limit = UseTests.limit
  private static let answer = """
    {"accessToken":"a1","refreshToken":"r1","tokenType":"Bearer","expiresIn":864000,\
    "user":{"id":"u1","email":"a@b.test"}}
    """

  private func user(_ bench: Bench) throws -> StoredUser {
    let bytes = try FileSecretStore(folder: bench.secrets).read(.user)
    return try StoredUser(decoding: try #require(bytes))
  }

  private func isExpired(_ session: Session) -> Bool {
    guard case .expired(let expired) = session.state else { return false }
    return expired.reason == .inactivity
  }

  @Test("POL-5 a close does not move the time of the last use backward")
  func closed() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn(UseTests.policy)
    _ = first.currentToken
    let other = try await bench.open(UseTests.policy)
    bench.clock.advance(by: .seconds(500))
    _ = other.currentToken
    let used = bench.clock.now().uptime
    try await eventually("the use is noted") { try user(bench).fields.used?.uptime == used }
    bench.clock.advance(by: .seconds(50))
    try await first.close()
    #expect(try user(bench).fields.used?.uptime == used)
    bench.clock.advance(by: .milliseconds(Self.limit - 50_001))
    let third = try await bench.open(UseTests.policy)
    #expect(third.isAuthenticated, "unused for a millisecond less")
    try await third.close()
    try await other.close()
  }

  @Test("POL-5 REF-8 of two uses the later one is stored, by the clock that both share")
  func later() {
    let now = ClockReading(time: Timestamp(milliseconds: 10_000), uptime: 500)
    let use = LastActivity(at: 400, now: now, boot: "b")
    func stored(_ time: Int64, _ uptime: Int64, _ boot: String?) -> LastActivity {
      var stored = use
      (stored.time, stored.uptime, stored.boot) = (time, uptime, boot)
      return stored
    }
    #expect(use.later(or: nil, at: now) == use)
    for (time, uptime, boot, isKept): (Int64, Int64, String?, Bool) in [
      (0, 450, "b", true), (0, 350, "b", false), (20_000, 350, "b", false),
      (20_000, 450, "b", true),
      // Of another start of the system, or an unknown one, the wall clock decides.
      (9_950, 0, "a", true), (9_850, 9_000, "a", false), (9_950, 0, nil, true),
      // Later than now: a clock was set back.
      (10_001, 450, "a", false), (.max, .max, "a", false), (20_000, 501, "b", false),
    ] {
      let stored = stored(time, uptime, boot)
      #expect(use.later(or: stored, at: now) == (isKept ? stored : use), "\(stored)")
    }
  }

  @Test(
    "POL-5 only a use in this process is its own, and a due end is reported once a second")
  func meter() {
    let use = ActivityMeter(PolicyFigures(UseTests.policy))
    use.follow(1_000)
    let before = use.isOwn
    #expect(use.count(at: 1_000) == .tell)
    let after = use.isOwn
    #expect((before, after) == (false, true))
    let end = 1_000 + Self.limit
    #expect(use.count(at: end) == .overdue)
    #expect([end, end + 999, end + 1_000].map { use.isDue(at: $0) } == [true, false, true])
  }

  @Test(
    "POL-5 a refresh that names the user keeps the time of the last use")
  func refreshed() async throws {
    let answers = try AnswerBench(AnswerBench.camelCaseWire())
    let bench = answers.bench
    let session = try await answers.open(UseTests.policy)
    answers.answer(Self.answer)
    try await session.login(.password("a@b.test", "secreta-9"))
    let signedIn = bench.clock.now().uptime
    #expect(try user(bench).fields.used?.uptime == signedIn)
    bench.clock.advance(by: .seconds(1))
    answers.answer(Self.answer)
    try await session.refresh()
    // Less time has passed than the interval at which uses are stored.
    #expect(try user(bench).fields.used?.uptime == signedIn)
    // As if the process had died here: another object opens the same files.
    let idle = session.engine
    bench.clock.advance(by: .milliseconds(Self.limit))
    let again = try await answers.open(UseTests.policy)
    #expect(isExpired(again))
    try await again.close()
    _ = try await idle.close()
  }

  @Test("POL-5 a session still expires by inactivity after the stored time was lost")
  func lost() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(UseTests.policy)
    let last = bench.clock.now().uptime
    await bench.clock.waitForSleepers(1)
    // The login's use is stored a second time, possibly late.
    bench.clock.advance(by: .milliseconds(Self.limit - 1))
    repeat {
      await session.engine.changeUserItem { StoredUser(journal: $0.journal, profile: $0.profile) }
    } while try user(bench).fields.used != nil
    bench.clock.advance(by: .milliseconds(1))
    #expect(session.currentToken == nil)
    try await eventually("it says what it knows") { try user(bench).fields.used?.uptime == last }
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    #expect(isExpired(session))
    try await session.close()
  }

  @Test(
    "POL-5 RES-6 no token is returned while the end cannot be journaled, and retries are limited")
  func unjournaled() async throws {
    let bench = try Bench()
    let isFailing = Mutex(false)
    let failures = Mutex(0)
    let store = InterceptedStore { (operation, item) throws(SecretStoreError) in
      guard operation == .read, item == .token, isFailing.withLock({ $0 }) else { return }
      failures.withLock { $0 += 1 }
      throw .failed(item: item, place: "memory", operation: "read", code: 5)
    }
    let session = try await bench.signedIn(UseTests.policy, store: store)
    isFailing.withLock { $0 = true }
    bench.clock.advance(by: .milliseconds(Self.limit))
    for _ in 0..<3 {
      let error = await failure { () async throws(SessionError) in
        try await session.accessToken()
      }
      guard case .failed? = error.secretsError else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
    let foreground = await failure { () async throws(SessionError) in
      try await session.enterForeground()
    }
    guard case .failed? = foreground.secretsError else {
      Issue.record("\(String(describing: foreground))")
      return
    }
    let before = failures.withLock { $0 }
    for _ in 0..<1_000 {
      #expect(session.currentToken == nil)
      await session.clearError()
    }
    #expect(failures.withLock { $0 } - before <= 5)
    #expect(session.isAuthenticated)
    isFailing.withLock { $0 = false }
    bench.clock.advance(by: .seconds(1))
    let error = await failure { () async throws(SessionError) in
      try await session.accessToken()
    }
    #expect(error?.isExpired == true)
    try await session.close()
  }
}
