@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionChanges
@testable import SessionKit

/// A change log whose process dies at each of its calls of the disk.
@Suite("A change log whose process dies")
struct ChangeCrashTests {
  private enum Remains: CaseIterable { case all, synced, drawn }

  /// The results of one life.
  private struct Life {
    let disk: SimulatedDisk
    var calls = 0
    var hasDied = false
    /// The keys of the adds that returned, and of those that were requested.
    var added: [Identifier] = []
    var asked: [Identifier] = []
  }

  private let path = "/app/changes.journal"

  private func open(_ disk: SimulatedDisk, _ process: SimulatedProcess, _ bench: ChangeBench)
    async throws -> ChangeLog
  {
    var setup = ChangeLog.Setup()
    setup.clock = bench.clock
    setup.options = .on(process)
    setup.compactedAfter = 6
    // No process has this number, so the process counts as dead.
    setup.presence = ChangeBench.presence(ofProcess: UInt32(Int32.max))
    return try await ChangeLog.open(at: path, setup)
  }

  /// Adds and sends in turns, until the end or the death.
  private func live(
    _ bench: ChangeBench, _ server: ChangeServer, dyingAt call: Int?, bytes: Int = 0
  )
    async throws -> Life
  {
    var life = Life(disk: SimulatedDisk())
    let process = life.disk.process()
    if let call { life.disk.fail(atCall: call, with: .death(afterBytes: bytes)) }
    do {
      let log = try await open(life.disk, process, bench)
      for round in 0..<3 {
        for number in 1...3 {
          let key = Identifier("k\(3 * round + number)")
          life.asked.append(key)
          try await log.add(
            ChangeBench.change(.create, 3 * round + number, key: key), through: bench.gate)
          life.added.append(key)
        }
        server.answer(.done, .tryLater("503"))
        _ = try await log.drain(through: bench.gate) { server.take($0) }
        bench.clock.advance(by: .seconds(60))
        _ = try await log.drain(through: bench.gate) { server.take($0) }
      }
      try await log.close()
    } catch let error as ChangeLogError {
      guard !process.isAlive else { throw error }
    }
    life.calls = life.disk.callCount
    life.hasDied = !process.isAlive
    return life
  }

  /// The keys whose acknowledgement the file holds.
  private func acknowledged(_ disk: SimulatedDisk) async throws -> Set<Identifier> {
    guard disk.contents(of: path) != nil else { return [] }
    var reader = try JournalReader(path: path, on: disk)
    var (queue, waiting): (ChangeQueue, Set<Identifier>) = (ChangeQueue(), [])
    var added: Set<Identifier> = []
    while let raw = try reader.next() {
      guard raw.kind != 0xFF,
        let record = try ChangeCodec.decode(
          sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
      else { continue }
      try queue.apply(record)
      if case .event(.added(let add)) = record.content { added.insert(add.change.key) }
      waiting = Set(queue.pending.map(\.change.key))
    }
    return added.subtracting(waiting)
  }

  @Test(
    """
    SYN-2 JRN-2 after a death at any call, no change is lost, reordered, or sent after its \
    acknowledgement
    """)
  func everyCall() async throws {
    let whole = try await live(ChangeBench(), ChangeServer(), dyingAt: nil)
    #expect(!whole.hasDied && whole.added.count == 9 && whole.calls > 100)
    var reader = try JournalReader(path: path, on: whole.disk)
    #expect(try reader.next()?.isSnapshot == true, "the sweep goes through compactions too")
    let calls = Sweep("a change log dies", takingOneOf: 12).places(of: 0..<whole.calls)
    for call in calls {
      for bytes in [0, 40] {
        for remains in Remains.allCases {
          try await sweep(call, bytes, remains)
        }
      }
    }
  }

  private func sweep(_ call: Int, _ bytes: Int, _ remains: Remains) async throws {
    let place = "death at call \(call) after \(bytes) bytes, left: \(remains)"
    let (bench, server) = (try ChangeBench(), ChangeServer())
    let life = try await live(bench, server, dyingAt: call, bytes: bytes)
    #expect(life.hasDied, "\(place): it lives")
    let disk =
      switch remains {
      case .all: life.disk.copy()
      case .synced: life.disk.crash(.losingAll)
      case .drawn: life.disk.crash(Choices(seed: UInt64(call)))
      }
    let settled = try await acknowledged(disk)
    let before = server.arrivals
    bench.clock.advance(by: .seconds(60))
    let log = try await open(disk, disk.process(), bench)
    server.clearAnswers()
    let drained = try await log.drain(through: bench.gate) { server.take($0) }
    #expect(drained.ending == .empty, "\(place): \(drained)")
    let after = server.arrivals.dropFirst(before.count)
    #expect(
      settled.isDisjoint(with: after), "\(place): \(after) after \(settled) was acknowledged")
    let firsts = server.arrivals.reduce(into: [Identifier]()) { keys, key in
      if !keys.contains(key) { keys.append(key) }
    }
    // The change during which it died may be there or not.
    #expect(
      firsts == life.added || firsts == life.asked, "\(place): \(firsts), added \(life.added)")
    let isInOrder = zip(server.arrivals, server.arrivals.dropFirst()).allSatisfy { left, right in
      (firsts.firstIndex(of: left) ?? 0) <= (firsts.firstIndex(of: right) ?? 0)
    }
    #expect(isInOrder, "\(place): \(server.arrivals)")
    try await log.close()
  }
}
