import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("A session whose journal cannot be used")
struct SetAsideTests {
  @Test(
    "RES-6 RES-5 a damaged journal is quarantined, and the session continues with its token",
    arguments: [1, 3, 5])
  func damaged(sequence: UInt64) async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    try await session.refresh()
    let (token, user, context) = (session.currentToken, session.currentUser, session.activeContext)
    try await session.close()
    let old = try JournalReader(path: bench.journal).identifier
    try bench.damage(sequence)
    let bytes = try Data(contentsOf: URL(filePath: bench.journal))
    bench.server.stop()

    let again = try await bench.openAside()
    #expect(again.isAuthenticated && again.activity == .idle)
    #expect(again.currentToken?.plaintext == token?.plaintext)
    #expect(again.currentToken?.generation == Generation(2))
    #expect(again.currentUser == user)
    #expect(again.activeContext == context)
    #expect(!again.isTokenExpired && again.canRefreshToken)

    // The bytes are kept under a descriptive name, and only this opening reports it.
    let aside = try #require(try bench.asides().first)
    #expect(try Data(contentsOf: URL(filePath: bench.folder.path + "/" + aside)) == bytes)
    #expect(aside == "a.journal.aside-1-damaged-20260101T000000Z")
    let told = try #require(again.quarantine)
    #expect(told.path.hasSuffix(aside))
    #expect(again.journalSetAside == URL(fileURLWithPath: told.path))
    #expect((told.cause, told.lastSequence) == (.damaged, sequence - 1))

    let link = SessionNote.Continued(
      journal: Identifier(old.description), sequence: sequence - 1, cause: .damaged)
    let records = try bench.records()
    #expect(records.map(\.name) == ["opened", "continued", "login"])
    #expect(records[1].content == .note(.continued(link)))
    guard case .login(let login)? = records[2].event else { return }
    #expect(login.method == .adoption)
    try await again.close()

