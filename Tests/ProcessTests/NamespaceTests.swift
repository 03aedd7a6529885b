import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

/// Processes in separate PID namespaces that share a folder, as containers do: each is process 1, and
/// none sees a process with the other's number.
@Suite(
  "Processes in separate PID namespaces", .timeLimit(.minutes(3)),
  .enabled(if: Namespaces.arePermitted, "This system does not let a test make a PID namespace."))
struct NamespaceTests {
  private static let strict: @Sendable (inout LoopbackSettings) -> Void = {
    ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
  }
  private static let key = "00000000-0000-4000-8000-000000000001"

  /// Long enough to notice a process that does not wait; a shorter time fails no test.
  private func pause() async throws { try await Task.sleep(for: .seconds(1)) }

  /// A journal or change log without its lock file, as on a system that has no such locks.
  private func forbidLock(beside path: String) throws {
    try FileManager.default.createDirectory(
      atPath: path + ".alive", withIntermediateDirectories: false)
  }

  /// The notes of all openings, and that the last two are two processes with one number.
  private func requireEqualNumbers(_ bench: ProcessBench, hasLock: Bool) throws {
    let opened = try bench.records().compactMap { record -> SessionNote.Opened? in
      guard case .note(.opened(let opened)) = record.content else { return nil }
      return opened
    }.suffix(2)
    #expect(opened.map(\.process) == [1, 1])
    let identities = opened.compactMap(\.identity)
    #expect(identities.count == 2)
    #expect(Set(identities.map(\.opening)).count == 2)
    #expect(Set(identities.map(\.namespace)).count == 2)
    #expect(Set(identities.map(\.boot)).count == 1)
    #expect(identities.allSatisfy { $0.start != 0 && ($0.lock != nil) == hasLock })
  }

  /// A process whose request for a new token the server holds back, and the line that asked for it.
  private func refreshing(on bench: ProcessBench, isIsolated: Bool) async throws -> (
    holder: WorkerProcess, line: Int, gate: LoopbackGate
  ) {
    let holder = isIsolated ? try await bench.openIsolated() : try await bench.open()
    let gate = bench.server.hold(.refresh, at: .beforeActing)
    let line = try holder.say("refresh")
    #expect(await bench.server.received(.refresh))
    return (holder, line, gate)
  }

  @Test(
    "REF-9 a live process in another PID namespace is not declared gone: its response is awaited",
    arguments: [true, false])
  func waitsForAnswer(hasLock: Bool) async throws {
    let bench = try ProcessBench(Self.strict)
    if !hasLock { try forbidLock(beside: bench.journal) }
    try await bench.signIn()
    let (holder, first, gate) = try await refreshing(on: bench, isIsolated: true)
    let other = try await bench.openIsolated()
    let second = try other.say("refresh")
    try await pause()
    #expect(bench.server.count(of: .refresh) == 1)
    gate.open()
    let answers = [try await holder.answer(to: first), try await other.answer(to: second)]
    #expect(answers.allSatisfy { $0.error == nil && $0.state == "authenticated" })
    #expect(!bench.server.calls.contains { $0.code == "TOKEN_REUSED" })
    #expect(try bench.count(of: .logout) == 0 && bench.count(of: .sessionExpired) == 0)
    try requireEqualNumbers(bench, hasLock: hasLock)
    let sent = try bench.records().compactMap { record -> SessionNote.RequestSent? in
      guard case .note(.requestSent(let sent)) = record.content else { return nil }
      return sent
    }
    #expect(sent.allSatisfy { $0.identity != nil })
    try bench.check()
  }

  @Test("REF-9 a process killed in another PID namespace is replaced at once because of its lock")
  func killedInNamespace() async throws {
    let bench = try ProcessBench(Self.strict)
    try await bench.signIn()
    // A lease of five minutes: no response is awaited for that long.
    let (holder, _, gate) = try await refreshing(on: bench, isIsolated: true)
    let other = try await bench.openIsolated()
    try await holder.end()
    bench.server.failNext(.refresh, with: .dropConnection(.beforeActing))
    let line = try other.say("refresh")
    gate.admit(1)
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.answer(to: line)
    #expect(answer.error == nil && answer.generation == 2)
    try requireEqualNumbers(bench, hasLock: true)
    try bench.check()
  }

  @Test("REF-9 a process killed in another PID namespace without a lock keeps its lease")
  func killedWithoutLock() async throws {
    let bench = try ProcessBench(Self.strict)
    try forbidLock(beside: bench.journal)
    try await bench.signIn()
    let (holder, _, gate) = try await refreshing(on: bench, isIsolated: true)
    let other = try await bench.openIsolated()
    try await holder.end()
    try other.say("refresh")
    try await pause()
    #expect(bench.server.count(of: .refresh) == 1)
    gate.open()
  }

  @Test("REF-9 a process killed in the same namespace without a lock is gone by its number")
  func killedBesideWithoutLock() async throws {
    let bench = try ProcessBench(Self.strict)
    try forbidLock(beside: bench.journal)
    try await bench.signIn()
    let (holder, _, gate) = try await refreshing(on: bench, isIsolated: false)
    let other = try await bench.open()
    try await holder.end()
    bench.server.failNext(.refresh, with: .dropConnection(.beforeActing))
    let line = try other.say("refresh")
    gate.admit(1)
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    #expect(try await other.answer(to: line).generation == 2)
  }

  /// Two processes with the change log open; the first waits for the response to a change.
  private func sending(hasLock: Bool) async throws -> (
    bench: ProcessBench, holder: WorkerProcess, line: Int, other: WorkerProcess,
    gate: LoopbackGate
  ) {
    let bench = try ProcessBench()
    if !hasLock { try forbidLock(beside: bench.journal + ".changes") }
    try await bench.signIn()
    let (holder, other) = (try await bench.openIsolated(), try await bench.openIsolated())
    for worker in [holder, other] { #expect(try await worker.ask("changes").error == nil) }
    #expect(try await holder.ask("add \(Self.key)").error == nil)
    let gate = bench.server.hold(.materials, at: .beforeActing)
    let line = try holder.say("drain")
    #expect(await bench.server.received(.materials))
    return (bench, holder, line, other, gate)
  }

  @Test(
    "REF-9 SYN-2 a change that a live process in another PID namespace sends is sent once",
    arguments: [true, false])
  func changeIsSentOnce(hasLock: Bool) async throws {
    let (bench, holder, line, other, gate) = try await sending(hasLock: hasLock)
    let held = try await other.ask("drain")
    #expect(held.error == nil && held.status == 0)
    #expect(bench.server.count(of: .materials) == 1)
    gate.open()
    #expect(try await holder.answer(to: line).status == 1)
    #expect(try await other.ask("drain").status == 0)
    #expect(bench.server.count(of: .materials) == 1)
  }

  @Test("REF-9 SYN-2 a change of a process that was killed in another PID namespace is sent again")
  func changeOfDeadIsSentAgain() async throws {
    let (bench, holder, _, other, gate) = try await sending(hasLock: true)
    try await holder.end()
    gate.open()
    var taken = 0
    // The system may take a moment to end the processes of the namespace.
    for _ in 0..<600 where taken == 0 {
      taken = try await other.ask("drain").status ?? 0
      if taken == 0 { try await Task.sleep(for: .milliseconds(100)) }
    }
    #expect(taken == 1)
    let keys = bench.server.calls.filter { $0.endpoint == .materials }
      .compactMap { $0.headers["idempotency-key"] }
    #expect(Set(keys) == [Self.key])
  }
}
