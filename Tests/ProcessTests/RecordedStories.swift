import Foundation
import ReplayCommands
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// The journals of `Specs/Journals` that only real processes can write: killed, suspended, overtaken.
///
/// `RECORD_JOURNALS=1 swift test --filter RecordedStories` writes them; the answers are written by
/// `UPDATE_GOLDEN=1 swift test --filter RecordedJournal`.
@Suite("Recorded stories of processes", .timeLimit(.minutes(5)))
struct RecordedStories {
  private static let strict: @Sendable (inout LoopbackSettings) -> Void = {
    ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true)
  }

  /// Ada is signed in, and a process waits at a gate for the response to its refresh.
  private func holding(
    at moment: LoopbackFault.Moment = .afterActing, timeout: Int64 = 300_000,
    _ settings: (inout LoopbackSettings) -> Void = strict
  ) async throws -> (bench: ProcessBench, holder: WorkerProcess, gate: LoopbackGate) {
    let bench = try ProcessBench(settings)
    // A process does this too: its clock is the system's, as in the other processes.
    let first = try await bench.open()
    let user = LoopbackUser.sample
    #expect(try await first.ask("login \(user.email) \(user.password)").error == nil)
    #expect(try await first.ask("close").error == nil)
    let holder = try await bench.open(timeout: timeout)
    let gate = bench.server.hold(.refresh, at: moment)
    try holder.say("refresh")
    #expect(await bench.server.received(.refresh))
    return (bench, holder, gate)
  }

  /// The same; the process is suspended, and another one opens the journal before the deadline.
  ///
  /// On a busy machine either may be too late: then it is repeated with a longer deadline.
  private func overtaking(
    at moment: LoopbackFault.Moment = .afterActing, isAnswered: Bool = false,
    grace: Int64? = nil,
    _ settings: (inout LoopbackSettings) -> Void = strict
  ) async throws -> (
    bench: ProcessBench, holder: WorkerProcess, gate: LoopbackGate, other: WorkerProcess
  ) {
    for timeout: Int64 in [3_000, 12_000, 48_000] {
      let (bench, holder, gate) = try await holding(at: moment, timeout: timeout, settings)
      holder.suspend()
      let isInTime = try bench.isFirstRequestOpen()
      if isInTime, isAnswered {
        gate.admit(1)
        #expect(await bench.server.answered(.refresh))
      }
      if isAnswered || !isInTime { gate.open() }
      let other =
        if let grace {
          try await bench.open(timeout: 60_000, "grace=\(grace)")
        } else {
          try await bench.open(timeout: 60_000)
        }
      if try isInTime && bench.isFirstRequestOpen() { return (bench, holder, gate, other) }
      gate.open()
      holder.resume()
      for process in [holder, other] { try await process.end() }
    }
    throw TooBusy()
  }

  private struct TooBusy: Error {}

  @Test(
    "RPL-3 REF-9 the same in PID namespaces of their own, where both are process 1",
    .enabled(if: Namespaces.arePermitted, "This system does not let a test make a PID namespace."))
  func killedInNamespace() async throws {
    let bench = try ProcessBench(Self.strict)
    let first = try await bench.open()
    let user = LoopbackUser.sample
    #expect(try await first.ask("login \(user.email) \(user.password)").error == nil)
    #expect(try await first.ask("close").error == nil)
    let holder = try await bench.openIsolated()
    let gate = bench.server.hold(.refresh, at: .afterActing)
    try holder.say("refresh")
    #expect(await bench.server.received(.refresh))
    try await holder.end()
    let other = try await bench.openIsolated()
    try other.say("refresh")
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.ask("state")
    #expect(answer.error == nil)
    try await bench.ended()
    try await bench.judge("killed-in-namespace", of: "killed-in-refresh")
  }

  @Test("RPL-3 a process is killed during a refresh, with a strict server")
  func killed() async throws {
    let (bench, holder, gate) = try await holding()
    try await holder.end()
    let other = try await bench.open()
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.ask("refresh")
    #expect(answer.state == "unauthenticated")
    try await bench.judge("killed-in-refresh")
  }

  @Test("RPL-3 a process is killed during a refresh, and the session is not opened again")
  func open() async throws {
    let (bench, holder, gate) = try await holding()
    try await holder.end()
    gate.open()
    try await bench.judge("still-request-open")
  }

  @Test("RPL-3 a process with the good token is suspended for longer than the other one waits")
  func suspended() async throws {
    let (bench, holder, _, other) = try await overtaking(isAnswered: true, grace: 1_000)
    let told = try other.say("await logout")
    _ = try await other.ask("refresh")
    #expect(try await other.answer(to: told).error == nil)
    try await bench.judge("suspended-in-refresh")
    holder.resume()
  }

  @Test("RPL-6 an older token reaches the server after a newer one, and the family is revoked")
  func familyRevoked() async throws {
    let (bench, holder, gate, other) = try await overtaking(at: .beforeActing)
    let line = try other.say("refresh")
    #expect(await bench.server.received(.refresh, count: 2))
    gate.admitNewest()
    let answer = try await other.answer(to: line)
    #expect(answer.error == nil && answer.generation == 2)
    gate.open()
    #expect(await bench.server.answered(.refresh, count: 2))
    holder.resume()
    try await bench.recorded("requestEnded")
    _ = try await other.ask("refresh")
    try await bench.judge("family-revoked")
  }

  @Test("RPL-6 two processes in a row are killed in a refresh")
  func endedTwice() async throws {
    let bench = try ProcessBench {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    let third = try await bench.endTwice()
    #expect(try await third.ask("state").state == "authenticated")
    // The third process retries after a minute: on a busy machine it may have done so by now.
    guard try bench.records().count(where: { $0.name == "requestSent" }) == 2 else { return }
    try await bench.judge("ended-twice", of: "still-offline")
  }

  @Test("RPL-3 a process is suspended and overtaken, with a tolerant server")
  func takenOver() async throws {
    let (bench, holder, gate, other) = try await overtaking(at: .beforeActing) {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
    }
    let line = try other.say("refresh")
    #expect(await bench.server.received(.refresh, count: 2))
    gate.open()
    let answer = try await other.answer(to: line)
    #expect(answer.error == nil && answer.generation == 2)
    try await bench.judge("taken-over", asking: "refreshFailed")
    holder.resume()
  }
}

