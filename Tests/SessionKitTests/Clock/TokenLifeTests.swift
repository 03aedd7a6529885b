import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("A token's lifetime, and clocks that jump")
struct TokenLifeTests {
  private let hour: Int64 = 3_600_000

  private func jump(_ bench: Bench, by milliseconds: Int64) {
    bench.clock.setTime(bench.clock.now().time.advanced(by: milliseconds))
  }

  @Test("REF-8 after a reboot the wall clock decides about a token, up to its whole lifetime")
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

  @Test(
    "REF-8 the wall clock decides about a token that an older version stored without its uptime")
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

  @Test("REF-8 the difference to the server's Date is noted with the token of that response")
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
    // The server's clock runs while this device's clock is stopped.
    #expect(abs(skews[0] - 20 * hour) < hour)
    #expect(!session.isTokenExpired)
    try await session.close()
  }

  @Test("REF-8 without a Date the app may choose this device's clock, and the journal marks it")
  func deviceClock() async throws {
    var wire = HTTPBackend.snakeCaseJSON(try AnswerBench.url())
    (wire.response.lifetime, wire.tokenForm) = ([.instant("until")], .opaque)
    let refused = try AnswerBench(wire)
    let end = refused.bench.clock.now().time.advanced(by: 900_000)
    let body = #"{"access_token":"a","refresh_token":"r","until":"\#(end)","user":{"id":1}}"#
    let error = try #require(try await refused.signInError(200, body))
    #expect(error.code == .invalidResponse && "\(error)".contains("response.usesDeviceClock"))
    wire.response.usesDeviceClock = true
    for (headers, life) in [([], 900_000), ([HTTPHeader("Date", end.httpDate)], nil)]
      as [([HTTPHeader], Int64?)]
    {
      let bench = try AnswerBench(wire)
      bench.answer(
        body.replacing("\(end)", with: life == nil ? "\(end.advanced(by: 5_000))" : "\(end)"),
        headers: headers)
      let session = try await bench.open()
      try await session.login(.password("ana@tik.test", "secreta-9"))
      let token = try bench.bench.records().compactMap { $0.event?.announcedToken }.first
      let isMarked = try bench.bench.records().contains {
        $0.content == .note(.deviceClockUsed(Generation(1)))
      }
      #expect(isMarked == (life != nil))
      #expect(token?.lifetime == .milliseconds(life ?? 5_000))
      try await session.close()
    }
  }
}
