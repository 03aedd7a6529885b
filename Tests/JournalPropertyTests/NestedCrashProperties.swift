import SessionJournal
import SessionTestKit
import Testing

@Suite("A crash in a compaction, and a crash in the next opening")
struct NestedCrashProperties {
  /// The effects of a power cut on sectors, sizes and names: kept, lost or torn.
  private static var cuts: [PowerCut] {
    [
      .keepingAll, .losingAll, cut(.new, names: 0), cut(.old, names: ~0),
      cut(.tornBehind(77), names: ~0), cut(.tornBehind(77), names: 0),
      cut(.tornBefore(300), names: 0b0101), cut(.garbage(3), names: 0b1010),
    ]
  }

  /// The bits of `names` choose which renames happened; the size is the present one.
  private static func cut(_ fate: SectorFate, names: Int) -> PowerCut {
    PowerCut(
      sector: { _ in fate }, size: { $0.first ?? 0 },
      changes: { count in (0..<count).filter { names >> $0 & 1 == 1 } })
  }

  /// The disk after a process died at a call of a compaction, before the power fails.
  private struct Wreck {
    let disk: SimulatedDisk
    let oracle: JournalOracle
    let call: DiskCall
  }

  /// Whether a death before the call has another result than one before the next call.
  ///
  /// The lock is released at the end.
  private static func changes(_ call: DiskCall) -> Bool {
    switch call.operation {
    case .create, .createOnly, .write, .truncate, .rename, .remove, .synchronize, .synchronizeData,
      .synchronizeFolder, .unlock:
      true
    case .open, .openForWriting, .inspect, .inspectPath, .list, .read, .nextData, .lock: false
    }
  }

  /// A death before each call of a compaction, and in the middle of each of its writes.
  private static func wrecks() throws -> [Wreck] {
    try CompactionProperties.Dry().calls.filter(changes).flatMap { call -> [Wreck] in
      let halves = call.operation == .write ? [0, call.bytes / 2] : [0]
      return try halves.map { bytes in
        let disk = SimulatedDisk()
        var run = JournalRun(disk)
        try run.perform(CompactionProperties.before)
        disk.fail(atCall: call.number, with: .death(afterBytes: bytes))
        try run.perform(CompactionProperties.script[0])
        return Wreck(disk: disk, oracle: run.oracle, call: call)
      }
    }
  }

  @Test("JRN-2 JRN-4 a crash at each call of a compaction and of the next opening loses nothing")
  func compactionThenOpening() throws {
    let wrecks = try Self.wrecks()
    #expect(wrecks.count >= 10)
    expect(
      Property(
        "after two crashes a compacted journal is whole",
        requiredLabels: ["a process died", "the power failed", "struck"]
      ).exhaustive { choices in
        guard let wreck = choices.pick(wrecks) else { return }
        // Without a power cut, unsynced writes of the dead process can still be lost.
        let first = choices.draw(in: 0...Self.cuts.count)
        let number = choices.draw(in: 0...40)
        try choices.look(Sweep("two crashes", takingOneOf: 8))
        let disk = first == 0 ? wreck.disk.copy() : wreck.disk.crash(Self.cuts[first - 1])
        choices.label(first == 0 ? "a process died" : "the power failed")
        disk.fail(atCall: number, with: .death(afterBytes: 20))
        choices.step("\(wreck.call), cut \(first), then at call \(number)")
        var run = JournalRun(disk, oracle: wreck.oracle)
        try run.perform(.catchUp)
        guard let struck = disk.trace.first(where: { $0.fault != nil }), Self.changes(struck)
        else { throw Discard() }
        choices.label("struck")
        choices.step("\(struck)")
        guard let second = choices.pick(Self.cuts) else { return }
        var recovery = Recovery(disk.crash(second), run.oracle)
        try recovery.verify()
      })
  }

  @Test(
    "JRN-2 JRN-4 a death in a compaction and one in another process that opens its file lose nothing"
  )
  func compactionThenCrossing() throws {
    let setting: [(place: Int, step: JournalStep)] = [
      (0, .append([40])), (1, .append([3, 60])), (0, .append([20])),
    ]
    func run(_ disk: SimulatedDisk) throws -> JournalRun {
      var run = JournalRun(disk, processes: 2)
      for (place, step) in setting { try run.perform(step, by: place) }
      return run
    }
    let dry = SimulatedDisk()
    var whole = try run(dry)
    let start = dry.callCount
    try whole.perform(.compact(1), by: 0)
    let calls = dry.trace.filter { $0.number >= start && Self.changes($0) }
    #expect(calls.count >= 8)
    expect(
      Property("after two deaths a journal that two compact is whole").exhaustive { choices in
        guard let call = choices.pick(calls) else { return }
        // The other process has the old file open.
        let step = choices.pick([.append([9]), .compact(0)] as [JournalStep]) ?? .catchUp
        let later = choices.draw(in: 0...70)
        try choices.look(Sweep("two deaths", takingOneOf: 8))
        let disk = SimulatedDisk()
        var run = try run(disk)
        disk.fail(atCall: call.number, with: .death(afterBytes: 20))
        try run.perform(.compact(1), by: 0)
        let number = disk.callCount + later
        disk.fail(atCall: number, with: .death(afterBytes: 20))
        choices.step("\(call), then \(step) and call \(number)")
        try run.perform(step, by: 1)
        guard let struck = disk.trace.first(where: { $0.number == number }), Self.changes(struck)
        else { throw Discard() }
        choices.step("\(struck)")
        guard let cut = choices.pick(Array(Self.cuts.prefix(5))) else { return }
        var recovery = Recovery(disk.crash(cut), run.oracle)
        try recovery.verify()
      })
  }
}
