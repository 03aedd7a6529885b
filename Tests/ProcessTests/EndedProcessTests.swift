import SessionTestKit
import Testing

@Suite("Processes that end in a refresh", .timeLimit(.minutes(3)))
struct EndedProcessTests {
  @Test("REF-7 after two processes have ended in a refresh, the third one waits before its own")
  func endedTwice() async throws {
    let bench = try ProcessBench {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    let third = try await bench.endTwice()
    // The token's lifetime of a second is over by then, and a call needs a newer one.
    try await Task.sleep(for: .seconds(2))
    let answer = try await third.ask("token")
    #expect(answer.error != nil)
    #expect(answer.state == "authenticated")
    #expect(bench.server.count(of: .refresh) == 2)
    // A manual refresh still sends a request.
    let refreshed = try await third.ask("refresh")
    #expect(refreshed.error == nil && refreshed.generation == 2)
    try bench.check()
  }
}

extension ProcessBench {
  /// A third process, after a signal has ended two in a refresh of Ada's token.
  ///
  /// The server has acted on both requests. The second one is the retry of the second opening.
  func endTwice() async throws -> WorkerProcess {
    server.settings.update { $0.accessTokenLifetime = .seconds(1) }
    let user = LoopbackUser.sample
    let first = try await open()
    #expect(try await first.ask("login \(user.email) \(user.password)").error == nil)
    let gate = server.hold(.refresh, at: .afterActing)
    try first.say("refresh")
    #expect(await server.received(.refresh))
    try await first.end()
    let second = try start()
    try second.say("open")
    #expect(await server.received(.refresh, count: 2))
    try await second.end()
    gate.open()
    return try await open()
  }
}
