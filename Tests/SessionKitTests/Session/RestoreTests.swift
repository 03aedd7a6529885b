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

  @Test("RES-1 an expired token is refreshed at launch while the session is already open")
  func launch() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    bench.clock.advance(by: .milliseconds(3_600_001))
    let gate = bench.server.hold(.refresh)
    let session = try await bench.open()
    #expect(session.isAuthenticated)
    #expect(session.activity == .refreshing)
    #expect(session.isTokenExpired)
    gate.open()
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    #expect(!session.isTokenExpired)
    try await session.close()
  }

  @Test("RES-1 a missing item ends the session with its reason", arguments: ["token", "user"])
  func missing(name: String) async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try FileManager.default.removeItem(atPath: bench.secrets + "/" + name)
    let session = try await bench.open()
    #expect(session.isAuthenticated && session.activity == .loading)
    await bench.passDoubt(session)
    #expect(session.state == .unauthenticated)
    #expect(try bench.eventNames() == ["login", "sessionExpired", "logout"])
    try await eventually("nothing is left") { try bench.files().isEmpty }
    try await session.close()
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

  @Test("RES-6 an item of a newer version is neither read nor changed, and logs out no user")
  func newer() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let path = bench.secrets + "/token"
    let ours = try Data(contentsOf: URL(filePath: path))
    let theirs = Data(#"{"v":99}"#.utf8)
    try theirs.write(to: URL(filePath: path))
    var session = try await bench.open()
    #expect(session.activity == .failed && session.status.loginError?.advice == .update)
    #expect(session.state.kind == .authenticated)
    try await session.close()
    #expect(try Data(contentsOf: URL(filePath: path)) == theirs)
    #expect(try bench.eventNames() == ["login"])
    try ours.write(to: URL(filePath: path))
    session = try await bench.open()
    #expect(session.isAuthenticated && session.currentToken != nil)
    try await session.close()
  }

  @Test(
    "RES-3 a session with locked secrets stays logged in, and is restored after they are unlocked")
  func locked() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    store.isAvailable = false
    let session = try await bench.open(store: store)
    #expect(session.activity == .loading)
    #expect(session.isAuthenticated)
    #expect(session.currentToken == nil)
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error == .secretsUnavailable)
    store.isAvailable = true
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    await eventually("the restore") { session.activity == .idle }
    #expect(session.currentToken?.generation == Generation(1))
    #expect(try bench.eventNames() == ["login"])
    try await session.close()
  }

  @Test("REF-7 after a death between the stored token and its event, the event is recovered")
  func recovered() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    try await session.close()
    // The journal after a crash: everything up to the request, and no event.
    try bench.cutJournal(before: "refreshSucceeded")
    let again = try await bench.open()
    #expect(again.currentToken?.generation == Generation(2))
    #expect(again.isAuthenticated)
    let names = try bench.records().map(\.name)
    #expect(names.suffix(3) == ["opened", "tokenRecovered", "refreshSucceeded"])
    try await again.close()
  }

  @Test("REF-7 a login is recovered after a death between its stored token and its event")
  func recoveredLogin() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.cutJournal(before: "login")
    let again = try await bench.open()
    #expect(again.isAuthenticated)
    #expect(again.currentUser?.id == Identifier(LoopbackUser.sample.id))
    #expect(try bench.eventNames() == ["login"])
    try await again.close()
  }

  @Test("OUT-1 secrets that are still stored after a logout are wiped at the next opening")
  func signedOutWins() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let token = try Data(contentsOf: URL(filePath: bench.secrets + "/token"))
    #expect(try await session.logout() == .success)
    try await session.close()
    try token.write(to: URL(filePath: bench.secrets + "/token"))
    let again = try await bench.open()
    #expect(again.state == .unauthenticated)
    #expect(again.currentToken == nil)
    #expect(try bench.files().isEmpty)
    #expect(try bench.records().last?.name == "secretsWiped")
    try await again.close()
  }

  @Test("OUT-1 after a death between logout and wipe, the next opening wipes and revokes")
  func killedBeforeWipe() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let files = try bench.files().map { name in
      (name, try Data(contentsOf: URL(filePath: bench.secrets + "/" + name)))
    }
    bench.server.failNext(.logout, with: .status(503))
    try await session.logout()
    try await session.close()
    try bench.cutJournal(before: "revocationSettled")
    try FileManager.default.removeItem(atPath: bench.secrets + "/revocation")
    for (name, bytes) in files { try bytes.write(to: URL(filePath: bench.secrets + "/" + name)) }

    let again = try await bench.open()
    #expect(again.state == .unauthenticated)
    #expect(await bench.server.answered(.logout, count: 2))
    try await eventually("the settlement") {
      try bench.records().last?.name == "revocationSettled" && bench.files().isEmpty
    }
    try await again.close()
  }

  @Test("RES-5 RES-7 secrets of another journal are never used, and not wiped at once")
  func otherJournal() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let files = try bench.files()
    try FileManager.default.removeItem(atPath: bench.journal)
    let session = try await bench.openMissing()
    #expect(session.state == .unauthenticated)
    #expect(try bench.files() == files)
    #expect(try bench.records().map(\.name) == ["opened", "storageFailed"])
    try await session.close()
  }

  @Test("JRN-2 a torn tail is cut off and noted, and the session continues")
  func torn() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    try await session.close()
    let whole = try Data(contentsOf: URL(filePath: bench.journal))
    try whole.prefix(whole.count - 3).write(to: URL(filePath: bench.journal))
    let again = try await bench.open()
    #expect(again.isAuthenticated)
    #expect(try bench.records().contains { $0.name == "tailCut" })
    try await again.close()
  }

  @Test("a session follows what another session on the same journal commits")
  func twoObjects() async throws {
    let bench = try Bench()
    let first = try await bench.signedIn()
    let second = try await bench.open()
    #expect(second.state == first.state)
    try await first.refresh()
    // The second one finds the newer token at its next commit, and uses it instead of refreshing.
    #expect(try await second.refresh().generation >= Generation(2))
    #expect(try await first.logout() == .success)
    let error = await failure { () async throws(SessionError) in try await second.refresh() }
    #expect(error?.isLoggedOut == true)
    #expect(second.state == .unauthenticated)
    #expect(second.currentToken == nil)
    try await first.close()
    try await second.close()
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
