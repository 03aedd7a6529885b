@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

/// Another process appends a record directly before one process takes the journal's lock.
@Suite("A simulated world: records of another process")
struct PeerRecordTests {
  private struct Life {
    var locks: [Int] = []
    /// The last sequence that the process knows, and the last one of the journal.
    var known: UInt64 = 0
    var last: UInt64 = 0
  }

  /// A login, a refresh and a logout whose revocation succeeds.
  private func live(appendingBefore call: Int?) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets) = (SimulatedDisk(), MemorySecretStore())
    let configuration = try world.configuration(
      in: disk.process(), secrets: secrets, policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    let began = disk.trace.count
    if let call {
      let peer = JournalOptions().on(disk.process())
      disk.before(call: call) {
        do throws(JournalError) {
          let journal = try Journal.open(at: configuration.journal, options: peer)
          _ = try journal.append([JournalDraft(.note(.clockSkew(90_000)), at: .plainStart)])
          try journal.close()
        } catch {
          // The process holds the lock already at this call.
          if case .busy = error {} else { Issue.record("call \(call): \(error)") }
        }
      }
    }
    try world.run {
      try await session.login(.sample)
      try await session.refresh()
      try await session.logout()
    }
    world.run(for: .seconds(30))
    var life = Life()
    life.locks = disk.trace[began...].filter { $0.operation == .lock }.map(\.number)
    life.known = try world.run {
      try await session.enterForeground()
      return await session.engine.coordinator.fold.sequence
    }
    var reader = try JournalReader(
      bytes: try #require(disk.contents(of: configuration.journal)), name: "journal")
    while let record = try reader.next() { life.last = record.sequence }
    try world.run { try await session.close() }
    return life
  }

  @Test("JRN-3 OUT-1 a process learns of a record that was appended before it took any lock")
  func beforeEachLock() throws {
    let alone = try live(appendingBefore: nil)
    #expect(alone.known == alone.last && alone.locks.count > 5)
    var appended = 0
    for call in alone.locks {
      let life = try live(appendingBefore: call)
      #expect(life.known == life.last, "call \(call)")
      if life.last > alone.last { appended += 1 }
    }
    #expect(appended > 5)
  }
}
