import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: the token for a call")
struct AccessTokenTests {
  @Test(
    "REF-2 REF-15 a valid token is returned without a request if it meets the minimum")
  func good() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    for minimum in [Duration.zero, .seconds(-5), .seconds(120), .nanoseconds(1)] {
      #expect(try await session.accessToken(validFor: minimum).generation == Generation(1))
    }
    #expect(try await session.accessToken().generation == Generation(1))
    #expect(bench.server.count(of: .refresh) == 0)
    try await session.close()
  }

  @Test("REF-15 callers with different minimums share one request")
  func shared() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let deadline = try #require(session.currentToken).expiry
    bench.clock.advance(by: .seconds(5))
    let left = deadline.milliseconds(since: bench.clock.now().time)
    let gate = bench.server.hold(.refresh)
    let generations = try await withThrowingTaskGroup(of: Generation.self) { group in
      for extra in [1, 60_000, 3_600_000] as [Int64] {
        group.addTask {
          try await session.accessToken(validFor: .milliseconds(left + extra)).generation
        }
      }
      await eventually("three wait") { session.waiterCount == 3 }
      gate.open()
      return try await group.reduce(into: Set<Generation>()) { $0.insert($1) }
    }
    #expect(generations == [Generation(2)])
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }

  @Test(
    "REF-15 the longest minimum results in one newer token, which the next calls share")
  func longest() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.clock.advance(by: .seconds(5))
    for _ in 0..<3 {
      let token = try await session.accessToken(validFor: .seconds(Int64.max))
      #expect(token.generation == Generation(2))
    }
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }
}
