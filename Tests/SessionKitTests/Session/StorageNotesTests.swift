import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Testing

/// Failures of the secret store are journaled, if the journal can be written.
@Suite("A session: failures of the secret store are journaled")
struct StorageNotesTests {
  private func notes(_ bench: Bench) throws -> [SessionNote] {
    try bench.records().compactMap { record in
      switch record.content {
      case .note(let note) where [.storageFailed, .storageRecovered].contains(note.kind): note
      default: nil
      }
    }
  }

  @Test("STO-5 a failure to store a token is noted once, and so is its later success")
  func write() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let obstacle = bench.secrets + "/token.new"
    try FileManager.default.createDirectory(
      atPath: obstacle, withIntermediateDirectories: false)
    let refused = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .notStoredYet(because: .secrets(.obstructed))? = refused.failure else {
      Issue.record("\(String(describing: refused))")
      return
    }
    let failed = SessionNote.storageFailed(
      .init(item: .token, operation: .write, cause: .obstructed))
    try await eventually("the note") { try notes(bench) == [failed] }
    #expect(session.storageProblem != nil)
    for _ in 0..<5 {
      await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(1))
    }
    #expect(try notes(bench) == [failed])
    try FileManager.default.removeItem(atPath: obstacle)
    try await eventually("the token") {
      bench.clock.advance(by: .seconds(1))
      return try bench.eventNames().last == "refreshSucceeded"
    }
    let recovered = SessionNote.storageRecovered(.init(item: .token, operation: .write))
    try await eventually("the end of the run") { try notes(bench) == [failed, recovered] }
    #expect(session.storageProblem == nil)
    try await session.close()
  }

  @Test("STO-5 RES-3 a locked store is noted once at the opening, and so is its unlocking")
  func read() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    store.isAvailable = false
    let session = try await bench.open(store: store)
    let failed = SessionNote.storageFailed(
      .init(item: .token, operation: .read, cause: .unavailable))
    #expect(try notes(bench) == [failed])
    for _ in 0..<5 { await session.retry() }
    #expect(try notes(bench) == [failed])
    store.isAvailable = true
    await session.retry()
    let recovered = SessionNote.storageRecovered(.init(item: .token, operation: .read))
    #expect(try notes(bench) == [failed, recovered])
    #expect(session.currentToken != nil)
    try await session.close()
  }
}
