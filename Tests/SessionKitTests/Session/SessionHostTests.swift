import Foundation
import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

/// What several hosts of one session are asked and what they learn.
@Suite("The hosts of a session")
struct SessionHostTests {
  private final class Diary: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }
    func note(_ line: String) { state.withLock { $0.append(line) } }
  }

  /// A host that writes down each call.
  private final class Host: SessionHost {
    let name: String
    let diary: Diary
    let separatesSignIns: Bool
    let count = Mutex(0)
    let failures = Mutex(0)
    let ended = Mutex<[EndedSession]>([])

    init(_ name: String, _ diary: Diary, separatesSignIns: Bool = false) {
      (self.name, self.diary, self.separatesSignIns) = (name, diary, separatesSignIns)
    }

    func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int {
      diary.note("\(name) prepares, \(user.map { "\($0)" } ?? "nobody") in \(journal)")
      return count.withLock { $0 }
    }

    func cancelLogout(journal: Identifier) async { diary.note("\(name) cancels in \(journal)") }

    func sessionEnded(_ session: EndedSession) async throws {
      diary.note("\(name) ends")
      ended.withLock { $0.append(session) }
      let isToFail = failures.withLock { failures in
        defer { failures = max(0, failures - 1) }
        return failures > 0
      }
      if isToFail { throw CancellationError() }
    }
  }

  /// A host that implements nothing.
  private struct Silent: SessionHost {}

  @Test("OUT-3 the counts add up in the order of the hosts, and what they hold is released")
  func counts() async throws {
    let bench = try Bench()
    let diary = Diary()
    let hosts = [Host("a", diary), Host("b", diary)]
    var configuration = bench.configuration(.keeping)
    configuration.hosts = [hosts[0], Silent(), hosts[1]]
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
    #expect(Array(diary.lines.dropFirst(4)) == prepared + ["b ends", "a ends"])
    try await session.close()
  }

  @Test("SYN-5 an ended session goes to every host, again until each of them has succeeded")
  func repeated() async throws {
    let bench = try Bench()
    let diary = Diary()
    let hosts = [Host("a", diary), Host("b", diary)]
    hosts[1].failures.withLock { $0 = 1 }
    var configuration = bench.configuration(.keeping)
    configuration.hosts = hosts
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let user = session.state.user
    #expect(
      try await session.logout(discardingPendingChanges: true) == .partial(.localDataRemains))
    #expect(diary.lines == ["b ends", "a ends"])
    let due = bench.clock.now().uptime + 1_000
    await eventually("it waits for its next try") { bench.clock.nextDeadline == due }
    bench.clock.advance(by: 1_000)
    try await eventually("all of them have succeeded") {
      try bench.records().map(\.name).contains("localDataCleared")
    }
    #expect(diary.lines == ["b ends", "a ends", "b ends", "a ends"])
    let expected = EndedSession(
      reason: .user, user: user, journal: session.journal,
      generation: Generation(1))
    #expect(hosts[0].ended.withLock { $0 } == [expected, expected])
    try await session.close()
  }

  @Test("SYN-5 after a later login only a host that tells sign-ins apart learns of the end")
  func laterLogin() async throws {
    let bench = try Bench()
    let diary = Diary()
    let (plain, separate) = (Host("a", diary), Host("b", diary, separatesSignIns: true))
    let first = try await bench.signedIn(.keeping)
    let user = first.state.user
    try await first.logout()
    try await first.login(bench.credentials)
    try await first.close()
    var configuration = bench.configuration(.keeping)
    configuration.hosts = [separate, plain]
    let session = try await Session.open(configuration)
    await eventually("one learns of it") { !diary.lines.isEmpty }
    try await session.engine.awaitDataClearing()
    let ended = separate.ended.withLock { $0 }
    #expect(ended.map(\.hasLaterLogin) == [true] && ended.map(\.user) == [user])
    #expect(diary.lines == ["b ends"])
    try await session.close()
  }
}
