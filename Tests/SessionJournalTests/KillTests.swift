import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

/// Real processes, files and signals: they check what the simulated disk assumes of the system.
@Suite("Writers that are killed")
struct KillTests {
  private static let writers = 3

  /// Ten rounds, times SESSION_CASES.
  private static var rounds: Int {
    10 * (ProcessInfo.processInfo.environment["SESSION_CASES"].flatMap(Int.init) ?? 1)
  }

  @Test("JRN-2 a writer killed at any moment loses no acknowledged record and leaves whole batches")
  func killed() async throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    var acknowledged: Set<String> = []
    var signals = 0
    for round in 0..<Self.rounds {
      let outputs = await withTaskGroup(of: String?.self) { group in
        for writer in 0..<Self.writers {
          let seed = UInt64(round * Self.writers + writer)
          group.addTask {
            let result = await #expect(
              processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]
            ) { [path = path as String, seed = seed as UInt64] in
              try await KilledWriter(path: path, seed: seed).live()
            }
            return result.map { String(decoding: $0.standardOutputContent, as: UTF8.self) }
          }
        }
        return await group.reduce(into: [String?]()) { $0.append($1) }
      }
      for output in outputs {
        signals += 1
        let lines = try #require(output).split(separator: "\n", omittingEmptySubsequences: false)
        // Output after the last line end is incomplete.
        for line in lines.dropLast() where line.hasPrefix("done ") {
          acknowledged.insert(String(line.dropFirst(5)))
        }
      }
      try judge(path, acknowledged)
    }
    #expect(signals == Self.rounds * Self.writers)
    #expect(acknowledged.count > Self.rounds)
  }

  /// Opens the journal and compares it with the output of the killed processes.
  private func judge(_ path: String, _ acknowledged: Set<String>) throws {
    var summary = TextSummary()
    var sequences: [UInt64] = []
    let journal = try Journal.open(at: path, options: .init(lockDeadline: .seconds(60))) {
      summary.take($0.record, payload: $1)
      if !$0.isSnapshot { sequences.append($0.sequence) }
    }
    let totals = journal.recovery.totals
    #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
    // Every number belongs to a record or a watermark.
    let reader = try JournalReader(path: path)
    let snapshots: UInt64 = reader.header.beginsWithSnapshot ? 1 : 0
    #expect(
      reader.header.firstSequence + totals.records + totals.watermarks - snapshots
        == totals.lastSequence + 1)

    // Batch, place in it, size of it: a batch is complete, contiguous and present at most once.
    var whole: Set<String> = []
    var lines = summary.lines.filter { !$0.isEmpty }[...]
    while let first = lines.first {
      let parts = first.split(separator: " ")
      let size = try #require(parts.count == 3 ? Int(parts[2]) : nil)
      let batch = lines.prefix(size)
      try #require(Array(batch) == (0..<size).map { "\(parts[0]) \($0) \(size)" })
      #expect(whole.insert(String(parts[0])).inserted, "\(parts[0]) is there twice")
      lines = lines.dropFirst(size)
    }
    #expect(acknowledged.subtracting(whole).isEmpty)
    let again = try Journal.open(at: path, options: .init(lockDeadline: .seconds(60)))
    #expect(again.recovery.repair == nil)
    #expect(again.recovery.totals.lastSequence == totals.lastSequence)
  }
}

/// What one writer does until it kills itself at a moment drawn from its seed.
private struct KilledWriter {
  let path: String
  let seed: UInt64

  func live() async throws {
    var options = JournalOptions(lockDeadline: .seconds(60))
    options.room = PreallocationRule(step: 4096)
    let journal = try Journal.open(at: path, options: options)
    var random = Random(state: seed)
    let moment = ContinuousClock.now + .microseconds(Int(random.next() % 150_000))
    Thread.detachNewThread {
      while ContinuousClock.now < moment { sched_yield() }
      kill(getpid(), SIGKILL)
    }
    var number = 0
    while true {
      number += 1
      let name = "\(seed).\(number)"
      let size = Int(random.next() % 4) + 1
      switch random.next() % 8 {
      case 0...2:
        _ = try journal.append(Self.batch(name, size))
        Self.say(name)
      case 3, 4:
        _ = try journal.transact { _ in (Self.batch(name, size), ()) }
        Self.say(name)
      case 5, 6:
        try await withThrowingTaskGroup { group in
          for caller in 0..<5 {
            group.addTask {
              _ = try await journal.submit(Self.batch("\(name).\(caller)", size))
              Self.say("\(name).\(caller)")
            }
          }
          try await group.waitForAll()
        }
      default:
        _ = try journal.compact(
          keepingFrom: journal.lastSequence - min(20, journal.lastSequence),
          summary: TextSummary())
      }
    }
  }

  private static func batch(_ name: String, _ size: Int) -> [JournalDraft] {
    (0..<size).map { draft("\(name) \($0) \(size)") }
  }

  /// One write for one line, so that no two mix.
  private static func say(_ name: String) {
    let line = Array("done \(name)\n".utf8)
    let written = line.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    precondition(written == line.count)
  }

  /// SplitMix64.
  private struct Random {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var value = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
      value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
      return value ^ value >> 31
    }
  }
}
