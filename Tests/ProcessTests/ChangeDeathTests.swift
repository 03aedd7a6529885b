import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

/// A change log whose process is killed while it adds and sends; the server notes each key.
@Suite("Processes that are killed while they send changes", .timeLimit(.minutes(5)))
struct ChangeDeathTests {
  private func key(_ number: Int) -> String {
    String(format: "00000000-0000-4000-8000-%012d", number)
  }

  @Test(
    "SYN-2 SYN-3 killed at any moment, added changes arrive in order, and again only with their own key"
  )
  func killed() async throws {
    let bench = try ProcessBench()
    try await bench.signIn()
    var random: UInt64 = 7
    var (asked, added, deaths): (Int, Set<String>, Int) = (0, [], 0)
    // On a busy machine a process may die before it adds anything: then more of them are started.
    while deaths < 8 || (added.count <= deaths && deaths < 40) {
      let worker = try bench.start()
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var isAlive = await worker.lastAsk("open") != nil
      isAlive = isAlive ? await worker.lastAsk("changes") != nil : false
      try worker.say("die \(20_000 + random >> 33 % 180_000)")
      while isAlive {
        for _ in 0..<3 where isAlive {
          asked += 1
          let answer = await worker.lastAsk("add \(key(asked))")
          #expect(answer?.error == nil, "\(String(describing: answer))")
          if answer != nil { added.insert(key(asked)) }
          isAlive = answer != nil
        }
        if isAlive {
          let answer = await worker.lastAsk("drain")
          #expect(answer?.error == nil, "\(String(describing: answer))")
          isAlive = answer != nil
        }
      }
      try await worker.ended()
      deaths += 1
    }
    let last = try bench.start()
    #expect(try await last.ask("open").error == nil)
    #expect(try await last.ask("changes").error == nil)
    let answer = try await last.ask("drain")
    #expect(answer.error == nil, "\(answer)")
    try await last.end()

    let arrivals = bench.server.calls.filter { $0.endpoint == .materials }
      .compactMap { $0.headers["idempotency-key"] }
    var firsts: [String] = []
    for key in arrivals where !firsts.contains(key) { firsts.append(key) }
    #expect(firsts == firsts.sorted(), "the keys are numbered in the order of adding")
    #expect(added.isSubset(of: firsts), "lost: \(added.subtracting(firsts))")
    // For each death, one change may be there that was not acknowledged.
    #expect(firsts.count <= added.count + deaths && added.count > deaths)
    #expect(arrivals.count <= firsts.count + deaths, "again only what a death lay behind")
    try bench.check()
    let log = try await ChangeLog.open(at: bench.journal + ".changes")
    #expect(log.queue.pending.isEmpty && log.queue.failures.isEmpty)
    try await log.close()
  }
}
