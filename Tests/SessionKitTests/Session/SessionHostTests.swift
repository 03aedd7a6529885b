import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// What several hosts of one session are asked, and what they are notified of.
@Suite("The hosts of a session")
struct SessionHostTests {
  /// A host that implements nothing.
  private struct Silent: SessionHost {}

  @Test("OUT-3 the counts of all hosts are added in order, and a refused logout releases the hosts")
  func counts() async throws {
    let bench = try Bench()
    let diary = Diary()
    let hosts = [DiaryHost("a", diary), DiaryHost("b", diary)]
    var configuration = bench.configuration(.keeping)
    configuration.add(host: hosts[0])
    configuration.add(host: Silent())
    configuration.add(host: hosts[1])
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let user = try #require(session.state.user)
    let journal = session.journal
    hosts[0].count.withLock { $0 = 2 }
    hosts[1].count.withLock { $0 = 3 }
    await #expect(throws: SessionError.pendingChanges(5)) { try await session.logout() }
    let prepared = ["a", "b"].map { "\($0) prepares, \(user) in \(journal)" }
    #expect(diary.lines == prepared + ["a cancels in \(journal)", "b cancels in \(journal)"])
    for host in hosts { host.count.withLock { $0 = 0 } }
    #expect(try await session.logout() == .success)
    #expect(Array(diary.lines.dropFirst(4)) == prepared + ["a ends", "b ends"])
    try await session.close()
  }

  @Test("SYN-5 a slow host does not delay the end for hosts that separate logins")
  func slow() async throws {
    let bench = try Bench()
    let diary = Diary()
    let (plain, separate) = (
      DiaryHost("a", diary), DiaryHost("b", diary, separatesSignIns: true)
    )
    let gate = Gate()
    plain.onEnd { await gate.pass() }
    var configuration = bench.configuration(.keeping)
    for host in [plain, separate] { configuration.add(host: host) }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let logout = Task { try await session.logout(discardingPendingChanges: true) }
    await eventually("the slow one learns of it") { diary.lines.contains("a ends") }
    #expect(diary.lines == ["b ends", "a ends"])
    gate.open()
    #expect(try await logout.value == .success)
    try await session.close()
  }

  @Test("SYN-4 a host that implements nothing does not make the session keep status times")
  func silent() throws {
    var configuration = try Bench().configuration(.keeping)
    configuration.add(host: Silent())
    #expect(!configuration.keepsStatusTimes)
    configuration.add(host: SessionHooks(knownStatus: { _ in nil }))
    #expect(configuration.keepsStatusTimes)
  }
}
