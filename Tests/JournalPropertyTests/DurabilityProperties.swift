import SessionJournal
import SessionTestKit
import Testing

@Suite("Durability that is left to the operating system")
struct DurabilityProperties {
  private static func open(_ process: SimulatedProcess, _ durability: JournalOptions.Durability)
    throws -> Journal
  { try Journal.open(at: journalPath, options: .init(durability: durability).on(process)) }

  @Test("JRN-2 a power cut leaves a prefix of whole batches, with all from before the opening")
  func powerCut() {
    expect(
      Property(
        "without a sync at each commit, a prefix of whole batches is left", cases: 300,
        requiredLabels: ["mixed", "alone"]
      ).check { choices in
        let disk = SimulatedDisk()
        var oracle = JournalOracle()
        let first = try Self.open(disk.process(), .everyCommit)
        try oracle.settle(first.identifier)
        for _ in 0..<choices.draw(in: 0...3) {
          _ = try first.append(oracle.submit(Self.sizes(choices)))
          oracle.decide(.acknowledged)
        }
        let fast = disk.process()
        let journal = try Self.open(fast, .operatingSystem)
        var durable = journal.lastSequence
        let isMixed = choices.chance(1, in: 2)
        choices.label(isMixed ? "mixed" : "alone")
        for _ in 0..<choices.draw(in: 1...6) {
          let isSynced = isMixed && choices.chance(1, in: 3)
          choices.step(isSynced ? "synced" : "left to the system")
          _ = try (isSynced ? first : journal).append(oracle.submit(Self.sizes(choices)))
          // A sync makes everything before it durable.
          guard isSynced else { continue }
          durable = first.lastSequence
          for number in oracle.batches.indices { oracle.decide(.acknowledged, of: number) }
        }
        try Self.checkClaims(disk)
        if choices.chance(1, in: 3) { disk.writeBack(choices) }

        // The death of a process loses nothing.
        let seen = try JournalInspection(disk.copy())
        try choices.require(
          seen.records.count == oracle.batches.reduce(0) { $0 + $1.drafts.count },
          "something is missing before the power fails")
        var recovery = Recovery(disk.crash(choices), oracle)
        try recovery.verify()
        let left = try JournalInspection(recovery.disk).lastSequence
        try choices.require(left >= durable, "seq \(durable) was durable, \(left) is the last")
      })
  }

  @Test("JRN-2 closing syncs: a power cut afterwards loses nothing")
  func closing() throws {
    let disk = SimulatedDisk()
    var oracle = JournalOracle()
    let journal = try Self.open(disk.process(), .operatingSystem)
    for size in [40, 700, 9] {
      _ = try journal.append(oracle.submit([size]))
      oracle.decide(.acknowledged)
    }
    #expect(try JournalInspection(disk.crash(.losingAll)).records.isEmpty)
    try journal.close()
    var recovery = Recovery(disk.crash(.losingAll), oracle)
    try recovery.verify()
  }

  /// No frame calls a record durable that a power cut can lose.
  private static func checkClaims(_ disk: SimulatedDisk) throws {
    let durable = try JournalInspection(disk.crash(.losingAll)).lastSequence
    var reader = try JournalReader(bytes: disk.contents(of: journalPath) ?? [])
    var most: UInt64 = 0
    try reader.visit { frame, _ in
      most = max(most, frame.durableSequence ?? 0)
      return true
    }
    guard most <= durable else {
      throw Falsified("a frame vouches for seq \(most), and \(durable) is durable")
    }
  }

  private static func sizes(_ choices: Choices) -> [Int] {
    (0..<choices.draw(in: 1...3)).map { _ in choices.draw(in: 0...400) }
  }
}

@Suite("The journal after a sync that failed")
struct FailedSyncProperties {
  /// A disk on which a failed sync dropped the pages of a batch that still reads back.
  private func failed() throws -> (SimulatedDisk, JournalRun) {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform(.append([40]))
    for number in 0..<12 {
      disk.fail(atCall: disk.callCount + number, with: .failedSync(written: 0, evicting: false))
    }
    try run.perform(.append([900]))
    disk.stopFaults()
    #expect(try JournalInspection(disk).records.count == 2)
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 1)
    return (disk, run)
  }

  @Test("J9 JRN-2 opening writes again what a failed sync left in memory only")
  func reopened() throws {
    var (disk, run) = try failed()
    try run.perform(.append([30]))
    #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 3)
    var recovery = Recovery(disk.crash(.losingAll), run.oracle)
    try recovery.verify()
  }

  @Test("J10 JRN-2 a full disk does not prevent opening and loses nothing later")
  func reopenedWithoutRoom() throws {
    var struck = 0
    for number in 0..<20 {
      let (disk, _) = try failed()
      // A file system that never writes in place has no room for the same bytes either.
      disk.fail(atCall: disk.callCount + number, with: .noSpace)
      guard let journal = try opened(disk),
        disk.trace.last(where: { $0.fault != nil })?.operation == .write
      else { continue }
      struck += 1
      #expect(journal.lastSequence == 2)
      _ = try journal.append([JournalDraft(kind: 1, payload: [1, 2, 3])])
      #expect(try JournalInspection(disk.crash(.losingAll)).records.count == 3)
    }
    #expect(struck == 1)
  }

  /// The journal; nil if the fault prevented opening.
  private func opened(_ disk: SimulatedDisk) throws -> Journal? {
    do throws(JournalError) { return try Journal.open(at: journalPath, options: .on(disk)) } catch {
      #expect(disk.trace.last { $0.fault != nil }?.operation != .write)
      return nil
    }
  }
}
