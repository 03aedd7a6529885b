import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("An unusable journal, read before it is quarantined")
struct QuarantinedJournalTests {
  /// The bytes of a journal that has damage in front of most of its records.
  private func damaged() throws -> [UInt8] {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets) = (SimulatedDisk(), MemorySecretStore())
    let configuration = try world.configuration(
      in: disk.process(), secrets: secrets, policy: .edu(.staging))
    try world.run {
      let session = try await Session.open(configuration)
      try await session.login(.sample)
      for _ in 0..<3 { try await session.refresh() }
      try await session.close()
    }
    let path = try #require(disk.paths.first { disk.contents(of: $0)?.count ?? 0 > 64 })
    var bytes = try #require(disk.contents(of: path))
    bytes[64 + 40] ^= 1
    return bytes
  }

  /// What is known of the journal, as text.
  private func read(_ disk: SimulatedDisk) throws -> String {
    let found = try #require(
      try QuarantinedJournal.read("x.journal", JournalOptions().on(disk.process())))
    return "\(found.link) \(found.state) \(found.ended) \(found.hasLaterEvents)"
  }

  @Test("RES-6 a read error is thrown, or changes nothing of what is known of the journal")
  func readErrors() throws {
    let bytes = try damaged()
    let intact = SimulatedDisk()
    intact.place(bytes, at: "x.journal")
    let known = try read(intact)
    let reads = intact.trace.filter { $0.operation == .read }
    #expect(reads.count > 3)
    var thrown = 0
    for call in reads {
      let disk = SimulatedDisk()
      disk.place(bytes, at: "x.journal")
      disk.fail(atCall: call.number, with: .inputOutput)
      do throws(SessionError) {
        let found = try QuarantinedJournal.read(
          "x.journal", JournalOptions().on(disk.process()))
        let text = found.map { "\($0.link) \($0.state) \($0.ended) \($0.hasLaterEvents)" }
        #expect(text == known, "\(call)")
      } catch {
        thrown += 1
        #expect(error.code == .storage, "\(call)")
      }
    }
    #expect(thrown > 0)
  }
}
