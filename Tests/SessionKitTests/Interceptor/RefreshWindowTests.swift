import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

@Suite("The number of refreshes after refused calls", .timeLimit(.minutes(5)))
struct RefreshWindowTests {
  typealias FakeServer = CallBench.FakeServer

  @Test("REF-13 the refresh window gives the verdicts of Specs/Calls.md")
  func table() throws {
    var history = RefusalHistory()
    let window = RefreshWindow(interval: .seconds(30), maximumAttempts: 2)
    for row in CallTables.window {
      let uptime = try #require(Int64(row[0])) * 1_000
      let words = row[1].components(separatedBy: ", ")
      let generation = Generation(try #require(UInt64(words[0].dropFirst(4))))
      let verdict =
        words.count > 1
        ? history.refused(new: generation, at: uptime)
        : history.ask(generation, at: uptime, window)
      switch verdict {
      case .allowed: #expect(row[2] == "allowed" && row[3] == "–", "\(row)")
      case .denied(let denial, let isNews):
        #expect(row[2] == denial.rawValue && row[3] == (isNews ? "yes" : "–"), "\(row)")
      }
    }
  }

  @Test("REF-13 exactly after the interval a refresh of the same token counts again")
  func sameToken() {
    var history = RefusalHistory()
    let window = RefreshWindow(interval: .seconds(30), maximumAttempts: 2)
    func isAllowed(_ generation: UInt64, at second: Int64) -> Bool {
      if case .allowed = history.ask(Generation(generation), at: second * 1_000, window) {
        true
      } else {
        false
      }
    }
    #expect(isAllowed(1, at: 0) && isAllowed(1, at: 29), "a repeated question is not counted")
    #expect(isAllowed(1, at: 30))
    #expect(isAllowed(2, at: 31))
    #expect(!isAllowed(3, at: 32))
  }

  @Test("REF-13 a duration in milliseconds is rounded up and never overflows")
  func durations() {
    #expect(Duration.milliseconds(1_500).milliseconds(atLeast: 0) == 1_500)
    #expect(Duration.nanoseconds(1_500_000_001).milliseconds(atLeast: 0) == 1_501)
    #expect(Duration.seconds(-1).milliseconds(atLeast: 0) == 0)
    #expect(Duration.seconds(Int64.max).milliseconds(atLeast: 0) == .max)
  }

  @Test("REF-13 an endpoint that refuses every token causes one rotation within the window")
  func never() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let reports = session.reports
    let backend = FakeServer { (_, _) throws(TransportError) in HTTPResponse(status: 401) }
    let calls = session.calls(by: TransportCalls(backend))
    for _ in 0..<50 { #expect(try await calls.send(bench.get()).status == 401) }
    #expect(bench.service.refreshCount == 1)
    #expect(Set(backend.authorizations) == ["Bearer A1", "Bearer A2"])
    #expect(session.isAuthenticated)
    // After the interval, one more is allowed.
    bench.clock.advance(by: .seconds(30))
    for _ in 0..<50 { _ = try await calls.send(bench.get()) }
    #expect(bench.service.refreshCount == 2)
    try await session.close()
    var warnings: [SessionReport] = []
    for try await report in reports where report.isWarning { warnings.append(report) }
    #expect(
      warnings == [
        .warning(.newTokenRefused(Generation(2))),
        .warning(.newTokenRefused(Generation(3))),
      ])
    #expect(warnings.first?.name == "session.warning.refreshDenied")
    #expect(warnings.first?.labels == ["denial": "tokenIsNew"])
    #expect(warnings.first.map { "\($0)" }?.contains("CallRules.token") == true)
  }

