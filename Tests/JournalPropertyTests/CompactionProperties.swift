import SessionJournal
import SessionTestKit
import Testing

@Suite("Compaction and a disk that stops or fails")
struct CompactionProperties {
  /// A compacted file, appended to, before its next compaction.
  static let before: [JournalStep] = [
    .append([40]), .append([3, 60]), .compact(2), .append([90]), .close, .append([20, 7]),
    .transact([5]),
  ]

  /// Everything from the second compaction on.
  static let script: [JournalStep] = [.compact(4), .append([30]), .page, .compact(0), .catchUp]

  /// The journal before and after the compaction under test, and the system calls of it.
  struct Dry {
    let old: [UInt8]
    let new: [UInt8]
    let calls: [DiskCall]

    init() throws {
      let disk = SimulatedDisk()
      var run = JournalRun(disk)
      try run.perform(CompactionProperties.before)
      let start = disk.callCount
      old = disk.contents(of: journalPath) ?? []
      try run.perform(CompactionProperties.script[0])
      new = disk.contents(of: journalPath) ?? []
      calls = disk.trace.filter { $0.number >= start }
      let inspection = try JournalInspection(disk)
      #expect(inspection.records.count == 7)
      #expect(old != new)
      #expect(disk.contents(of: journalPath + ".new") == nil)
    }

    /// The file must equal one of the two, byte for byte.
    func check(_ disk: SimulatedDisk) throws {
      let found = disk.contents(of: journalPath)
      guard isSame(found, old) || isSame(found, new) else {
        throw Falsified("\(found?.count ?? 0) bytes are neither the old file nor the new one")
      }
    }
  }

  private static let fates: [SectorFate] = [.new, .old, .zeros, .garbage(5), .tornBehind(77)]

  /// Injects a fault into one call of the compaction, and returns the disk afterwards.
  private static func struck(_ call: DiskCall, by fault: DiskFault) throws
    -> (SimulatedDisk, JournalRun)
  {
    let disk = SimulatedDisk()
    var run = JournalRun(disk)
    try run.perform(before)
    disk.fail(atCall: call.number, with: fault)
    try run.perform(script[0])
    return (disk, run)
  }

