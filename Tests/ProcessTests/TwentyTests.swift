@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// The promises about an app with its extensions, with twenty processes.
@Suite("Twenty processes", .serialized, .timeLimit(.minutes(3)))
struct TwentyTests {
  @Test(
    "REF-3 JRN-1 twenty processes with an expired token make one refresh, and all hold the new token"
  )
  func oneRefresh() async throws {
    let bench = try ProcessBench {
      ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
    }
    try await bench.signIn(hoursAgo: 2)
    let gate = bench.server.hold(.refresh)
    let workers = try (0..<20).map { _ in try bench.start() }
    let lines = try workers.map { (open: try $0.say("open"), token: try $0.say("token")) }
    // The token has expired, so opening has refreshed it.
    for (worker, line) in zip(workers, lines) {
      let answer = try await worker.answer(to: line.open)
      #expect(answer.error == nil && answer.state == "authenticated" && answer.generation == 1)
    }
    #expect(await bench.server.received(.refresh))
    gate.open()
    for (worker, line) in zip(workers, lines) {
      let answer = try await worker.answer(to: line.token)
      #expect(answer.error == nil && answer.generation == 2)
    }
    let calls = try workers.map { try $0.say("call") }
    for (worker, call) in zip(workers, calls) {
      #expect(try await worker.answer(to: call).status == 200)
    }
    #expect(bench.shown == Array(repeating: 2, count: 20))
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(try bench.count(of: .refreshSucceeded) == 1)
    #expect(try bench.count(of: .refreshFailed) == 0)
    let closings = try workers.map { try $0.say("close") }
    for (worker, closing) in zip(workers, closings) {
      #expect(try await worker.answer(to: closing).error == nil)
    }
    try bench.check()
  }

  @Test("OUT-1 JRN-1 after one process logs out, the others are notified and no item is left")
  func toldOfLogout() async throws {
    let bench = try ProcessBench()
    try await bench.signIn()
    var workers: [WorkerProcess] = []
    for _ in 0..<4 { workers.append(try await bench.open()) }
    let others = workers.dropFirst()
    let waits = try others.map { try $0.say("await logout") }
    #expect(try await workers[0].ask("logout").error == nil)
    for (worker, wait) in zip(others, waits) {
      let told = try await worker.answer(to: wait)
      #expect(told.error == nil && told.state == "unauthenticated" && told.generation == nil)
      let refused = try await worker.ask("call")
      #expect(refused.error?.isEmpty == false)
    }
    #expect(bench.server.count(of: .logout) == 1)
    #expect(bench.shown.isEmpty)
    #expect(try bench.count(of: .logout) == 1)
    try bench.check()
  }

  @Test("OUT-1 REF-3 a process that does not follow learns of a logout when it requests a token")
  func askedAfterLogout() async throws {
    let bench = try ProcessBench()
    try await bench.signIn()
    let one = try await bench.open()
    let two = try await bench.open("follow=no")
    #expect(try await one.ask("logout").error == nil)
    #expect(try await two.ask("state").state == "authenticated")
    let told = try await two.ask("refresh")
    #expect(told.state == "unauthenticated" && told.error?.isEmpty == false)
    #expect(bench.server.count(of: .refresh) == 0)
  }
}
