import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// A session that expires if it is not used, with real files.
@Suite("A session that is not used")
struct UseTests {
  static let limit: Int64 = 600_000

  static var policy: SessionPolicy {
    var policy = SessionPolicy.keeping
    policy.ending.inactivityLimit = .milliseconds(limit)
    return policy
  }

  @Test("POL-5 reading a token writes at most once a minute")
  func bounded() async throws {
    let bench = try Bench()
    let writes = Mutex(0)
    let store = InterceptedStore { (operation, _) throws(SecretStoreError) in
      if operation == .write { writes.withLock { $0 += 1 } }
    }
    let session = try await bench.signedIn(Self.policy, store: store)
    try await session.close()
    let reopened = try await bench.open(Self.policy, store: store)
    let before = writes.withLock { $0 }
    for _ in 0..<10_000 { _ = reopened.currentToken }
    bench.clock.advance(by: .milliseconds(59_999))
    for _ in 0..<10_000 { _ = reopened.currentToken }
    try await reopened.close()
    #expect(writes.withLock { $0 } - before <= 2, "one use told, and the last one at the close")
    let plain = try await bench.open(.keeping, store: store)
    let after = writes.withLock { $0 }
    for _ in 0..<1_000 { _ = plain.currentToken }
    try await plain.close()
    #expect(writes.withLock { $0 } == after, "without a limit nothing is noted")
  }

  @Test("POL-5 a use is reported once in each interval, from any number of threads")
  func meter() async {
    let use = Shared(Self.policy)
    use.meter.follow(1_000)
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for uptime: Int64 in 1_000..<61_000 where use.meter.count(at: uptime) == .tell {
            use.told.withLock { $0 += 1 }
          }
        }
      }
    }
    // The first use, and the one a minute later. Slower threads report no older use.
    #expect((1...2).contains(use.told.withLock { $0 }))
    #expect(use.meter.count(at: 60_999 + Self.limit) == .overdue)
    #expect(use.meter.last == 60_999, "what comes too late is no use")
  }

  private final class Shared: Sendable {
    let meter: ActivityMeter
    let told = Mutex(0)
    init(_ policy: SessionPolicy) { meter = ActivityMeter(PolicyFigures(policy)) }
  }

  @Test("POL-5 JRN-3 a user item is read with and without the time of the last use")
  func stored() throws {
    let old = #"{"fields":{"id":"u-1"},"journal":"j","v":1}"#
    #expect(try StoredUser(decoding: Array(old.utf8)).fields.used == nil)
    let now = ClockReading(time: Timestamp(milliseconds: 10_000), uptime: 500)
    let stamp = LastActivity(at: 400, now: now, boot: "b")
    #expect(stamp.time == 9_900)
    let item = StoredUser(journal: "j", profile: UserProfile(id: "u-1", email: "a@b.c")).with(stamp)
    let read = try StoredUser(decoding: item.encoded())
    #expect(read.fields.used == stamp && read.profile.email == "a@b.c")
    #expect(read.with(UserProfile(id: "u-1")).fields.used == stamp)
    #expect(
      stamp.idle(at: ClockReading(time: Timestamp(milliseconds: 0), uptime: 700), boot: "b") == 300)
    #expect(
      stamp.idle(at: ClockReading(time: Timestamp(milliseconds: 9_950), uptime: 700), boot: "c")
        == 50)
    #expect(
      stamp.idle(at: ClockReading(time: Timestamp(milliseconds: 0), uptime: 0), boot: nil) == 0)
  }
}
