import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of the secret store's failures, transition by transition.
@Suite("The machine StorageWatch")
struct StorageWatchTests {
  private let write = StorageReport(
    item: .token, operation: .write, failure: .init(.noRoom, number: 28))
  private let wrote = StorageReport(item: .token, operation: .write)

  private func failed(
    _ item: SecretItem = .token, _ operation: StorageOperation = .write
  ) -> SessionNote {
    .storageFailed(.init(item: item, operation: operation, cause: .noRoom, number: 28))
  }

  private let recovered = SessionNote.storageRecovered(.init(item: .token, operation: .write))

  @Test("STO-5 working: a success notes nothing")
  func working() {
    var machine = StorageWatch()
    machine.take(wrote, at: 0)
    #expect(machine.notes.isEmpty && !machine.wantsCommit)
    #expect(machine == StorageWatch())
  }

  @Test("STO-5 failing: a run is noted once, with its first failure, and ends with a recovery")
  func run() {
    var machine = StorageWatch()
    machine.take(write, at: 0)
    #expect(machine.notes == [failed()] && machine.wantsCommit)
    machine.take(
      StorageReport(item: .token, operation: .write, failure: .init(.failed)), at: 90_000)
    #expect(machine.notes == [failed()])
    machine.take(wrote, at: 90_001)
    #expect(machine.notes == [failed(), recovered])
    machine.take(wrote, at: 90_002)
    #expect(machine.notes == [failed(), recovered])
  }

  @Test("STO-5 failing: each operation on each item has a run of its own")
  func subjects() {
    var machine = StorageWatch()
    machine.take(write, at: 0)
    for (item, operation) in [(SecretItem.user, StorageOperation.write), (.token, .read)] {
      machine.take(
        StorageReport(item: item, operation: operation, failure: write.failure), at: 0)
    }
    #expect(machine.notes == [failed(), failed(.user), failed(.token, .read)])
    machine.take(wrote, at: 1)
    #expect(machine.notes.count == 4 && machine.notes.last == recovered)
  }

  @Test("STO-5 failing: within a minute of the last note, a run is noted only if it lasts")
  func minute() {
    var machine = StorageWatch()
    machine.take(write, at: 0)
    machine.take(wrote, at: 1)
    machine.journaled()
    machine.take(write, at: 59_999)
    machine.noteLastingRuns(at: 59_999)
    #expect(machine.notes.isEmpty)
    var short = machine
    short.take(wrote, at: 60_000)
    #expect(short.notes.isEmpty, "a run that was not noted has no recovery")
    machine.noteLastingRuns(at: 60_000)
    #expect(machine.notes == [failed()])
    machine.noteLastingRuns(at: 200_000)
    #expect(machine.notes == [failed()])
  }

  @Test("STO-5 at most sixteen notes wait")
  func most() {
    var machine = StorageWatch()
    for run in 0..<9 {
      let uptime = Int64(run) * 60_000
      machine.take(write, at: uptime)
      machine.take(wrote, at: uptime + 1)
    }
    #expect(machine.notes.count == 16)
    machine.journaled()
    #expect(machine.notes.isEmpty)
    machine.take(write, at: 600_000)
    #expect(machine.notes == [failed()])
  }

  @Test("STO-5 held back: notes that could not be journaled wait for another batch")
  func heldBack() {
    var machine = StorageWatch()
    machine.take(write, at: 0)
    machine.notJournaled()
    #expect(machine.notes == [failed()] && !machine.wantsCommit)
    machine.take(wrote, at: 1)
    #expect(!machine.wantsCommit)
    machine.journaled()
    machine.take(write, at: 60_000)
    #expect(machine.notes == [failed()] && machine.wantsCommit)
  }
}

/// The failures of the secret store in a session's decisions.
extension StorageWatchTests {
  @Test("STO-5 a run of failures within a minute of the last note is noted after that minute")
  func lastingRun() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(OpenDecisionTests.login)])
    bench.tell(.opened(.session(1)))
    let failed = StorageReport(item: .token, operation: .write, failure: .init(.noRoom, number: 28))
    bench.tell(.stored([failed, StorageReport(item: .token, operation: .write)]))
    bench.advance(by: 40_000)
    bench.tell(.stored([failed]))
    bench.advance(by: 19_999)
    bench.tell(.stored([]))
    #expect(bench.names == ["login", "storageFailed", "storageRecovered"])
    bench.advance(by: 1)
    bench.tell(.stored([]))
    #expect(bench.names.suffix(2) == ["storageRecovered", "storageFailed"])
  }

  @Test("STO-5 each run of failures is noted once, and a short run within a minute not at all")
  func runs() throws {
    var bench = try CoordinatorBench(.benchKeeping, journal: [.event(OpenDecisionTests.login)])
    bench.tell(.opened(.session(1)))
    let failure = StorageReport.Failure(.noRoom, number: 28)
    let failed = StorageReport(item: .token, operation: .write, failure: failure)
    let worked = StorageReport(item: .token, operation: .write)
    for _ in 0..<3 { bench.tell(.stored([failed])) }
    #expect(bench.names == ["login", "storageFailed"])
    bench.tell(.stored([worked]))
    for _ in 0..<3 { bench.tell(.stored([failed, worked])) }
    #expect(bench.names == ["login", "storageFailed", "storageRecovered"])
    bench.advance(by: 60_000)
    bench.tell(.stored([failed, worked]))
    #expect(
      bench.names == [
        "login", "storageFailed", "storageRecovered", "storageFailed", "storageRecovered",
      ])
  }
}