  @Test(
    "REF-13 a server that revokes each token causes at most as many refreshes as the window allows")
  func tooMany() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let reports = session.reports
    // Each token is accepted for one call, its first.
    let seen = SharedValue<Set<String>>([])
    let backend = FakeServer { (authorization, place) throws(TransportError) in
      let token = authorization ?? ""
      let isFirst = seen.value?.contains(token) != true
      seen.value?.insert(token)
      return HTTPResponse(status: place > 0 && isFirst ? 200 : 401)
    }
    let calls = session.calls(by: TransportCalls(backend))
    var statuses: [Int] = []
    for _ in 0..<8 { statuses.append(try await calls.send(bench.get()).status) }
    #expect(statuses == [200, 200, 200, 200, 200, 401, 401, 401])
    #expect(bench.service.refreshCount == 5)
    bench.clock.advance(by: .seconds(30))
    #expect(try await calls.send(bench.get()).status == 200)
    #expect(bench.service.refreshCount == 6)
    try await session.close()
    var warnings: [SessionReport] = []
    for try await report in reports where report.isWarning { warnings.append(report) }
    #expect(warnings == [.warning(.refreshLimitReached(Generation(6)))])
  }

  @Test(
    "INT-5 a warning names both places of the token if every call is refused and they differ",
    arguments: [
      ("Authorization", "Token", true, true), ("Authorization", "Token", false, false),
      ("authorization", "bearer", true, false),
    ])
  func places(name: String, scheme: String, isRefused: Bool, isWarned: Bool) async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn { wire in
      wire.switchContext = nil
      wire.revocation = .post("auth/logout", accessToken: .header(name, scheme: scheme))
    }
    let reports = session.reports
    let calls = session.calls(
      by: TransportCalls(
        FakeServer { (_, place) throws(TransportError) in
          HTTPResponse(status: isRefused || place > 0 ? 401 : 200)
        }))
    for _ in 0..<3 { _ = try await calls.send(bench.get()) }
    try await session.close()
    var places: [String] = []
    for try await report in reports where report.name == "session.warning.tokenPlaceDiffers" {
      places.append("\(report)")
    }
    #expect(places.count == (isWarned ? 1 : 0))
    #expect(
      places.allSatisfy {
        $0.contains("as Authorization: Bearer …, but") && $0.contains("as Authorization: Token ….")
      })
  }

  @Test("REF-13 without a window each refused call may cause a refresh")
  func none() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = FakeServer { (_, _) throws(TransportError) in HTTPResponse(status: 401) }
    var rules = CallRules()
    rules.maximumRefreshes = nil
    let free = session.calls(by: TransportCalls(backend), rules: rules)
    for _ in 0..<10 { _ = try await free.send(bench.get()) }
    #expect(bench.service.refreshCount == 10)
    // All calls of a session share one history, so the newest token is known to be refused.
    _ = try await session.calls(by: TransportCalls(backend)).send(bench.get())
    #expect(bench.service.refreshCount == 10)
    try await session.close()
  }

  @Test("INT-5 STO-3 the first call with a long token that may be refused for it is reported, once")
  func longToken() async throws {
    // A field of 24 bytes more than the tail, and the statuses of three calls.
    for (tail, statuses, warnings) in [
      (8_190, [431, 431, 400], ["431"]), (8_190, [400, 200, 413], ["400"]),
      (8_190, [200, 400, 431], []), (8_190, [500, 431, 431], []),
      (4_073, [413, 200, 200], ["413"]),
      (4_072, [413, 431, 400], []),
    ] {
      let bench = try CallBench()
      bench.service.book.withLock { $0.tail = String(repeating: "x", count: tail) }
      let session = try await bench.signedIn()
      let reports = session.reports
      let backend = FakeServer { (_, place) throws(TransportError) in
        HTTPResponse(status: statuses[place])
      }
      let calls = session.calls(by: TransportCalls(backend))
      for status in statuses { #expect(try await calls.send(bench.get()).status == status) }
      try await session.close()
      var found: [SessionReport] = []
      for try await report in reports where report.isWarning { found.append(report) }
      #expect(found.map { $0.labels["status"] ?? "none" } == warnings)
      #expect(found.allSatisfy { $0.name == "session.warning.longTokenRefused" })
      #expect(
        found.allSatisfy { "\($0)".contains("\(tail + 24) bytes") && !"\($0)".contains("xx") })
    }
  }
}
