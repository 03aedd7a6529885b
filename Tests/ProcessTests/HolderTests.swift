import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// What becomes of the session when the one process that is refreshing is killed, or suspended by its
/// system: the classic spurious logout of an app with an extension.
///
/// What must not wait for the end of a lease has one of five minutes before it; what must wait has one of
/// two seconds.
@Suite("The process that is refreshing", .timeLimit(.minutes(3)))
struct HolderTests {
  private static let strict: @Sendable (inout LoopbackSettings) -> Void = {
    ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
  }

  /// Ada is signed in, and a process waits for the answer to its refresh at a gate.
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

  /// Nobody was logged out, and everybody shows the server its newest token.
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

  @Test("REF-3 it is killed: another takes its place at once, and the server is asked once more")
  func killed() async throws {
    let (bench, holder, _, gate) = try await holding()
    let other = try await bench.open()
    let line = try other.say("refresh")
    try await holder.end()
    // What it asked for never happened.
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

  @Test("REF-3 REF-7 it is killed when the server has rotated: in its grace another gets the token")
  func killedBehindRotation() async throws {
    let (bench, holder, _, gate) = try await holding(at: .afterActing) {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    let other = try await bench.open()
    let line = try other.say("refresh")
    try await holder.end()
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.answer(to: line)
    #expect(answer.error == nil && answer.generation == 2)
    let next = try await other.ask("refresh")
    #expect(next.error == nil && next.generation == 3)
  }

  @Test(
    "REF-3 REF-7 killed when its token is stored and not journaled: it is another's, none is asked for"
  )
  func killedBehindStoring() async throws {
    let bench = try ProcessBench(Self.strict)
    try await bench.signIn()
    let holder = try await bench.open()
    let other = try await bench.open()
    let line = try holder.say("stall token")
    try holder.say("refresh")
    #expect(try await holder.answer(to: line).error == nil)
    try await holder.end()
    let answer = try await other.ask("refresh")
    #expect(answer.error == nil && answer.generation == 2)
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(try bench.records().contains { $0.content == .note(.tokenRecovered(Generation(2))) })
    try await agree(bench, on: 2, [other])
    let next = try await other.ask("refresh")
    #expect(next.error == nil && next.generation == 3)
  }

  @Test(
    "REF-3 REF-7 killed before its token is stored, at a server that gives none twice: that ends it"
  )
  func killedBeforeStoring() async throws {
    let (bench, holder, _, gate) = try await holding(at: .afterActing)
    let other = try await bench.open()
    let line = try other.say("refresh")
    try await holder.end()
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.answer(to: line)
    #expect(answer.error?.isEmpty == false && answer.state == "unauthenticated")
    #expect(bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    #expect(try bench.count(of: .sessionExpired) == 1)
    try bench.check()
  }

  @Test("OUT-1 killed when its logout is journaled: another keeps what telling the server needs")
  func killedLoggingOut() async throws {
    let bench = try ProcessBench()
    try await bench.signIn()
    let holder = try await bench.open()
    let other = try await bench.open(timeout: Self.short)
    let told = try other.say("await logout")
    let line = try holder.say("stall logout")
    try holder.say("logout")
    #expect(try await holder.answer(to: line).error == nil)
    try await holder.end()
    #expect(try await other.answer(to: told).error == nil)
    // Nobody else is left: it tells the server, once a lease is over.
    #expect(await bench.server.received(.logout))
    #expect(try await other.ask("state").state == "unauthenticated")
    try bench.check()
  }

  // MARK: Suspended

  @Test(
    "REF-3 REF-7 suspended for longer than its request may take: the answer in its socket counts")
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
    // Another request that may take as long, and is not answered: until it is over, so is the time.
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

  /// Milliseconds that a request of the other process may take; its lease is a second longer.
  private static let short: Int64 = 1_000

  @Test("REF-3 suspended, overtaken, and refused when it is resumed: it has the newer token")
  func refusedLate() async throws {
    let (bench, holder, line, gate) = try await holding {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    holder.suspend()
    // What a server says to one who comes after the other; it waits to be read.
    bench.server.failNext(.refresh, with: .status(401, code: "TOKEN_REUSED"))
    gate.admit(1)
    #expect(await bench.server.answered(.refresh))
    gate.open()
    let other = try await bench.open(timeout: Self.short)
    let answer = try await other.ask("refresh")
    #expect(answer.error == nil && answer.generation == 2)
    holder.resume()
    let late = try await holder.answer(to: line)
    #expect(late.error == nil && late.generation == 2)
    #expect(try bench.count(of: .refreshSucceeded) == 1)
    try await agree(bench, on: 2, [holder, other])
  }

  @Test("REF-3 suspended, overtaken, and answered: the answer that comes late is not used")
  func answeredLate() async throws {
    let (bench, holder, line, gate) = try await holding { _ in }
    holder.suspend()
    gate.admit(1)
    #expect(await bench.server.answered(.refresh))
    gate.open()
    let other = try await bench.open(timeout: Self.short)
    let answer = try await other.ask("refresh")
    #expect(answer.error == nil && answer.generation == 2)
    holder.resume()
    let late = try await holder.answer(to: line)
    #expect(late.error == nil && late.generation == 2)
    #expect(try bench.count(of: .refreshSucceeded) == 1)
    for worker in [holder, other] { #expect(try await worker.ask("call").status == 200) }
    // Both show the token of the one who came first, whichever the server gave it.
    #expect(bench.shown.count == 2 && Set(bench.shown).count == 1)
    #expect(bench.shown.first != 2)
    try bench.check()
  }

  @Test(
    "REF-3 suspended with the one good token: others are refused, nothing ends, it is everybody's")
  func holdsTheToken() async throws {
    let (bench, holder, line, gate) = try await holding { $0.rotatesRefreshTokens = true }
    holder.suspend()
    gate.admit(1)
    #expect(await bench.server.answered(.refresh))
    gate.open()
    let other = try await bench.open(timeout: Self.short)
    let told = try other.say("await refreshSucceeded")
    let refused = try await other.ask("refresh")
    #expect(refused.error?.isEmpty == false)
    #expect(refused.state == "authenticated" && refused.generation == 1)
    #expect(bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    holder.resume()
    let late = try await holder.answer(to: line)
    #expect(late.error == nil && late.generation == 2)
    let adopted = try await other.answer(to: told)
    #expect(adopted.error == nil && adopted.generation == 2)
    try await agree(bench, on: 2, [holder, other])
    let next = try await other.ask("refresh")
    #expect(next.error == nil && next.generation == 3)
  }

  @Test(
    "REF-10 a process that was stopped with the lock overtakes nobody whose answer waits for that lock"
  )
  func stoppedWithLock() async throws {
    let (bench, holder, line, gate) = try await holding()
    let other = try await bench.open(timeout: Self.short)
    let stalled = try other.say("stall read")
    let refresh = try other.say("refresh")
    // Its lease is over, and it has the lock: it looks at the token item before it takes the place.
    #expect(try await other.answer(to: stalled).error == nil)
    other.suspend()
    gate.open()
    #expect(await bench.server.answered(.refresh))
    // The answer waits for the lock, for as long as it may.
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
    // On a busy machine it was told that the lock was held, and has stored its answer since.
    _ = try await holder.answer(to: line)
    #expect(try await holder.ask("refresh").generation == 3)
    #expect(try bench.count(of: .sessionExpired) == 0)
  }

  @Test(
    "OUT-4 REF-3 suspended while another logs out: its answer brings nobody back and is given back")
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
