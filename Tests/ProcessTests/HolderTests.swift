import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// The session after the one refreshing process is killed, or suspended by its
/// system: the classic spurious logout of an app with an extension.
///
/// A test that must not wait for the end of a lease uses one of five minutes; a test that must wait
/// uses one of two seconds.
@Suite("The process that is refreshing", .timeLimit(.minutes(3)))
struct HolderTests {
  private static let strict: @Sendable (inout LoopbackSettings) -> Void = {
    ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
  }

  /// Ada is signed in, and a process waits for the response to its refresh at a gate.
  private func holding(
    at moment: LoopbackFault.Moment = .beforeActing, timeout: Int64 = 300_000,
    _ settings: (inout LoopbackSettings) -> Void = strict
  ) async throws -> (bench: ProcessBench, holder: WorkerProcess, line: Int, gate: LoopbackGate) {
    let bench = try ProcessBench(settings)
    try await bench.signIn()
    let holder = try await bench.open(timeout: timeout)
    let gate = bench.server.hold(.refresh, at: moment)
    let line = try holder.say("refresh")
    #expect(await bench.server.received(.refresh))
    return (bench, holder, line, gate)
  }

  /// No user was logged out, and every process shows the server its newest token.
  private func agree(_ bench: ProcessBench, on generation: UInt64, _ workers: [WorkerProcess])
    async throws
  {
    for worker in workers {
      let answer = try await worker.ask("call")
      #expect(answer.error == nil && answer.status == 200)
      #expect(answer.state == "authenticated" && answer.generation == generation)
    }
    #expect(bench.shown == Array(repeating: Int(generation), count: workers.count))
    #expect(try bench.count(of: .sessionExpired) == 0)
    #expect(try bench.count(of: .logout) == 0)
    try bench.check()
  }

  @Test("REF-3 after a refreshing process is killed, another replaces it with one more request")
  func killed() async throws {
    let (bench, holder, _, gate) = try await holding()
    let other = try await bench.open()
    let line = try other.say("refresh")
    try await holder.end()
    // Its request never reached the server.
    bench.server.failNext(.refresh, with: .dropConnection(.beforeActing))
    gate.admit(1)
    #expect(await bench.server.answered(.refresh))
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.answer(to: line)
    #expect(answer.error == nil && answer.generation == 2)
    #expect(bench.server.count(of: .refresh) == 2)
    try await agree(bench, on: 2, [other])
  }

  // MARK: Suspended

  @Test(
    "REF-3 REF-7 a process suspended for longer than its request still uses the response in its socket"
  )
  func answeredMeanwhile() async throws {
    var limit: Int64 = 3_000
    var (bench, holder, line, gate) = try await holding(timeout: limit)
    holder.suspend()
    while try !bench.isFirstRequestOpen(), limit < 60_000 {
      gate.open()
      holder.resume()
      try await holder.end()
      limit *= 4
      (bench, holder, line, gate) = try await holding(timeout: limit)
      holder.suspend()
    }
    gate.admit(1)
    #expect(await bench.server.answered(.refresh))
    gate.open()
    // Another request of equal length without a response: when it is over, so is the lease.
    let silence = bench.server.hold(.materials, at: .beforeActing)
    var request = HTTPRequest(
      method: "GET", url: bench.server.baseURL.appending(path: "materials"))
    request.timeout = .milliseconds(limit + 500)
    await #expect(throws: TransportError.self) { try await URLSessionTransport().send(request) }
    silence.open()
    holder.resume()
    let late = try await holder.answer(to: line)
    #expect(late.error == nil && late.generation == 2)
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(try bench.count(of: .refreshFailed) == 0)
    #expect(try bench.count(of: .logout) == 0)
  }

  /// How many milliseconds a request of the other process may take; its lease is a second longer.
  private static let short: Int64 = 1_000

  @Test(
    "REF-10 a process stopped with the lock does not overtake one whose response waits for that lock"
  )
  func stoppedWithLock() async throws {
    let (bench, holder, line, gate) = try await holding()
    let other = try await bench.open(timeout: Self.short)
    let stalled = try other.say("stall")
    let refresh = try other.say("refresh")
    // Its lease is over, and it has the lock: it reads the token item before it takes over.
    #expect(try await other.answer(to: stalled).error == nil)
    other.suspend()
    gate.open()
    #expect(await bench.server.answered(.refresh))
    // The response waits for the lock, for as long as it may.
    let silence = bench.server.hold(.materials, at: .beforeActing)
    var request = HTTPRequest(
      method: "GET", url: bench.server.baseURL.appending(path: "materials"))
    request.timeout = .seconds(2)
    await #expect(throws: TransportError.self) { try await URLSessionTransport().send(request) }
    silence.open()
    other.resume()
    try other.say("go")
    let answer = try await other.answer(to: refresh)
    #expect(answer.error == nil && answer.generation == 2)
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(try bench.count(of: .refreshSucceeded) == 1)
    // On a busy machine it found the lock held, and has stored its response since.
    _ = try await holder.answer(to: line)
    #expect(try await holder.ask("refresh").generation == 3)
    #expect(try bench.count(of: .sessionExpired) == 0)
  }

  // MARK: Without room

  @Test(
    "REF-21 a process that has no room for its token keeps its request, and others use the present token",
    arguments: [false, true])
  func noRoom(isKilled: Bool) async throws {
    let bench = try ProcessBench(Self.strict)
    try await bench.signIn()
    let holder = try await bench.open(timeout: Self.short)
    let other = try await bench.open(timeout: Self.short)
    _ = try await holder.ask("room no")
    #expect(try await holder.ask("refresh").error?.isEmpty == false)
    let deadline = ContinuousClock.now + .milliseconds(Self.short + 4_000)
    while ContinuousClock.now < deadline {
      let answer = try await other.ask("refresh")
      #expect(answer.error?.contains("process") == true && answer.state == "authenticated")
      #expect(try await other.ask("token").generation == 1)
      let late = try await bench.open(timeout: Self.short)
      #expect(try await late.ask("token").generation == 1)
      try await late.end()
    }
    #expect(bench.server.count(of: .refresh) == 1)
    if isKilled {
      // Its answer is lost. The next one with the token is the first that may ask for another.
      try await holder.end()
      #expect(try await other.ask("refresh").error?.isEmpty == false)
      #expect(await bench.server.received(.refresh, count: 2))
      return
    }
    _ = try await holder.ask("room yes")
    let told = try await other.ask("await refreshSucceeded")
    #expect(told.error == nil && told.generation == 2)
    #expect(try await holder.ask("refresh").generation == 3)
    #expect(try bench.count(of: .refreshFailed) == 0)
    try bench.check()
  }

  @Test(
    "OUT-4 REF-3 the response to a process suspended during a logout is revoked and restores nothing"
  )
  func loggedOutMeanwhile() async throws {
    let (bench, holder, line, gate) = try await holding()
    holder.suspend()
    gate.open()
    #expect(await bench.server.answered(.refresh))
    let other = try await bench.open()
    #expect(try await other.ask("logout").error == nil)
    holder.resume()
    let late = try await holder.answer(to: line)
    #expect(late.error?.isEmpty == false)
    #expect(late.state == "unauthenticated" && late.generation == nil)
    #expect(await bench.server.received(.logout, count: 2))
    #expect(try bench.count(of: .refreshSucceeded) == 0)
    let secrets = bench.folder.appending(path: "secrets/token").path
    #expect(!FileManager.default.fileExists(atPath: secrets))
    try bench.check()
  }
}
