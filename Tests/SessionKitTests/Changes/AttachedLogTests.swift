import Foundation
import SessionCore
import SessionTestKit
import Testing

@testable import SessionChanges
@testable import SessionKit

/// A change log and the session that it is settled with.
@Suite("A change log that is settled")
struct AttachedLogTests {
  @Test("OUT-3 a logout of a session that is closed holds nobody")
  func closed() async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    try await session.close()
    await #expect(throws: SessionError.closed) { try await session.logout() }
    let again = try await Session.open(configuration)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: again.gate)
    try await again.close()
  }

  @Test("LOG-6 SYN-4 what another process has kept of a user's status is known at once")
  func statusOfOthers() async throws {
    let bench = try ChangeBench()
    let (mine, its) = (try await bench.open(), try await bench.open())
    var configuration = SessionConfiguration(
      journal: bench.folder.path + "/a.journal", secrets: MemorySecretStore(),
      preset: .off(try #require(URL(string: "http://localhost"))))
    configuration.attach(mine)
    let time = Timestamp(milliseconds: 7)
    try await its.noteStatus(changedAt: time, scope: ChangeLog.scope(of: "u-1"))
    #expect(await configuration.lastKnownStatus(of: "u-1") == time)
  }
}