extension ProcessBench {
  /// Waits until the session has ended.
  fileprivate func ended() async throws {
    try await recorded("logout")
    #expect(try count(of: .logout) == 1)
  }

  /// Waits until the journal has a record of this name.
  ///
  /// The wait is long: all tests begin at once, and the workers share the processors with them.
  fileprivate func recorded(_ name: String) async throws {
    for _ in 0..<2_400 {
      if try records().contains(where: { $0.name == name }) { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("no \(name) is in the journal")
  }

  /// Compares the tool's answers about the journal with the stored ones, without times and numbers.
  fileprivate func judge(
    _ cause: String, of known: String? = nil, asking name: String? = nil
  ) async throws {
    let folder = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Specs/Journals")
    var question: [String] = []
    if let name {
      let sequence = try #require(try records().last { $0.name == name }?.sequence)
      question = ["--at", "@\(sequence)"]
    }
    let output = CollectedOutput()
    _ = ReplayTool.run(
      arguments: ["why", journal, "--json"] + question, environment: { _ in nil }, output: output,
      errors: CollectedOutput())
    if ProcessInfo.processInfo.environment["RECORD_JOURNALS"] != nil {
      let line = ["$ sessionreplay why \(cause).journal"] + question
      // Without the zeros that a killed writer leaves at the end.
      var reader = try JournalReader(path: journal)
      try reader.visit { _, _ in true }
      try Data(contentsOf: URL(fileURLWithPath: journal)).prefix(Int(reader.totals.bytes))
        .write(to: folder.appending(path: "\(cause).journal"))
      try Data((line.joined(separator: " ") + "\n--- json\n" + output.text).utf8)
        .write(to: folder.appending(path: "\(cause).txt"))
    }
    let answers = try String(contentsOf: folder.appending(path: "\(cause).txt"), encoding: .utf8)
    let kept = try #require(answers.components(separatedBy: "--- json\n").last)
    let words = try Self.words(output.text)
    #expect(words == (try Self.words(kept)))
    #expect(words.first == known ?? cause)
    try check()
  }

  private static func words(_ json: String) throws -> [String] {
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let lists = ["proven", "inferred", "ruledOut", "alsoSeen", "untold", "advice"]
    let words = try lists.flatMap { name in
      let list = try #require(object[name] as? [[String: Any]])
      // Whether a token that lives one second has expired depends on the machine's load.
      return list.filter { !["tokenLives", "tokenOver"].contains($0["what"] as? String) }
        .map { "\(name) \($0["what"] ?? "") \($0["certainty"] ?? "")" }
    }
    // The number of retries depends on milliseconds.
    let told = words.enumerated().filter { $0.offset == words.firstIndex(of: $0.element) }
    return ["cause", "certainty"].map { object[$0] as? String ?? "" } + told.map(\.element)
  }
}
