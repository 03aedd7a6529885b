import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: opening again")
struct RestoreTests {
  @Test("RES-1 RES-4 a valid token restores the whole session without a network")
  func restores() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    let (state, user) = (first.state, first.currentUser)
    try await first.close()
    bench.server.stop()
    let second = try await bench.open()
    #expect(second.state == state)
    #expect(second.currentUser == user)
    #expect(second.currentToken?.generation == Generation(1))
    #expect(second.activity == .idle)
    try await second.close()
  }

  @Test(
    "RES-2 an unreadable item ends the session once, and its bytes are kept",
    arguments: ["", "{", "not json at all", #"{"v":1,"journal":7}"#, "\u{0}\u{1}"])
  func corrupt(content: String) async throws {
    let bench = try Bench()
    try await bench.signedIn(.keeping).close()
    let path = bench.secrets + "/token"
    try Data(content.utf8).write(to: URL(filePath: path))
    let session = try await bench.open(.keeping)
    guard case .expired(let expired) = session.state else {
      Issue.record("\(session.state)")
      return
    }
    #expect(expired.reason == .corruptStorage)
    #expect(try bench.files().contains("token.unreadable"))
    #expect(try Data(contentsOf: URL(filePath: path + ".unreadable")) == Data(content.utf8))
    try await session.close()
    let again = try await bench.open(.keeping)
    #expect(again.state == session.state)
    try await again.close()
  }
}

extension RestoreTests {
  @Test(
    "SCL-2 JRN-1 a session sees what others commit, also if the system has no watch left",
    arguments: [0, 1])
  func watches(_ count: Int) async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    var configuration = bench.configuration()
    configuration.followsOthers = true
    configuration.journalOptions.fileSystem = RefusingFiles(watches: count)
    let second = try await Session.open(configuration)
    #expect(second.isAuthenticated)
    try await first.logout()
    await eventually("it sees the logout") { second.state == .unauthenticated }
    try await first.close()
    try await second.close()
  }

  @Test("JRN-1 RES-6 a session sees soon what others commit after a repair has replaced the file")
  func replacedFile() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    var configuration = bench.configuration()
    configuration.followsOthers = true
    let second = try await Session.open(configuration)
    let copy = bench.journal + ".copy"
    try FileManager.default.copyItem(atPath: bench.journal, toPath: copy)
    #expect(rename(copy, bench.journal) == 0)
    // One of the two is seen by the notice of the rename at most. Without a watch of the new file,
    // the other is seen after ten minutes.
    _ = try await first.refresh()
    await eventually("it sees the refresh", within: 60) {
      second.state.token?.generation == Generation(2)
    }
    try await first.logout()
    await eventually("it sees the logout", within: 60) { second.state == .unauthenticated }
    try await first.close()
    try await second.close()
  }
}

extension Bench {
  /// Rewrites the journal as it was before the first record of this name.
  func cutJournal(before name: String) throws {
    let kept = try records().prefix { $0.name != name }
    try FileManager.default.copyItem(atPath: journal, toPath: journal + ".whole")
    var reader = try JournalReader(path: journal)
    var end: UInt64 = 64
    while let raw = try reader.next() {
      if raw.sequence > UInt64(kept.count) {
        end = raw.offset
        break
      }
    }
    let bytes = try Data(contentsOf: URL(filePath: journal)).prefix(Int(end))
    try bytes.write(to: URL(filePath: journal))
  }
}
