import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// A command-line tool that is interrupted in a refresh, at a server that ends the session at the second
/// use of a refresh token.
@Suite("Programs that a signal ends", .timeLimit(.minutes(5)))
struct SignalTests {
  private func bench() async throws -> ProcessBench {
    let bench = try ProcessBench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    try await bench.signIn()
    return bench
  }

  private func tool(_ bench: ProcessBench, within limit: Int = 60_000) async throws -> WorkerProcess
  {
    let tool = try await bench.open()
    #expect(try await tool.ask("finish \(limit)").error == nil)
    return tool
  }

  @Test("REF-7 REF-11 interrupted at any moment of a refresh, a tool loses no session")
  func interrupted() async throws {
    let bench = try await bench()
    var random = SplitMix(seed: 44)
    for _ in 0..<Sweep("rounds of signals", takingOneOf: 25).cases(of: 500) {
      let tool = try await tool(bench)
      try tool.say("refresh")
      // A refresh takes some milliseconds here, of which the server has the least.
      try await Task.sleep(for: .microseconds(random.next() % 12_000))
      let signal = random.next() % 2 == 0 ? SIGINT : SIGTERM
      tool.send(signal)
      #expect(try await tool.ended() == .killed(signal))
    }
    let last = try await bench.open()
    let answer = try await last.ask("call")
    #expect(answer.status == 200 && answer.state == "authenticated", "\(answer)")
    #expect(!bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    #expect(bench.server.count(of: .refresh) > 0)
    try bench.check()
  }

  @Test("REF-11 a signal waits for the response on the wire, a second one and the limit do not")
  func waits() async throws {
    for (limit, isAgain) in [(60_000, false), (60_000, true), (300, false)] {
      let bench = try await bench()
      let tool = try await tool(bench, within: limit)
      let gate = bench.server.hold(.refresh, at: .afterActing)
      try tool.say("refresh")
      #expect(await bench.server.received(.refresh))
      tool.send(SIGINT)
      let isHeld = limit == 60_000 && !isAgain
      if isHeld {
        try await Task.sleep(for: .milliseconds(100))
        gate.open()
      } else if isAgain {
        // The first one has to be handled before the second one counts as such.
        try await Task.sleep(for: .milliseconds(100))
        tool.send(SIGINT)
      }
      #expect(try await tool.ended() == .killed(SIGINT))
      gate.open()
      let names = try bench.records().map(\.name)
      #expect(names.contains("refreshSucceeded") == isHeld, "\(limit), \(isAgain): \(names)")
    }
  }
}
