import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session and its app's lifecycle")
struct LifecycleTests {
  static let came = Notification.Name("came")
  static let went = Notification.Name("went")

  @Test("REF-2 in the foreground an expired token is refreshed, and a valid one is not")
  func foreground() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    try await session.enterForeground()
    #expect(bench.server.calls.isEmpty, "nobody is signed in, which is no error")
    try await session.login(bench.credentials)
    let center = NotificationCenter()
    let lifecycle = SessionLifecycle(
      session, LifecycleNotices(foreground: Self.came, background: Self.went), center: center)
    center.post(name: Self.came, object: nil)
    try await session.enterForeground()
    #expect(bench.server.count(of: .refresh) == 0)

    // The scheduled refresh fails, and the token expires before the next attempt.
    bench.server.failNext(.refresh, with: .status(503, retryAfter: 86_400))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    bench.clock.advance(by: .seconds(3_600))
    #expect(session.isTokenExpired)
    center.post(name: Self.came, object: nil)
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    let triggers = try bench.records().compactMap { record -> RefreshTrigger? in
      guard case .refreshSucceeded(let refresh)? = record.event else { return nil }
      return refresh.trigger
    }
    #expect(triggers == [.foreground])
    withExtendedLifetime(lifecycle) {}
    try await session.close()
  }

  @Test("REF-7 in the background only a pending request makes the session ask for background time")
  func background() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let asked = Mutex(0)
    let (ends, isEnded) = AsyncStream<Void>.makeStream()
    let notices = LifecycleNotices(foreground: Self.came, background: Self.went) { work in
      asked.withLock { $0 += 1 }
      Task {
        await work()
        isEnded.finish()
      }
    }
    let center = NotificationCenter()
    var lifecycle: SessionLifecycle? = SessionLifecycle(session, notices, center: center)
    center.post(name: Self.went, object: nil)
    #expect(asked.withLock { $0 } == 0)

    let gate = bench.server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    center.post(name: Self.went, object: nil)
    #expect(asked.withLock { $0 } == 1)
    gate.open()
    for await _ in ends {}
    #expect(session.currentToken?.generation == Generation(2))
    _ = try await refresh.value

    #expect(lifecycle != nil)
    lifecycle = nil
    let again = bench.server.hold(.refresh)
    let other = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh, count: 2))
    center.post(name: Self.went, object: nil)
    #expect(asked.withLock { $0 } == 1, "nobody listens any more")
    again.open()
    _ = try await other.value
    try await session.close()
  }

  @Test("REF-7 waiting for requests to settle returns without a pending request, and after a close")
  func closed() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    await session.untilSettled()
    try await session.close()
    await session.untilSettled()
  }
}
