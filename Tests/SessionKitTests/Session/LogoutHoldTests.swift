import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// The hold of hosts before a logout, and how it ends (OUT-3).
@Suite("The hold of hosts before a logout")
struct LogoutHoldTests {
  private func signedIn(
    _ bench: Bench, _ hosts: [DiaryHost], _ policy: SessionPolicy = .keeping
  ) async throws -> Session {
    var configuration = bench.configuration(policy)
    for host in hosts { configuration.add(host: host) }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    return session
  }

  /// The first two words of each line: the host's name and its call.
  private func verbs(_ diary: Diary) -> [String] {
    diary.lines.map { line in
      line.split { $0 == " " || $0 == "," }.prefix(2).joined(separator: " ")
    }
  }

  @Test("OUT-3 a host without data accepts changes again after a logout")
  func withoutData() async throws {
    let bench = try Bench()
    let diary = Diary()
    let hosts = [DiaryHost("a", diary, hasUserData: false), DiaryHost("b", diary)]
    let session = try await signedIn(bench, hosts)
    #expect(try await session.logout() == .success)
    #expect(verbs(diary) == ["a prepares", "b prepares", "b ends", "a cancels"])
    try await session.close()
  }

  @Test(
    "OUT-3 a logout that cannot be journaled releases the hosts, also if its task was cancelled",
    arguments: [false, true])
  func notJournaled(isCancelled: Bool) async throws {
    let bench = try Bench()
    let (diary, gate) = (Diary(), Gate())
    let host = DiaryHost("a", diary)
    let session = try await signedIn(bench, [host])
    host.onPreparation { await gate.pass() }
    let logout = Task { try await session.logout() }
    await eventually("it is asked") { verbs(diary) == ["a prepares"] }
    if isCancelled { logout.cancel() }
    try FileManager.default.removeItem(atPath: bench.journal)
    gate.open()
    await #expect(throws: SessionError.self) { _ = try await logout.value }
    await eventually("it is released") { verbs(diary) == ["a prepares", "a cancels"] }
  }

  @Test("OUT-3 a logout releases the hosts if its session is closed before the event is journaled")
  func closed() async throws {
    let bench = try Bench()
    let (diary, gate) = (Diary(), Gate())
    let host = DiaryHost("a", diary)
    let session = try await signedIn(bench, [host])
    host.onPreparation { await gate.pass() }
    let logout = Task { try await session.logout() }
    await eventually("it is asked") { verbs(diary) == ["a prepares"] }
    try await session.close()
    gate.open()
    await #expect(throws: SessionError.closed) { _ = try await logout.value }
    await eventually("it is released") { verbs(diary) == ["a prepares", "a cancels"] }
  }

  @Test("OUT-3 a logout that fails does not release the hosts that another logout holds")
  func another() async throws {
    let bench = try Bench()
    let (diary, gate) = (Diary(), Gate())
    let hosts = [DiaryHost("a", diary), DiaryHost("b", diary)]
    let session = try await signedIn(bench, hosts)
    hosts[1].onPreparation { await gate.pass() }
    let first = Task { try await session.logout() }
    await eventually("both are asked") { verbs(diary) == ["a prepares", "b prepares"] }
    hosts[0].count.withLock { $0 = 2 }
    await #expect(throws: SessionError.pendingChanges(2)) { try await session.logout() }
    #expect(!verbs(diary).contains("a cancels") && !verbs(diary).contains("b cancels"))
    gate.open()
    #expect(try await first.value == .success)
    #expect(verbs(diary).suffix(2) == ["a ends", "b ends"] && verbs(diary).count == 6)
    try await session.close()
  }

  @Test("OUT-3 a logout goes on if the user who has signed in elsewhere has no unsent changes")
  func signedInElsewhere() async throws {
    let bench = try Bench()
    let host = DiaryHost("a", Diary())
    var configuration = bench.configuration(.keeping)
    configuration.add(host: host)
    let session = try await Session.open(configuration)
    let other = try await bench.open(.keeping)
    try await other.login(bench.credentials)
    #expect(session.state == .unauthenticated)
    host.count.withLock { $0 = 2 }
    host.onPreparation { host.count.withLock { $0 = 0 } }
    #expect(try await session.logout() == .success)
    #expect(verbs(host.diary) == ["a prepares", "a prepares", "a ends"])
    try await other.close()
    try await session.close()
  }
}
