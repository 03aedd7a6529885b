import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@Suite("A follower and concurrent changes")
struct FollowerProperties {
  /// A journal of another process, and what it does during one call of the follower.
  private struct Writer {
    let disk = SimulatedDisk()
    let journal: Journal
    let failure = Mutexed()

    init() throws {
      journal = try Journal.open(at: journalPath, options: .on(disk))
      for size in 1...4 { try append(size) }
    }

    func append(_ size: Int) throws {
      _ = try journal.append([
        JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: size))
      ])
    }

    /// Appends, compacts and appends again before the call of that number.
    func compact(beforeCall number: Int, keeping kept: UInt64) {
      disk.before(call: number) { [self] in
        failure.run {
          try append(20)
          let first = journal.lastSequence + 1 - kept
          guard try journal.compact(keepingFrom: first, summary: History()) != nil else {
            throw Falsified("nothing was compacted")
          }
          try append(30)
        }
      }
    }
  }

  /// An error of the writer, reported afterwards.
  private final class Mutexed: Sendable {
    private let error = Mutex<(any Error)?>(nil)

    func run(_ body: () throws -> Void) {
      do {
        try body()
      } catch {
        let failed = error
        self.error.withLock { $0 = failed }
      }
    }

    func check() throws {
      if let error = error.withLock({ $0 }) { throw error }
    }
  }

  @Test("JRN-4 a follower shows every record if a compaction happens at any of its calls")
  func compactionMeanwhile() throws {
    expect(
      Property(
        "a compaction in the moment of any call is crossed",
        requiredLabels: ["the first file", "the second file"]
      ).exhaustive { choices in
        let writer = try Writer()
        let start = choices.pick([0, 2, 4] as [UInt64]) ?? 0
        let process = writer.disk.process()
        let follower = FollowedFile(path: journalPath, sequence: start, fileSystem: process)
        var seen: [JournalRecord] = []
        // The compaction happens while it opens, or while it changes to another compaction's file.
        if choices.chance(1, in: 2) {
          while let record = try follower.next() { seen.append(record) }
          writer.compact(beforeCall: writer.disk.callCount, keeping: 2)
          _ = try process.status(of: journalPath)
          choices.label("the second file")
        } else {
          choices.label("the first file")
        }
        let struck = writer.disk.callCount + choices.draw(in: 0...40)
        writer.compact(beforeCall: struck, keeping: choices.pick([0, 1, 3]) ?? 0)
        // A change after its last read is announced by the file that it watches.
        repeat {
          let before = writer.disk.callCount
          while let record = try follower.next() { seen.append(record) }
          guard before <= struck, struck < writer.disk.callCount else { break }
        } while true
        try writer.failure.check()
        guard writer.disk.callCount > struck else { throw Discard() }
        try choices.require(
          process.watchedFile == writer.disk.file(at: journalPath),
          "file \(String(describing: process.watchedFile)) is watched")
        let all = try JournalInspection(writer.disk).records.filter { $0.sequence > start }
        let found = try Self.expanded(seen).filter { $0.sequence > start }
        try choices.require(found == all, "\(found.map(\.sequence)) of \(all.map(\.sequence))")
      })
  }

  /// The records of all that was shown, snapshots expanded; no record may repeat.
  private static func expanded(_ seen: [JournalRecord]) throws -> [JournalRecord] {
    var records: [JournalRecord] = []
    for record in seen {
      let last = records.last?.sequence ?? 0
      let new = try History.expanded([record]).filter { $0.sequence > last }
      guard !new.isEmpty else { throw Falsified("seq \(record.sequence) comes again") }
      records += new
    }
    return records
  }

  @Test("JRN-4 a follower that reads at any time shows every record once, in order")
  func followers() {
    expect(
      Property("a follower crosses compactions without gap or duplicate", cases: 150).check {
        choices in
        let disk = SimulatedDisk()
        var run = JournalRun(disk, processes: 2)
        try run.perform(.append([10]))
        let start = UInt64(choices.draw(in: 0...3))
        let follower = FollowedFile(
          path: journalPath, sequence: start, fileSystem: disk.process())
        var seen = History()
        for _ in 0..<choices.draw(in: 1...14) {
          try choices.span {
            if choices.chance(1, in: 2) {
              let place = choices.draw(in: 0...1)
              let step = DrawnProperties.compactingStep(choices)
              choices.step("p\(place) \(step)")
              try run.perform(step, by: place)
            } else {
              // Read only a part, so that the next compaction may overtake it.
              for _ in 0..<choices.draw(in: 1...5) {
                guard let record = try follower.next() else { break }
                choices.step("follower: seq \(record.sequence)")
                try Self.take(record, &seen, after: start)
              }
            }
          }
        }
        while let record = try follower.next() { try Self.take(record, &seen, after: start) }
        let all = try JournalInspection(disk).records
        try choices.require(
          seen.records.filter { $0.sequence > start } == all.filter { $0.sequence > start },
          "the follower saw \(seen.records.map(\.sequence)) of \(all.map(\.sequence))")
      })
  }

  /// A follower that began after `start` may show a snapshot with records before it.
  private static func take(_ record: JournalRecord, _ seen: inout History, after start: UInt64)
    throws
  {
    if record.isSnapshot, seen.records.isEmpty || (seen.records.first?.sequence ?? 0) > 1 {
      let past = try History.expanded([record]).records(after: start)
      guard past.starts(with: seen.records), past.count > seen.records.count else {
        throw Falsified("a snapshot up to \(record.sequence) after all of it was seen")
      }
      seen = History()
    }
    try seen.take(record)
  }
}

extension [JournalRecord] {
  fileprivate func records(after start: UInt64) -> [JournalRecord] {
    filter { $0.sequence > start }
  }
}