    // From here on the journal is like any other.
    let third = try await bench.open()
    #expect(third.isAuthenticated)
    #expect(third.journalSetAside == nil)
    try await third.close()
    #expect(try bench.asides().count == 1)
  }

  @Test("RES-6 a damaged journal is not moved without the policy")
  func refused() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let error = await failure { () async throws(SessionError) in
      try await Session.open(bench.configuration())
    }
    guard case .journal(.damaged) = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try bench.asides().isEmpty)
  }

  @Test("RES-6 an expired token is refreshed in the new journal")
  func expiredToken() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(1)
    bench.clock.advance(by: .milliseconds(3_600_001))
    let session = try await bench.openAside()
    await eventually("the refresh") { session.currentToken?.generation == Generation(2) }
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
    try await session.close()
  }

  @Test(
    "RES-6 a journal of a newer version is quarantined, and the policy decides about its secrets")
  func newerFormat() async throws {
    let newer = try Data(contentsOf: URL(filePath: Self.golden + "newer.journal"))
    for (rule, isAuthenticated) in [
      (SessionPolicy.OrphanedSecrets.wipe, false), (.adopt, true),
    ] {
      let bench = try Bench()
      try await bench.signedIn().close()
      try newer.write(to: URL(filePath: bench.journal))
      var policy = SessionPolicy.bench
      policy.recovery.orphanedSecrets = rule
      let session = try await bench.openAside(policy)
      #expect(session.isAuthenticated == isAuthenticated)
      #expect(session.quarantine?.cause == .newerVersion)
      #expect(try bench.files().isEmpty == !isAuthenticated)
      let name = try #require(try bench.asides().first)
      #expect(name.contains("-newerVersion-"))
      #expect(try Data(contentsOf: URL(filePath: bench.folder.path + "/" + name)) == newer)
      if !isAuthenticated { try await session.login(bench.credentials) }
      try await session.refresh()
      try await session.close()
    }
  }

  static let golden =
    URL(filePath: #filePath).deletingLastPathComponent().path + "/../../../Specs/Golden/"

  @Test(
    "RES-6 a journal with an event of a newer version is quarantined, and the session continues")
  func newerEvent() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.append(.unknown(SessionRecord.Unknown(kind: 9, payload: [1, 2, 3])))
    let session = try await bench.openAside()
    #expect(session.isAuthenticated)
    #expect(session.quarantine?.cause == .newerVersion)
    #expect((session.quarantine?.lastSequence ?? 0) >= 3)
    try await session.close()
  }

  @Test(
    "RES-6 a file that is no journal is quarantined, and a user can log in",
    arguments: ["", "text", String(repeating: "not a journal ", count: 20)])
  func noJournal(content: String) async throws {
    let bench = try Bench()
    try Data(content.utf8).write(to: URL(filePath: bench.journal))
    let session = try await bench.openAside()
    #expect(session.quarantine?.cause == .notAJournal)
    try await session.login(bench.credentials)
    try await session.close()
    let again = try await bench.open()
    #expect(again.isAuthenticated)
    try await again.close()
    let name = try #require(try bench.asides().first)
    #expect(
      try Data(contentsOf: URL(filePath: bench.folder.path + "/" + name)) == Data(content.utf8))
  }

  @Test("RES-9 a journal that is opened through a link is quarantined in its own folder")
  func throughLink() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let real = bench.folder.appending(path: "real.journal").path
    try FileManager.default.moveItem(atPath: bench.journal, toPath: real)
    try FileManager.default.createSymbolicLink(
      atPath: bench.journal, withDestinationPath: "real.journal")
    try bench.damage(2)
    let session = try await bench.openAside()
    #expect(session.isAuthenticated)
    try await session.refresh()
    try await session.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: bench.folder.path)
    #expect(names.contains { $0.hasPrefix("real.journal.aside-1-damaged-") })
    #expect(
      try FileManager.default.destinationOfSymbolicLink(atPath: bench.journal) == "real.journal")
  }

  @Test("RES-6 a folder in the journal's place is not quarantined")
  func obstacles() async throws {
    let folder = try Bench()
    try FileManager.default.createDirectory(
      atPath: folder.journal, withIntermediateDirectories: true)
    for bench in [folder] {
      var configuration = bench.configuration()
      configuration.policy.recovery.unusableJournal = .setAside
      let asked = configuration
      let error = await failure { () async throws(SessionError) in
        try await Session.open(asked)
      }
      guard case .journal = error.failure else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(try bench.asides().isEmpty)
    }
  }

  @Test("RES-6 OUT-1 a logout that can be read after the damage stays in force")
  func endedBehindDamage() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let items = try bench.items()
    try await session.logout()
    try await session.close()
    try bench.damage(1)
    // As if a crash between the logout and its wipe had left the items.
    try bench.restore(items)
    let again = try await bench.openAside()
    #expect(again.state == .unauthenticated)
    #expect(try bench.files().isEmpty)
    #expect(try bench.records().map(\.name) == ["opened", "continued", "secretsWiped"])
    try await again.close()
  }

  @Test("RES-6 an expired session stays expired after a quarantine, and its user can log in again")
  func expiredStays() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(.keeping)
    bench.server.failNext(.refresh, with: .status(401, code: "TOKEN_REVOKED"))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .expired(let before) = session.state else {
      Issue.record("\(session.state)")
      return
    }
    try await session.close()
    // The last record, whose existence the journal's closing mark proves.
    try bench.damage(try #require(try bench.records().last?.sequence))
    let again = try await bench.openAside(.keeping)
    guard case .expired(let after) = again.state else {
      Issue.record("\(again.state)")
      return
    }
    #expect(
      (after.user, after.reason, after.context) == (before.user, before.reason, before.context))
    #expect(try bench.eventNames() == ["login", "sessionExpired"])
    try await again.login(bench.credentials)
    #expect(again.isAuthenticated)
    try await again.close()
  }

  @Test("RES-6 REF-3 sessions that find the damage at once quarantine once and share one session")
  func together() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let sessions = try await withThrowingTaskGroup(of: Session.self) { group in
      for _ in 0..<8 { group.addTask { try await bench.openAside() } }
      return try await group.reduce(into: [Session]()) { $0.append($1) }
    }
    #expect(try bench.asides().count == 1)
    for session in sessions {
      #expect(session.isAuthenticated)
      #expect(session.currentToken?.generation == Generation(1))
    }
    #expect(try bench.eventNames() == ["login"])
    for session in sessions { try await session.close() }
  }

  @Test("RES-6 REF-3 real processes that find the damage at once quarantine the journal once")
  func processes() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<6 {
        group.addTask { [folder = bench.folder.path, url = bench.server.baseURL.absoluteString] in
          await #expect(processExitsWith: .success) {
            [folder = folder as String, address = url as String] in
            var configuration = SessionConfiguration(
              journal: folder + "/a.journal",
              secrets: FileSecretStore(folder: folder + "/secrets"),
              backend: HTTPBackend.snakeCaseJSON(try #require(URL(string: address))),
              policy: .bench, clock: ManualClock())
            configuration.policy.recovery.unusableJournal = .setAside
            let session = try await Session.open(configuration)
            #expect(session.isAuthenticated)
            #expect(session.currentToken?.generation == Generation(1))
            try await session.close()
          }
        }
      }
    }
    #expect(try bench.asides().count == 1)
    #expect(try bench.eventNames() == ["login"])
    #expect(try bench.records().filter { $0.name == "continued" }.count == 1)
  }

  @Test("RES-6 after a death during a quarantine, the next opening uses the quarantined journal")
  func killedBetween() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let identity = try #require(try Journal.identity(at: bench.journal, options: .init()))
    let aside = try Journal.setAside(
      bench.journal, identity, reason: "damaged", time: "20260101T000000Z", options: .init())
    #expect(aside?.number == 1)
    // This opening does not ask for a quarantine, which has already happened.
    let session = try await bench.open()
    #expect(session.isAuthenticated)
    #expect(session.quarantine?.cause == .damaged)
    #expect(try bench.records().map(\.name) == ["opened", "continued", "login"])
    try await session.close()
  }

  @Test("RES-6 a second damaged journal is quarantined next to the first")
  func twice() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    for number in 1...2 {
      try bench.damage(2)
      let session = try await bench.openAside()
      #expect(session.isAuthenticated)
      try await session.close()
      #expect(try bench.asides().count == number)
    }
    #expect(try bench.asides().map { $0.contains(".aside-2-") } == [false, true])
    try Journal.delete(at: bench.journal)
    #expect(try bench.asides().isEmpty)
  }

  // MARK: Secrets without their journal

  @Test("RES-5 secrets without their journal are adopted if the policy says so, with a note")
  func strayAdopted() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let old = try JournalReader(path: bench.journal).identifier
    try Journal.delete(at: bench.journal)
    var policy = SessionPolicy.bench
    policy.recovery.orphanedSecrets = .adopt
    let session = try await bench.openMissing(policy)
    #expect(session.isAuthenticated)
    #expect(session.currentUser?.id == Identifier(LoopbackUser.sample.id))
    let link = SessionNote.Continued(
      journal: Identifier(old.description), sequence: 0, cause: .lost)
    let records = try bench.records()
    #expect(records.map(\.name) == ["opened", "continued", "login"])
    #expect(records[1].content == .note(.continued(link)))
    try await session.refresh()
    let items = try bench.items()
    try await session.logout()
    try await session.close()

    // After this journal had a token, it adopts no other journal's secrets.
    try bench.restore(items)
    let again = try await bench.open(policy)
    #expect(again.state == .unauthenticated)
    try await again.close()
  }

  @Test("RES-5 after a crash between adoption and its event, the login is appended as recovered")
  func strayRecovered() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try Journal.delete(at: bench.journal)
    var policy = SessionPolicy.bench
    policy.recovery.orphanedSecrets = .adopt
    try await bench.openMissing(policy).close()
    try bench.cutJournal(before: "continued")
    let again = try await bench.open()
    #expect(again.isAuthenticated)
    #expect(try bench.records().map(\.name).suffix(3) == ["opened", "tokenRecovered", "login"])
    try await again.close()
  }

  @Test("RES-5 RES-3 stray secrets that cannot be read yet are neither adopted nor wiped")
  func strayLocked() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    try Journal.delete(at: bench.journal)
    store.isAvailable = false
    var policy = SessionPolicy.bench
    policy.recovery.orphanedSecrets = .adopt
    let session = try await bench.open(policy, store: store)
    #expect(session.activity == .loading)
    store.isAvailable = true
    await session.retry()
    #expect(session.isAuthenticated && session.activity == .idle)
    try await session.close()
  }
}

