import Foundation
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@Suite("Batches of several callers in one write")
struct GroupProperties {
  /// The batches of the callers of one write: sizes of drafts, and the expected sequence.
  private static let callers: [(sizes: [Int], expected: UInt64?)] = [
    ([30], nil), ([7, 90], nil), ([12], 1), ([200], nil), ([5000], nil), ([5, 6, 7], 99),
    ([300], nil),
  ]

  /// Batches that are refused for a reason of their own: an older record expected, too large,
  /// a later record expected.
  private static let wrong: Set<Int> = [2, 4, 5]

  /// The number of bytes of the other batches.
  private static let batchBytes: Int = {
    let written = callers.indices.filter { !wrong.contains($0) }
    let sizes: [Int] = written.flatMap { callers[$0].sizes }
    return sizes.reduce(0) { $0 + JournalFrame.headerSize + JournalFrame.padded($1) }
  }()

  /// A journal on which batches of several callers share one write, and the callers' results.
  private struct Group {
    let disk: SimulatedDisk
    let process: SimulatedProcess
    let journal: Journal
    var oracle = JournalOracle()

    init(room: UInt64) throws {
      disk = SimulatedDisk()
      process = disk.process()
      var options = JournalOptions(maximumRecordSize: 4096).on(process)
      options.room = PreallocationRule(step: room)
      journal = try Journal.open(at: journalPath, options: options)
      try oracle.settle(journal.identifier)
      for size in [40, 60] {
        _ = try journal.append(oracle.submit([size]))
        oracle.decide(.acknowledged)
      }
    }

    /// Submits all batches while the journal is locked, then lets them share one write.
    mutating func append() throws -> [Result<JournalTransaction, JournalError>?] {
      let batches = GroupProperties.callers.map { (oracle.submit($0.sizes), $0.expected) }
      let results = Mutex<[Int: Result<JournalTransaction, JournalError>]>([:])
      let finished = DispatchSemaphore(value: 0)
      var started = 0
      do throws(JournalError) {
        try journal.locked { _ in
          for (number, (drafts, expected)) in batches.enumerated() {
            Thread.detachNewThread { [journal] in
              let result = Result { () throws(JournalError) in
                try journal.append(drafts, ifLastIs: expected)
              }
              results.withLock { $0[number] = result }
              finished.signal()
            }
            started += 1
            while journal.waitingCount < started { sched_yield() }
          }
        }
      } catch {
        guard started == 0 else { throw Falsified("nothing was written, and it fails: \(error)") }
      }
      for _ in 0..<started { finished.wait() }
      return results.withLock { results in batches.indices.map { results[$0] } }
    }

    /// Compares each caller's result with the possible outcomes of its batch.
    mutating func judge(_ results: [Result<JournalTransaction, JournalError>?]) throws {
      let first = oracle.batches.count - results.count
      for (number, result) in results.enumerated() {
        let isWrong = GroupProperties.wrong.contains(number)
        switch result {
        case .success(let done)?:
          guard !isWrong else { throw Falsified("caller \(number) should have been refused") }
          let drafts = oracle.batches[first + number].drafts
          guard done.appended.map(\.payload) == drafts.map(\.payload) else {
            throw Falsified("caller \(number) was told of another batch: \(done)")
          }
          oracle.decide(.acknowledged, of: first + number)
        case nil:
          oracle.decide(.refused, of: first + number)
        case .failure(let error)?:
          try judge(error, number, isWrong)
          let isOpen = !isWrong && (!process.isAlive || error.leavesItOpen)
          oracle.decide(isOpen ? .open : .refused, of: first + number)
        }
      }
    }

    private func judge(_ error: JournalError, _ number: Int, _ isWrong: Bool) throws {
      switch error {
      case .conflict, .recordTooLarge:
        if !isWrong { throw Falsified("caller \(number) has another's error: \(error)") }
      case .io, .diskFull, .poisoned: break
      default: throw Falsified("a disk that fails made the journal say: \(error)")
      }
    }

    /// Appends another batch; only a poisoned journal refuses it.
    mutating func goOn() throws {
      guard process.isAlive else { return }
      let drafts = oracle.submit([500])
      do throws(JournalError) {
        _ = try journal.append(drafts)
        oracle.decide(.acknowledged)
      } catch {
        guard case .poisoned = error else { throw Falsified("the fault is over: \(error)") }
        oracle.decide(.refused)
      }
    }
  }

  /// The calls of a group without a fault, including its write.
  private static func calls(room: UInt64) throws -> [DiskCall] {
    var group = try Group(room: room)
    let start = group.disk.callCount
    let results = try group.append()
    try group.judge(results)
    for (number, result) in results.enumerated() {
      let isAppended: Bool = if case .success = result { true } else { false }
      #expect(isAppended == !wrong.contains(number))
    }
    let calls = group.disk.trace.filter { $0.number >= start }
    #expect(calls.count { $0.operation == .write } == 1)
    #expect(calls.count { $0.operation == .synchronizeData } == 1)
    return calls
  }

