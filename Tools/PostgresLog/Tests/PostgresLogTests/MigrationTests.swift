import Foundation
import SessionJournal
import SessionKit
import Synchronization
import Testing

@testable import PostgresLog

@Suite("Moving journals into the database and back", .serialized)
struct MigrationTests {
  static let journals: [String] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Specs/Journals").standardizedFileURL
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
    return (names ?? []).filter { $0.hasSuffix(".journal") }.sorted().map {
      folder.appending(path: $0).path
    }
  }()

  private static func records(_ path: String) throws -> [JournalRecord] {
    var reader = try JournalReader(path: path)
    var records: [JournalRecord] = []
    while let record = try reader.next() {
      records.append(
        JournalRecord(
          sequence: record.sequence, offset: 0, kind: record.kind,
          remainingInBatch: record.remainingInBatch, payload: record.payload))
    }
    return records
  }

  @Test("SCL-1 every recorded journal comes back with the same records and the same answer of why")
  func recorded() throws {
    let server = try Server()
    let database = try server.database()
    #expect(Self.journals.count > 20)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }
    var moved = 0
    for journal in Self.journals {
      let name = URL(filePath: journal).lastPathComponent
      var reader = try JournalReader(path: journal)
      let ending = try reader.ending()
      let loaded = try server.start(
        "postgreslog", ["--schema", server.schema, "import", name, journal]
      )
      .end()
      guard case .clean = ending else {
        #expect(loaded.status == 65 && loaded.output.contains("does not end cleanly"))
        continue
      }
      try #require(loaded.status == 0, "\(loaded)")
      moved += 1
      let back = folder.appending(path: name).path
      let saved = try server.start(
        "postgreslog", ["--schema", server.schema, "export", name, back]
      )
      .end()
      #expect(saved.status == 0, "\(saved)")
      #expect(try Self.records(back) == Self.records(journal))
      #expect(try JournalReader(path: back).identifier == JournalReader(path: journal).identifier)
      #expect(try Server.replay(["verify", back]).status == 0)
      let answers = try [journal, back].map { path in
        // Without a key, the pseudonym of the user depends on the salt of the file.
        try Server.replay(["why", path]).output.replacing(path, with: "FILE")
          .replacing(/user-[a-z0-9]{10}/, with: "USER")
      }
      #expect(answers[0] == answers[1])
      let place = PostgresLogPlace(name, in: database)
      #expect(try place.open { _, _ in }.identifier == JournalReader(path: back).identifier)
    }
    #expect(moved > 15)
  }

  @Test("SCL-1 lines of an export go into the database by way of a journal, and come back the same")
  func lines() throws {
    let server = try Server()
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      do { try FileManager.default.removeItem(at: folder) } catch { Issue.record(error) }
    }
    func file(_ name: String) -> String { folder.appending(path: name).path }
    func demand(_ ended: (status: Int32, output: String)) throws {
      try #require(ended.status == 0, "\(ended)")
    }
    func tool(_ words: String...) throws {
      try demand(server.start("postgreslog", ["--schema", server.schema] + words).end())
    }
    let journal = try #require(Self.journals.first { $0.hasSuffix("/lost-reply.journal") })
    try demand(Server.replay(["export", "--reveal", journal, "-o", file("a.jsonl")]))
    try demand(Server.replay(["import", file("a.jsonl"), "-o", file("b.journal")]))
    try tool("import", "b", file("b.journal"))
    try tool("export", "b", file("c.journal"))
    try demand(Server.replay(["export", "--reveal", file("c.journal"), "-o", file("c.jsonl")]))
    // A watermark at the end of a file holds nothing: the database goes on with its sequence.
    let lines = try [file("a.jsonl"), file("c.jsonl")].map { path in
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").filter {
        !$0.contains("\"class\":\"watermark\"") && !$0.contains("\"class\":\"end\"")
      }
    }
    #expect(lines[0] == lines[1])
    #expect(lines[0].count == 12)
  }

  @Test("SCL-1 wrong arguments and files have errors that say what, where and what to do")
  func errors() throws {
    let server = try Server()
    func run(_ words: String..., connection: String = Server.connection) throws -> (Int32, String) {
      let ended = try server.start(
        "postgreslog", ["--schema", server.schema] + words, connection: connection
      ).end()
      return (ended.status, ended.output)
    }
    let journal = try #require(Self.journals.first)
    #expect(try run("import", "a", journal).0 == 0)
    let again = try run("import", "a", journal)
    #expect(
      again.0 == 65 && again.1.contains("moved before, to postgres:postgres/\(server.schema)/a"))
    let folder = try run("import", "c", journal, "--secrets", "/nonexistent/secrets")
    #expect(folder.0 == 66 && folder.1.contains("/nonexistent/secrets is no folder"))
    #expect(try run("export", "c", "-").0 == 66)
    let missing = try run("import", "b", "/nonexistent/a.journal")
    #expect(missing.0 == 66 && missing.1.contains("/nonexistent/a.journal"))
    #expect(try run("export", "none", "-").0 == 66)
    let role = try run("create", "--sessions", "no_such_role")
    #expect(role.0 == 69 && role.1.contains("there is no such role"))
    let exists = try run("export", "a", "/etc/passwd")
    #expect(exists.0 == 73 && exists.1.contains("/etc/passwd"))
    for words in [[], ["create", "x"], ["import", "a"], ["export", "a", "-", "--secrets", "x"]] {
      let ended = try server.start("postgreslog", words).end()
      #expect(ended.status == 64 && ended.output.hasPrefix("Usage:"))
    }
    let wrong = try run("export", "a", "-", connection: "password=hunter2 = 'x")
    #expect(wrong.0 == 64 && !wrong.1.contains("hunter2"))
    let away = try run(
      "export", "a", "-", connection: "host=/nonexistent password=hunter2 user=guarded")
    #expect(away.0 == 69 && !away.1.contains("hunter2") && away.1.contains("no server listens"))
    #expect(try run("delete", "a").0 == 0)
    #expect(try run("export", "a", "-").0 == 66)
  }

  @Test("SCL-1 a journal moves once: a lost answer is said, and tried again without a second log")
  func once() throws {
    let server = try Server()
    let trap = Trap()
    let database = try server.database(onStep: { trap.met($0) })
    let place = PostgresLogPlace("a", in: database)
    let (journal, other) = (
      Self.journals[0], try #require(Self.journals.first { $0.hasSuffix("/lost-reply.journal") })
    )
    trap.arm(.decided) { server.endConnections() }
    #expect(throws: MigrationError.uncertain(name: place.name)) {
      try place.importJournal(at: journal)
    }
    _ = try place.importJournal(at: journal)
    let again = MigrationError.alreadyMoved(name: place.name)
    #expect(throws: again) { try place.importJournal(at: journal) }
    let second = PostgresLogPlace("b", in: database)
    #expect(throws: again) { try second.importJournal(at: journal) }
    #expect(second.presence() == .absent)
    #expect(throws: MigrationError.keyInUse(name: place.name)) {
      try place.importJournal(at: other)
    }
  }

  @Test("SCL-1 a journal is locked while it moves, and one that is locked does not move")
  func locked() throws {
    let server = try Server()
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    @Sendable func append() throws {
      let journal = try Journal.open(
        at: path, options: JournalOptions(lockDeadline: .milliseconds(50)))
      _ = try journal.append([.text("x")])
      try journal.close()
    }
    try append()
    let trap = Trap()
    let place = PostgresLogPlace("a", in: try server.database(onStep: { trap.met($0) }))
    let descriptor = open(path, O_RDONLY)
    try #require(flock(descriptor, LOCK_EX) == 0)
    #expect(throws: MigrationError.inUse(path: path)) { try place.importJournal(at: path) }
    close(descriptor)
    let refused = Mutex(false)
    trap.arm(.decided) {
      do { try append() } catch {
        if case .busy? = error as? JournalError { refused.withLock { $0 = true } }
      }
    }
    #expect(try place.importJournal(at: path).records == 1)
    #expect(refused.withLock { $0 })
    try append()
  }

  @Test("SCL-1 secrets move with their journal, in the same transaction")
  func secrets() throws {
    let server = try Server()
    let place = PostgresLogPlace("a", in: try server.database())
    let store = MemorySecretStore()
    try store.write(.token, [1, 2, 3])
    let journal = try #require(Self.journals.first)
    let done = try place.importJournal(try JournalReader(path: journal), secrets: store)
    #expect(done.secrets == 1)
    #expect(try place.secrets.read(.token) == [1, 2, 3])
    let other = PostgresLogPlace("b", in: place.database)
    // The store of another key, and one that another pool of connections would write.
    for target in [place.secrets, PostgresLogPlace("b", in: try server.database()).secrets] {
      let refusal = MigrationError.otherStore(name: other.name, store: target.place)
      #expect(throws: refusal) {
        try other.importJournal(try JournalReader(path: journal), secrets: store, into: target)
      }
      #expect(throws: refusal) {
        try other.importJournal(at: journal, secrets: store, into: target)
      }
    }
    #expect(try other.secrets.read(.token) == nil)
    store.isAvailable = false
    #expect(throws: MigrationError.self) {
      try other.importJournal(try JournalReader(path: journal), secrets: store)
    }
    #expect(other.presence() == .absent)
  }
}