extension Bench {
  /// Opens, and quarantines an unusable journal.
  func openAside(_ policy: SessionPolicy = .bench) async throws -> Session {
    var configuration = configuration(policy)
    configuration.policy.recovery.unusableJournal = .setAside
    return try await Session.open(configuration)
  }

  /// The names of the quarantined files.
  func asides() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.contains(".aside-") }.sorted()
  }

  /// Flips a bit in the payload of the record with this sequence.
  func damage(_ sequence: UInt64) throws {
    var reader = try JournalReader(path: journal)
    var place: UInt64?
    while let raw = try reader.next() {
      if raw.sequence == sequence { place = raw.offset + 32 }
    }
    let offset = try #require(place)
    let byte = try Data(contentsOf: URL(filePath: journal))[Int(offset)]
    // In place, as other processes may have the file open.
    let file = try FileHandle(forWritingTo: URL(filePath: journal))
    try file.seek(toOffset: offset)
    try file.write(contentsOf: [byte ^ 1])
    try file.close()
  }

  func append(_ content: SessionRecord.Content) throws {
    let journal = try Journal.open(at: journal)
    let (kind, payload) = SessionCodec.encode(content, at: clock.now().time)
    _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
    try journal.close()
  }

  /// The stored items, for ``restore(_:)``.
  func items() throws -> [String: Data] {
    try Dictionary(
      uniqueKeysWithValues: files().map {
        ($0, try Data(contentsOf: URL(filePath: secrets + "/" + $0)))
      })
  }

  func restore(_ items: [String: Data]) throws {
    for (name, bytes) in items { try bytes.write(to: URL(filePath: secrets + "/" + name)) }
  }
}
