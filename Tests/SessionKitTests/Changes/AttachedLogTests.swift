import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Synchronization
import Testing

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

/// A change log and the session that it is attached to.
@Suite("A change log that is attached to a session")
struct AttachedLogTests {
  @Test("OUT-3 a failed logout of a closed session does not prevent further changes")
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

  @Test("LOG-6 SYN-4 the status time that another process stored is known at once")
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

  @Test("OUT-3 a log stays attached although another host is added after it")
  func addedAfter() async throws {
    let bench = try Bench()
    let log = try await ChangeLog.open(at: bench.folder.path + "/changes.journal")
    var configuration = bench.configuration(.keeping)
    configuration.attach(log)
    configuration.add(host: SessionHooks(pendingChanges: { 2 }))
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    try await log.add(ChangeBench.change(.create, 1, key: "k1"), through: session.gate)
    await #expect(throws: SessionError.pendingChanges(3)) { try await session.logout() }
    try await session.close()
  }

  @Test("SYN-4 the app is notified of a new status before an earlier attached log stores its time")
  func keptLast() async throws {
    let bench = try ChangeBench()
    let log = try await bench.open()
    let seen = Mutex<[Timestamp?]>([])
    var configuration = try Bench().configuration(.bench)
    configuration.attach(log)
    configuration.add(
      host: SessionHooks(statusChanged: { change in
        let kept = log.statusChangedAt(scope: ChangeLog.scope(of: change.user))
        seen.withLock { $0.append(kept) }
      }))
    let time = Timestamp(milliseconds: 7)
    await configuration.accountStatusChanged(
      StatusChange(user: "u-1", changedAt: time, known: nil))
    #expect(seen.withLock { $0 } == [nil])
    #expect(log.statusChangedAt(scope: ChangeLog.scope(of: "u-1")) == time)
  }
}