  @Test("J17 JRN-2 a death at any byte of a shared write leaves each batch whole or absent")
  func death() throws {
    for room in [0, 512] as [UInt64] {
      let write = try #require(try Self.calls(room: room).first { $0.operation == .write })
      expect(
        Property(
          "a death in a write of several callers, room \(room)", regressions: RegressionFolder()
        ).exhaustive { choices in
          // Only zeros follow the batches.
          let bytes = choices.draw(in: 0...Self.batchBytes)
          try choices.look(Sweep("death in a group's write, room \(room)", takingOneOf: 16))
          var group = try Group(room: room)
          group.disk.fail(atCall: write.number, with: .death(afterBytes: bytes))
          try group.judge(try group.append())
          try choices.require(!group.process.isAlive, "the write is another one")
          let cut = CrashProperties.cut(UInt64(bytes % 3), seed: UInt64(bytes))
          var recovery = Recovery(group.disk.crash(cut), group.oracle)
          try recovery.verify()
        })
    }
  }

  @Test(
    "J18 JRN-2 after a fault at any call of a shared write, every caller gets a result and none is lost"
  )
  func faults() throws {
    for room in [0, 512] as [UInt64] {
      let calls = try Self.calls(room: room)
      expect(
        Property(
          "a fault at any call of a write of several callers, room \(room)",
          regressions: RegressionFolder()
        ).exhaustive { choices in
          guard let call = choices.pick(calls) else { return }
          let fault =
            choices.pick(FaultProperties.faults + [.death(afterBytes: 0)]) ?? .inputOutput
          try choices.look(Sweep("faults of a group's write, room \(room)", takingOneOf: 8))
          choices.step("\(call) \(fault)")
          var group = try Group(room: room)
          group.disk.fail(atCall: call.number, with: fault)
          try group.judge(try group.append())
          guard group.disk.trace.contains(where: { $0.fault != nil }) else { throw Discard() }
          try group.goOn()
          let cut = CrashProperties.cut(choices.draw(below: 3), seed: UInt64(call.number))
          var recovery = Recovery(group.disk.crash(cut), group.oracle)
          try recovery.verify()
        })
    }
  }

  @Test(
    "J22 JRN-2 without room at any byte, the batches that fit are taken and the rest are refused")
  func noRoom() throws {
    expect(
      Property(
        "of a write without room the batches that fit are taken", regressions: RegressionFolder()
      )
      .exhaustive { choices in
        let disk = SimulatedDisk()
        let journal = try Journal.open(at: journalPath, options: .on(disk))
        let batches = [40, 3, 600, 7].map {
          [JournalDraft(kind: 1, payload: [UInt8](repeating: 9, count: $0))]
        }
        let bytes = choices.draw(in: 0...800)
        disk.room = bytes
        var end = 0
        for (drafts, outcome) in zip(batches, journal.append(together: batches)) {
          end += 32 + (drafts[0].payload.count + 7) / 8 * 8
          let isTaken: Bool = if case .success = outcome { true } else { false }
          try choices.require(isTaken == (end <= bytes), "\(end) of \(bytes): taken \(isTaken)")
        }
        disk.room = nil
        let found = try JournalInspection(disk)
        try choices.require(found.ending == .clean, "\(found.ending)")
        let more = try journal.append([JournalDraft(kind: 1, payload: [])])
        try choices.require(more.appended[0].sequence == found.lastSequence + 1, "a gap")
      })
  }

  @Test(
    "J20 JRN-1 an append that expects another last record is refused and changes nothing")
  func expectations() {
    expect(
      Property(
        "an append lands behind the record it expects", cases: 200, regressions: RegressionFolder()
      )
      .check { choices in
        let disk = SimulatedDisk()
        let mine = try Journal.open(at: journalPath, options: .on(disk))
        let other = try Journal.open(at: journalPath, options: .on(disk))
        var records: [UInt64] = []
        for _ in 0..<choices.draw(in: 1...8) {
          if choices.chance(1, in: 3) {
            let done = try other.append([JournalDraft(kind: 2, payload: [])])
            records += done.appended.map(\.sequence)
          }
          let last = records.last ?? 0
          let expected = choices.pick([last, last + 1, records.dropLast().last ?? 7]) ?? last
          let isRight = expected == last
          do {
            let done = try mine.append([JournalDraft(kind: 1, payload: [])], ifLastIs: expected)
            try choices.require(isRight, "appended behind \(last), expected \(expected)")
            records += done.appended.map(\.sequence)
          } catch let error as JournalError {
            let conflict = JournalError.conflict(
              path: journalPath, expected: expected, found: last)
            try choices.require(error == conflict && !isRight, "\(error)")
          }
        }
        let found = try JournalInspection(disk).records.map(\.sequence)
        try choices.require(found == records, "\(found) for \(records)")
      })
  }
}

extension JournalError {
  /// Whether the batch may be in the journal despite the error.
  fileprivate var leavesItOpen: Bool {
    if case .io(_, let operation, _) = self { operation == "sync" } else { false }
  }
}
