import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// The directory of a session, in real folders.
@Suite("A session: its directory")
struct DirectoryTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func configuration(_ directory: URL, _ store: any SecretStore) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      directory: directory, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL),
      secrets: store, policy: .benchKeeping, clock: bench.clock)
    configuration.followsOthers = false
    return configuration
  }

  private func open(_ directory: URL, _ store: any SecretStore) async throws -> Session {
    let configuration = configuration(directory, store)
    return try await bench.clock.running { try await Session.open(configuration) }
  }

  private func refused(_ directory: URL, _ store: any SecretStore) async -> SessionError? {
    do {
      _ = try await open(directory, store)
      return nil
    } catch {
      return error as? SessionError
    }
  }

  private func stands(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  private func mode(_ url: URL) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }

  @Test(
    "JRN-1 STO-2 the first start creates the directory, and the second finds the session",
    arguments: ["session", "a/b/session", "with a space/\u{E9}t\u{E9} \u{4F1A}", "50%25"])
  func firstStart(name: String) async throws {
    let directory = bench.folder.appending(path: name, directoryHint: .isDirectory)
    let store = MemorySecretStore()
    let first = try await open(directory, store)
    try await first.login(bench.credentials)
    try await first.close()
    #expect(try mode(directory) == 0o700)
    let journal = try #require(configuration(directory, store).journalURL)
    #expect(journal.lastPathComponent == "session.journal")
    #expect(journal.path == directory.appending(path: "session.journal").path)
    #expect(stands(journal))
    #expect(stands(bench.folder.appending(path: name + "/session.journal")))
    let second = try await open(directory, store)
    #expect(second.isAuthenticated && second.currentToken?.generation == Generation(1))
    try await second.close()
  }

  @Test("SCL-2 the first start of a session lists no folder but its own")
  func listsOwnFolder() async throws {
    let directory = bench.folder.appending(path: "many/one")
    let disk = RefusingFiles()
    var configuration = configuration(directory, MemorySecretStore())
    configuration.journalOptions.fileSystem = disk
    try await Session.open(configuration).close()
    #expect(!disk.listed.isEmpty)
    #expect(disk.listed.allSatisfy { $0.hasSuffix("/many/one/session.journal") })
  }

  @Test("STO-2 the secrets of a service are files in the directory if there is no keychain")
  func service() async throws {
    #if !canImport(Security)
    let directory = bench.folder.appending(path: "session")
    let configuration = SessionConfiguration(
      directory: directory, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL),
      service: "com.example.notes")
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    try await session.close()
    #expect(stands(directory.appending(path: "token")))
    #expect(try mode(directory.appending(path: "token")) == 0o600)
    let again = try await Session.open(configuration)
    #expect(again.isAuthenticated)
    try await again.close()
    #endif
  }

  @Test(
    "RES-7 a missing directory with stored secrets is an error, and nothing is created or wiped",
    arguments: [SessionEnding.signedIn, .expired, .loggedOut])
  func missed(ending: SessionEnding) async throws {
    let disk = bench.folder.appending(path: "disk")
    let directory = disk.appending(path: "session")
    let store = MemorySecretStore()
    let session = try await open(directory, store)
    try await session.login(bench.credentials)
    try await ending.bring(about: session, bench)
    try await session.close()
    let before = try items(in: store)
    #expect(!before.isEmpty)
    // First the whole disk is missing, then only the session's folder on a disk with other folders.
    for isWhole in [true, false] {
      let gone = isWhole ? disk : directory
      let aside = bench.folder.appending(path: "aside")
      try FileManager.default.moveItem(at: gone, to: aside)
      let error = await refused(directory, store)
      #expect(
        error.isExactly(
          .journal(.folderMissing(path: directory.appending(path: "session.journal").path))))
      #expect(!stands(gone))
      #expect(try items(in: store) == before)
      try FileManager.default.moveItem(at: aside, to: gone)
      try FileManager.default.createDirectory(
        at: disk.appending(path: "other"), withIntermediateDirectories: true)
    }
    let again = try await open(directory, store)
    #expect(again.isAuthenticated == (ending == .signedIn))
    try await again.close()
  }

  @Test("RES-7 each stored item alone prevents that a missing directory is created")
  func missedByOneItem() async throws {
    let directory = bench.folder.appending(path: "session")
    let all = MemorySecretStore()
    let session = try await open(directory, all)
    try await session.login(bench.credentials)
    try await session.close()
    try FileManager.default.removeItem(at: directory)
    for item in [SecretItem.token, .user] {
      let store = MemorySecretStore()
      try store.write(item, try #require(try all.read(item)))
      #expect(
        await refused(directory, store).isExactly(
          .journal(.folderMissing(path: directory.appending(path: "session.journal").path))))
      #expect(!stands(directory))
    }
  }

  @Test("JRN-1 the root folder is an absolute path, so it is no wrong address")
  func root() async throws {
    let store = MemorySecretStore()
    let session = try await open(bench.folder.appending(path: "session"), store)
    try await session.login(bench.credentials)
    // The secrets of that session refuse the opening, so that nothing is created in the root.
    let error = try #require(await refused(URL(filePath: "/"), store))
    if error.failure == .wrongAddress { Issue.record("\(error)") }
    #expect(!stands(URL(filePath: "/session.journal")))
    try await session.close()
  }

  /// How the session ended before.
  enum SessionEnding: Sendable, CaseIterable {
    case signedIn, expired, loggedOut

    func bring(about session: Session, _ bench: Bench) async throws {
      switch self {
      case .signedIn: break
      case .expired:
        bench.server.failNext(.refresh, with: .status(401, code: "TOKEN_REVOKED"))
        await #expect(throws: SessionError.self) { try await session.refresh() }
      case .loggedOut:
        bench.server.stop()
        try await session.logout()
      }
    }
  }

  @Test("RES-7 no directory is created if another session's journal may be on an unmounted disk")
  func beside() async throws {
    let disk = bench.folder.appending(path: "disk")
    let store = MemorySecretStore()
    let session = try await open(disk.appending(path: "first"), store)
    try await session.login(bench.credentials)
    try await session.close()
    let before = try items(in: store)
    let aside = bench.folder.appending(path: "aside")
    try FileManager.default.moveItem(at: disk, to: aside)
    // An unmounted disk leaves an empty folder at its mount point.
    try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
    let second = disk.appending(path: "second")
    #expect(
      await refused(second, store).isExactly(
        .journal(.folderMissing(path: second.appending(path: "session.journal").path))))
    #expect(!stands(second))
    #expect(try items(in: store) == before)
  }

  @Test(
    "RES-7 no directory is created while the secrets cannot be read, as they may have a journal")
  func unreadable() async throws {
    let directory = bench.folder.appending(path: "session")
    for problem in [
      SecretStoreError.unavailable(item: .token, place: "test"),
      .accessDenied(item: .token, place: "test", rights: "mode 0000", code: EACCES),
      .failed(item: .token, place: "test", operation: "open", code: EMFILE),
      .failed(item: .token, place: "test", operation: "read", code: EIO),
    ] {
      let locked = InterceptedStore { (_, _) throws(SecretStoreError) in throw problem }
      let error = await refused(directory, locked)
      // The folder is not the problem, so that the error may not ask to create it.
      #expect(error.isExactly(.secrets(problem)) && error?.isTransient == true)
      #expect(!stands(directory))
    }
  }

  @Test("JRN-1 a file in the directory's place or above it is a typed error, and is not changed")
  func file() async throws {
    let file = bench.folder.appending(path: "file")
    try Data("mine".utf8).write(to: file)
    for directory in [file, file.appending(path: "below"), file.appending(path: "a/b")] {
      guard await refused(directory, MemorySecretStore()).failure == .wrongAddress else {
        Issue.record("\(directory.path)")
        continue
      }
    }
    #expect(try Data(contentsOf: file) == Data("mine".utf8))
  }

  @Test("JRN-1 a link without a target is refused, and its target is not created")
  func link() async throws {
    let link = bench.folder.appending(path: "link")
    let target = bench.folder.appending(path: "target")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    #expect(
      await refused(link.appending(path: "session"), MemorySecretStore()).isExactly(
        .journal(.danglingLink(path: link.path))))
    #expect(!stands(target))
  }

  @Test(
    "JRN-1 a URL that is no absolute file URL is refused, and the error does not show it",
    arguments: ["session", "https://ada:s3cret@example.com/session", "", "data:,x"])
  func otherURL(text: String) async throws {
    let directory = text.isEmpty ? URL(string: "?") : URL(string: text)
    let error = await refused(try #require(directory), MemorySecretStore())
    #expect(
      error.isExactly(
        .wrongAddress("the session's directory is not a file URL with an absolute path")))
  }

  private func items(in store: MemorySecretStore) throws -> [SecretItem: [UInt8]] {
    var items: [SecretItem: [UInt8]] = [:]
    for item in [SecretItem.token, .user, .context, .revocation] {
      items[item] = try store.read(item)
    }
    return items
  }
}