  @Test("JRN-4 a process death before any call of a compaction leaves the old file or the new")
  func deathBetweenCalls() throws {
    let dry = try Dry()
    #expect(dry.calls.count > 30)
    for operation: DiskOperation in [
      .createOnly, .write, .synchronize, .rename, .synchronizeFolder,
    ] {
      #expect(dry.calls.contains { $0.operation == operation })
    }
    expect(
      Property("a death in a compaction leaves the old or the new").exhaustive { choices in
        guard let call = choices.pick(dry.calls) else { return }
        choices.step("\(call)")
        let fate = choices.pick(Self.fates) ?? .new
        let happened = choices.pick([0b00, 0b01, 0b10, 0b11]) ?? 0
        let size = choices.draw(in: 0...1)
        try choices.look(Sweep("death in a compaction", takingOneOf: 10))
        let (disk, run) = try Self.struck(call, by: .death(afterBytes: 0))
        // Names are lost or kept, independently of the sectors.
        let cut = PowerCut(
          sector: { _ in fate }, size: { $0[size * ($0.count - 1)] },
          changes: { count in (0..<count).filter { happened >> ($0 % 2) & 1 == 1 } })
        let after = disk.crash(cut)
        try dry.check(after)
        var recovery = Recovery(after, run.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-4 a process death inside any write of a compaction leaves the old file")
  func deathInsideWrites() throws {
    let dry = try Dry()
    let writes = dry.calls.filter { $0.operation == .write }
    #expect(writes.count >= 2)
    expect(
      Property("a death inside a write of a compaction leaves the old file").exhaustive { choices in
        guard let call = choices.pick(writes) else { return }
        let bytes = choices.draw(in: 0...call.bytes)
        try choices.look(Sweep("death in a compaction's write", takingOneOf: 8))
        let (disk, run) = try Self.struck(call, by: .death(afterBytes: bytes))
        let after = disk.crash(CrashProperties.cut(UInt64(bytes % 3), seed: UInt64(bytes)))
        try choices.require(
          after.contents(of: journalPath) == dry.old, "the old file is not as it was")
        var recovery = Recovery(after, run.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-4 with any fate of each unsynced sector, the old file or the new one is left")
  func sectors() throws {
    let dry = try Dry()
    expect(
      Property("every subset of unsynced sectors of a compaction").exhaustive { choices in
        guard let call = choices.pick(dry.calls) else { return }
        let (disk, run) = try Self.struck(call, by: .death(afterBytes: 0))
        guard !disk.unsyncedSectors.isEmpty else { throw Discard() }
        // The file may have its name before the folder is synced.
        let cut = PowerCut(
          sector: { _ in choices.pick(Self.fates.filter { $0 != .zeros }) ?? .new },
          size: { choices.pick($0) ?? 0 })
        let after = disk.crash(cut)
        try dry.check(after)
        var recovery = Recovery(after, run.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-4 after a fault at any call of a compaction the journal continues or reports an error")
  func faults() throws {
    let dry = try Dry()
    let rename = try #require(dry.calls.first { $0.operation == .rename }?.number)
    let create = try #require(dry.calls.first { $0.operation == .createOnly }?.number)
    expect(
      Property("a fault at any call of a compaction").exhaustive { choices in
        guard let call = choices.pick(dry.calls) else { return }
        let fault = choices.pick(FaultProperties.faults) ?? .inputOutput
        choices.step("\(call) \(fault)")
        try choices.look(Sweep("faults of a compaction", takingOneOf: 2))
        let disk = SimulatedDisk()
        var run = JournalRun(disk)
        try run.perform(Self.before)
        disk.fail(atCall: call.number, with: fault)
        try run.perform(Self.script[0])
        guard disk.trace.contains(where: { $0.fault != nil }) else { throw Discard() }
        if call.number >= create, call.number <= rename {
          // The old file was not touched, so only the compaction is lost.
          try choices.require(!run.isPoisoned(), "a failed attempt poisons the journal")
          try choices.require(
            disk.contents(of: journalPath + ".new") == nil, "half a file is left")
        }
        try dry.check(disk)
        try run.perform(Array(Self.script.dropFirst()))
        let cut = CrashProperties.cut(choices.draw(below: 3), seed: UInt64(call.number))
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-4 a new file with any wrong byte never replaces the old one")
  func lyingWrites() throws {
    let dry = try Dry()
    let writes = dry.calls.filter { $0.operation == .write }
    expect(
      Property("a compacted file that is not as it was written is not taken").exhaustive {
        choices in
        guard let call = choices.pick(writes) else { return }
        let byte = choices.draw(in: 0...(call.bytes - 1))
        try choices.look(Sweep("lying writes", takingOneOf: 8))
        let (disk, run) = try Self.struck(call, by: .flippedBit(8 * byte + byte % 8))
        try choices.require(
          disk.contents(of: journalPath) == dry.old, "the file is not the old one")
        try choices.require(disk.contents(of: journalPath + ".new") == nil, "a file is left")
        var going = run
        try going.perform(Array(Self.script.dropFirst()))
        var recovery = Recovery(disk.crash(.losingAll), going.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-4 without room at any byte, the new file is removed and the journal continues")
  func noRoom() throws {
    let dry = try Dry()
    expect(
      Property("no room for a compaction").exhaustive { choices in
        let room = choices.draw(in: 0...(dry.new.count + 10))
        try choices.look(Sweep("room for a compaction", takingOneOf: 8))
        let disk = SimulatedDisk()
        var run = JournalRun(disk)
        try run.perform(Self.before)
        disk.room = room
        try run.perform(.compact(4))
        try choices.require(
          disk.contents(of: journalPath) == (room < dry.new.count ? dry.old : dry.new),
          "\(room) bytes of room")
        try choices.require(disk.contents(of: journalPath + ".new") == nil, "a file is left")
        disk.room = nil
        try run.perform([.append([30]), .compact(1), .page])
        var recovery = Recovery(disk.crash(.losingAll), run.oracle)
        try recovery.verify()
      })
  }
}
