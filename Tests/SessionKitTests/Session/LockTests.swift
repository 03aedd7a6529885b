import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session that the app has locked")
struct LockTests {
  private struct Declined: Error, Equatable {}

  private func notes(_ bench: Bench) throws -> [String] {
    try bench.records().map(\.name).filter { $0 == "locked" || $0 == "unlocked" }
  }

  @Test("ACC-2 a locked session gives no token and sends no call, and goes on after the unlock")
  func locked() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    var (tokens, events) = (session.tokens.makeAsyncIterator(), session.events.makeAsyncIterator())
    #expect(await tokens.next() != nil)
    try await session.lock()
    #expect(session.isLocked && session.isAuthenticated && session.currentUser != nil)
    #expect(session.currentToken == nil && !session.canRefreshToken)
    let call = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    let errors = [
      await failure { () async throws(SessionError) in try await session.accessToken() },
      await failure { () async throws(SessionError) in try await session.refresh() },
      await failure { () async throws(SessionError) in try await session.data(for: call) },
      await failure { () async throws(SessionError) in
        try await SessionInterceptor(session).upload(for: call, from: Data("x".utf8))
      },
      await failure { () async throws(SessionError) in
        try await session.switchContext(to: bench.coordinator)
      },
    ]
    #expect(
      errors.allSatisfy { $0 == .appLocked && $0?.code == .locked && $0?.advice == .unlockApp })
    #expect(bench.server.count(of: .materials) == 0 && bench.server.count(of: .refresh) == 0)

    try await session.unlock {}
    #expect(!session.isLocked && session.currentToken?.generation == Generation(1))
    #expect(try await session.data(for: call).1 is HTTPURLResponse)
    try await session.refresh()
    #expect(await tokens.next()?.generation == Generation(2))
    #expect(try await events.next()?.event.kind == .refreshSucceeded, "a lock is no event")
    #expect(try notes(bench) == ["locked", "unlocked"])
    try await session.close()
  }

  @Test("ACC-2 a lock during a refresh refuses its caller, and the new token is kept")
  func duringRefresh() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.signedIn()
    let held = bench.server.hold(.refresh)
    let caller = Task {
      await failure { () async throws(SessionError) in try await session.refresh() }
    }
    await eventually("the refresh is on the wire") { held.waiting == 1 }
    try await session.lock()
    #expect(await caller.value == .appLocked)
    held.open()
    await eventually("the token is stored") { session.state.token?.generation == Generation(2) }
    #expect(session.currentToken == nil)
    try await session.unlock {}
    #expect(session.currentToken?.generation == Generation(2))
    try await session.close()
  }

  @Test("ACC-2 a lock survives the end of its process, and every process obeys it")
  func processes() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    let second = try await bench.open()
    #expect(second.currentToken != nil)
    try await first.lock()
    let refused = await failure { () async throws(SessionError) in try await second.refresh() }
    #expect(refused == .appLocked && second.isLocked && second.currentToken == nil)
    // A process that ends without a close leaves the same file.
    let third = try await bench.open()
    #expect(third.isLocked && third.currentToken == nil)
    try await third.unlock {}
    try await first.unlock { Issue.record("another process has unlocked it") }
    #expect(try await first.accessToken() == third.currentToken)
    #expect(try notes(bench) == ["locked", "unlocked"])
    for session in [first, second, third] { try await session.close() }
  }

  @Test("ACC-2 a check that throws or is cancelled leaves the lock; of two unlocks one checks")
  func checks() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.unlock { Issue.record("it is not locked") }
    try await session.lock()
    await #expect(throws: Declined.self) { try await session.unlock { throw Declined() } }
    let count = Mutex(0)
    let (began, begin) = AsyncStream.makeStream(of: Void.self)
    let hanging = Task {
      try await session.unlock {
        begin.finish()
        try await Task.sleep(for: .seconds(600))
      }
    }
    for await _ in began {}
    let waiting = Task { try await session.unlock { count.withLock { $0 += 1 } } }
    hanging.cancel()
    await #expect(throws: CancellationError.self) { try await hanging.value }
    try await waiting.value
    #expect(count.withLock { $0 } == 1 && !session.isLocked)

    try await session.lock()
    await #expect(throws: SessionError.appLocked) {
      try await session.unlock { try await session.lock() }
    }
    #expect(session.isLocked && session.status.isLocked)
    try await session.logout()
    #expect(!session.isLocked)
    try await session.login(.sample)
    #expect(session.currentToken != nil)
    try await session.close()
  }

  @Test("ACC-2 LCH-1 it is locked after the time without use, and at a launch that writes nothing")
  func byItself() async throws {
    var policy = SessionPolicy.keeping
    policy.lock.afterUnused = .seconds(300)
    let bench = try Bench()
    var session = try await bench.signedIn(policy)
    bench.clock.advance(by: .seconds(299))
    #expect(session.currentToken != nil)
    bench.clock.advance(by: .seconds(300))
    #expect(session.currentToken == nil, "before any timer")
    await eventually("it is locked") { session.isLocked }
    for _ in 0..<3 {
      bench.clock.advance(by: .seconds(100))
      _ = await failure { () async throws(SessionError) in try await session.accessToken() }
    }
    try await session.unlock {}
    #expect(session.currentToken != nil)
    try await session.close()

    bench.clock.advance(by: .seconds(300))
    let before = try Data(contentsOf: URL(filePath: bench.journal))
    session = try await bench.open(policy)
    #expect(session.isLocked && session.isAuthenticated)
    try await session.close()
    policy.lock = SessionPolicy.Lock(atLaunch: true)
    session = try await bench.open(policy)
    #expect(session.isLocked && session.currentToken == nil)
    try await session.close()
    #expect(try Data(contentsOf: URL(filePath: bench.journal)) == before)
    session = try await bench.open(policy)
    try await session.unlock {}
    #expect(try notes(bench) == ["locked", "unlocked", "locked", "unlocked"])
    try await session.close()
  }
}
