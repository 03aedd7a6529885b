import Foundation
import SessionJournal
import SessionTestKit
import SessionTesting
import Synchronization
import Testing

@Suite("Callers who wait for one write, and a disk that stops or fails")
struct CallerProperties {
  /// What the callers of one write hand in: sizes of drafts, and the sequence that they expect.
  private static let callers: [(sizes: [Int], expected: UInt64?)] = [
    ([30], nil), ([7, 90], nil), ([12], 1), ([200], nil), ([5000], nil), ([5, 6, 7], 99),
    ([300], nil),
  ]

  /// Those whose batch is refused for a reason of its own: decided on an older record, too large,
  /// decided on a later one.
  private static let wrong: Set<Int> = [2, 4, 5]

  /// A journal on which several callers' batches go into one write, and what they were told.
  private struct Group {
    let disk: SimulatedDisk
    let process: SimulatedProcess
    let journal: Journal
    var oracle = JournalOracle()

    /// The number that the write has when nothing fails.
    var write = 0

    init() throws {
      disk = SimulatedDisk()
      process = disk.process()
      var options = Journal.Options(maximumRecordSize: 4096).on(process)
      options.room = RoomRule(step: 512)
      journal = try Journal.open(at: journalPath, options: options)
      try oracle.settle(journal.identifier)
      for size in [40, 60] {
        _ = try journal.append(oracle.submit([size]))
        oracle.decide(.acknowledged)
      }
    }

    /// Hands in all batches while nobody can write, then lets them go into one write.
    mutating func append() throws -> [Result<Journal.Transaction, JournalError>?] {
      let batches = CallerProperties.callers.map { (oracle.submit($0.sizes), $0.expected) }
      let results = Mutex<[Int: Result<Journal.Transaction, JournalError>]>([:])
      let finished = DispatchSemaphore(value: 0)
      var started = 0
      do throws(JournalError) {
        _ = try journal.transact { _ in
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
          return []
        }
      } catch {
        guard started == 0 else { throw Falsified("nothing was written, and it fails: \(error)") }
      }
      for _ in 0..<started { finished.wait() }
      return results.withLock { results in batches.indices.map { results[$0] } }
    }

    /// What each was told against what may have become of its batch.
    mutating func judge(_ results: [Result<Journal.Transaction, JournalError>?]) throws {
      let first = oracle.batches.count - results.count
      for (number, result) in results.enumerated() {
        let isWrong = CallerProperties.wrong.contains(number)
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
  }

  /// The calls of a group that nothing befalls, its write among them.
  private static func calls() throws -> [DiskCall] {
    var group = try Group()
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

  @Test("JRN-2 A death at every byte of a write of several callers: each batch whole or not there")
  func death() throws {
    let write = try #require(try Self.calls().first { $0.operation == .write })
    expect(
      Property("a death in a write of several callers").exhaustive { choices in
        // The last batch ends here; behind it stand only zeros.
        let bytes = choices.draw(in: 0...780)
        var group = try Group()
        group.disk.fail(atCall: write.number, with: .death(afterBytes: min(bytes, write.bytes)))
        try group.judge(try group.append())
        try choices.require(!group.process.isAlive, "the write is another one")
        let cut = CrashProperties.cut(UInt64(bytes % 3), seed: UInt64(bytes))
        var recovery = Recovery(group.disk.crash(cut), group.oracle)
        try recovery.verify()
      })
  }

  @Test("JRN-2 Every fault at every call of a write of several callers: all are told, none is lost")
  func faults() throws {
    let calls = try Self.calls()
    expect(
      Property("a fault at any call of a write of several callers").exhaustive { choices in
        guard let call = choices.pick(calls) else { return }
        let fault = choices.pick(FaultProperties.faults + [.death(afterBytes: 0)]) ?? .inputOutput
        choices.step("\(call) \(fault)")
        var group = try Group()
        group.disk.fail(atCall: call.number, with: fault)
        try group.judge(try group.append())
        guard group.disk.trace.contains(where: { $0.fault != nil }) else { throw Discard() }
        let cut = CrashProperties.cut(choices.draw(below: 3), seed: UInt64(call.number))
        var recovery = Recovery(group.disk.crash(cut), group.oracle)
        try recovery.verify()
      })
  }
}

extension JournalError {
  /// Whether the batch may be there all the same.
  fileprivate var leavesItOpen: Bool {
    if case .io(_, let operation, _) = self { operation == "sync" } else { false }
  }
}
