import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// One process logs out while another refreshes, round after round.
///
/// The test counts requests that reach the server after the logout was journaled, and how late they
/// are (REF-11, Specs/FaultModel.md).
///
/// `SESSION_LATE_REQUESTS=3000 swift test --filter LateRequestTests` measures. A daily run does
/// a few rounds and asserts no time.
@Suite("A logout during a refresh", .serialized, .timeLimit(.minutes(30)))
struct LateRequestTests {
  private static let rounds = Int(
    ProcessInfo.processInfo.environment["SESSION_LATE_REQUESTS"] ?? "")

  @Test("REF-11 the window between a logout and another process's request is measured")
  func window() async throws {
    let bench = try ProcessBench { $0.rotatesRefreshTokens = true }
    try await bench.signIn()
    let leaver = try await bench.open()
    let refresher = try await bench.open()
    // Both clocks are the system's, in milliseconds.
    var random = SystemRandomNumberGenerator()
    var counts: [Int] = []
    for round in 0..<(Self.rounds ?? 5) {
      // By another session each time: one object may only try a limited number of times a minute.
      if round > 0 { try await bench.signIn() }
      #expect(try await refresher.ask("token").error == nil)
      let before = bench.server.count(of: .refresh)
      // Either process may receive its command first.
      let pause = UInt32.random(in: 0..<4_000, using: &random)
      let isFirst = Bool.random(using: &random)
      let lines: (logout: Int, refresh: Int)
      if isFirst {
        let logout = try leaver.say("logout")
        usleep(pause)
        lines = (logout, try refresher.say("refresh"))
      } else {
        let refresh = try refresher.say("refresh")
        usleep(pause)
        lines = (try leaver.say("logout"), refresh)
      }
      #expect(try await leaver.answer(to: lines.logout).error == nil)
      _ = try await refresher.answer(to: lines.refresh)
      counts.append(bench.server.count(of: .refresh) - before)
    }
    try report(bench, counts)
  }

  /// Prints the requests that arrived after the logout of their round was journaled.
  private func report(_ bench: ProcessBench, _ counts: [Int]) throws {
    let logouts = try bench.records().filter { $0.event?.kind == .logout }.map(\.time.milliseconds)
    #expect(logouts.count == counts.count)
    var arrivals = bench.server.calls.filter { $0.endpoint == .refresh }.map(
      \.received.milliseconds)[...]
    var late: [Int64] = []
    for (logout, count) in zip(logouts, counts) {
      late += arrivals.prefix(count).map { $0 - logout }.filter { $0 > 0 }
      arrivals = arrivals.dropFirst(count)
    }
    guard Self.rounds != nil else { return }
    print(
      "late requests: \(late.count) of \(counts.count) rounds, \(counts.reduce(0, +)) refreshes sent; "
        + "longest \(late.max() ?? 0) ms; all \(late.sorted())")
  }
}
