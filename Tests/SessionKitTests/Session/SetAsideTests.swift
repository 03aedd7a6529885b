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
