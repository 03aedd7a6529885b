import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

@Suite("A token's life, and clocks that jump")
struct TokenLifeTests {
  private let hour: Int64 = 3_600_000

  private func jump(_ bench: Bench, by milliseconds: Int64) {
    bench.clock.setTime(bench.clock.now().time.advanced(by: milliseconds))
  }

  @Test(
    "REF-8 the civil time jumps while the session is closed: the token lives as long as it does",
    arguments: [9, -20, 24 * 400, -24 * 400])
  func closed(hours: Int64) async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    bench.clock.advance(by: .milliseconds(hour / 4))
    jump(bench, by: hours * hour)
    let session = try await bench.open()
    #expect(!session.isTokenExpired)
    bench.clock.advance(by: .milliseconds(hour / 4 * 3 - 1))
    #expect(!session.isTokenExpired)
    bench.clock.advance(by: .milliseconds(1))
    #expect(session.isTokenExpired)
    try await session.close()

    // And a dead one is not revived.
    jump(bench, by: -9 * hour)
    bench.server.stop()
    let again = try await bench.open()
    #expect(again.isTokenExpired || again.currentToken?.generation == Generation(2))
    try await again.close()
  }

  @Test("REF-8 across a start of the system the civil time decides, and never beyond a whole life")
  func restarted() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    bench.clock.advance(by: .milliseconds(hour / 4))
    bench.clock.restart()
    var session = try await bench.open()
    #expect(!session.isTokenExpired)
    try await session.close()

    jump(bench, by: -20 * hour)
    session = try await bench.open()
    bench.clock.advance(by: .milliseconds(hour - 1))
    #expect(!session.isTokenExpired)
    bench.clock.advance(by: .milliseconds(1))
    #expect(session.isTokenExpired)
    try await session.close()

    bench.clock.restart()
    jump(bench, by: 22 * hour)
    bench.server.stop()
    session = try await bench.open()
    #expect(session.isTokenExpired)
    try await session.close()
  }

  @Test("REF-8 an item that an older version stored has no such time: the civil time decides")
  func olderItem() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let path = URL(filePath: bench.secrets + "/token")
    var item = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: path)) as? [String: Any])
    var fields = try #require(item["fields"] as? [String: Any])
    #expect(fields.removeValue(forKey: "boot") != nil)
    #expect(fields.removeValue(forKey: "deadline") != nil)
    item["fields"] = fields
    try JSONSerialization.data(withJSONObject: item).write(to: path)
    jump(bench, by: 9 * hour)
    bench.server.stop()
    let session = try await bench.open()
    #expect(session.isAuthenticated && session.isTokenExpired)
    try await session.close()
  }

  @Test("REF-8 the skew to the server's Date is noted beside the token that came with it")
  func skew() async throws {
    let bench = try Bench { $0.tellsTime = true }
    let ahead = Int64(Date().timeIntervalSince1970 * 1000) + 20 * hour
    bench.clock.setTime(Timestamp(milliseconds: ahead))
    let session = try await bench.signedIn()
    let skews = try bench.records().compactMap { record -> Int64? in
      guard case .note(.clockSkew(let skew)) = record.content else { return nil }
      return skew
    }
    try #require(skews.count == 1)
    // The server's clock goes on while this device's stands still.
    #expect(abs(skews[0] - 20 * hour) < hour)
    #expect(!session.isTokenExpired)
    try await session.close()
  }
}
