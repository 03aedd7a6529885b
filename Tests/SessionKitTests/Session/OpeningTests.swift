import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session that cannot be opened yet")
struct OpeningTests {
  /// An opening on a manual clock, with a file system that refuses certain paths.
  private func opening(_ bench: Bench, _ disk: RefusingFiles) -> SessionOpening {
    var configuration = bench.configuration()
    configuration.journalOptions.fileSystem = disk
    return SessionOpening(configuration)
  }

  @Test("RES-3 an opening waits for a journal that cannot be read yet, and logs out no user")
  func waits() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    let disk = RefusingFiles()
    disk.isLocked = true
    let opening = opening(bench, disk)
    let waiter = Task { try await opening.session() }
    await bench.clock.waitForSleepers(1)
    let path = bench.journal
    guard case .loading(let problem) = opening.status,
      case .permissionDenied(path, _)? = problem.journalError
    else {
      Issue.record("\(opening.status)")
      return
    }
    #expect(throws: try #require(problem)) { try opening.get() }
    for delay: Int64 in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
      await bench.clock.waitForSleepers(1)
      #expect(bench.clock.nextDeadline == bench.clock.now().uptime + delay)
      bench.clock.advance(by: .milliseconds(delay))
      await eventually("the next pause") {
        (bench.clock.nextDeadline ?? 0) > bench.clock.now().uptime
      }
    }
    disk.isLocked = false
    opening.retry()
    let session = try await waiter.value
    #expect(session.isAuthenticated && session.currentToken != nil)
    #expect(try opening.get() === session)
    #expect(try bench.eventNames() == ["login"])
    #expect(try bench.files() == ["context", "token", "user"])
    try await session.close()
  }

  @Test(
    "RES-3 an opening waits for a file or folder without permissions on a real disk",
    arguments: ["a.journal", "", "secrets"])
  func forReal(name: String) async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    await #expect(processExitsWith: .success) {
      [
        folder = bench.folder.path as String, name = name as String,
        address = bench.server.baseURL.absoluteString as String
      ] in
      let files = FileManager.default
      if geteuid() == 0 {
        // File modes do not restrict the superuser.
        for path in [folder]
          + (try files.subpathsOfDirectory(atPath: folder)).map({ folder + "/" + $0 })
        {
          try #require(chown(path, 65534, 65534) == 0)
        }
        try #require(setgid(65534) == 0)
        try #require(setuid(65534) == 0)
      }
      let path = name.isEmpty ? folder : folder + "/" + name
      let rights = try files.attributesOfItem(atPath: path)
      try files.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      let clock = ManualClock()
      var configuration = SessionConfiguration(
        journal: folder + "/a.journal", secrets: FileSecretStore(folder: folder + "/secrets"),
        backend: HTTPBackend.snakeCaseJSON(try #require(URL(string: address))), clock: clock)
      configuration.followsOthers = false
      let opening = SessionOpening(configuration)
      await clock.waitForSleepers(1)
      if name == "secrets" {
        let session = try await opening.session()
        #expect(session.activity == .loading && session.isAuthenticated)
        let error = await failure { () async throws(SessionError) in
          try await session.login(.password("ada@school.test", "correct-horse"))
        }
        guard case .accessDenied(.token, _, let rights, _)? = error.secretsError else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(rights.contains(path) && rights.contains("the mode 0000"), "\(rights)")
        #expect(session.storageProblem == error && error?.advice != .unlock)
        let call = await failure { () async throws(SessionError) in try await session.accessToken()
        }
        #expect(call == error)
      } else {
        guard case .loading(let problem?) = opening.status else {
          Issue.record("\(opening.status)")
          return
        }
        #expect(problem.underlyingError is JournalError && problem.isTransient, "\(problem)")
        #expect(problem.advice != .unlock && "\(problem)".contains("the mode 0000"), "\(problem)")
      }
      try files.setAttributes(
        [.posixPermissions: try #require(rights[.posixPermissions])], ofItemAtPath: path)
      opening.retry()
      let session = try await opening.session()
      await session.retry()
      #expect(session.isAuthenticated && session.activity == .idle)
      #expect(session.currentToken != nil)
      try await session.close()
    }
  }

  @Test("RES-3 a permanent failure ends the opening with the same error for every caller")
  func fails() async throws {
    let bench = try Bench()
    try Data("text".utf8).write(to: URL(filePath: bench.journal))
    let opening = SessionOpening(bench.configuration())
    let expected = SessionError.journal(.notAJournal(path: bench.journal))
    for _ in 0..<2 {
      let error = await failure { () async throws(SessionError) in try await opening.session() }
      #expect(error == expected)
    }
    guard case .failed(expected) = opening.status else {
      Issue.record("\(opening.status)")
      return
    }
    #expect(throws: expected) { try opening.get() }
  }

  @Test("RES-3 a cancelled caller does not end the opening, and a released opening stops trying")
  func cancelled() async throws {
    let bench = try Bench()
    let disk = RefusingFiles()
    disk.isLocked = true
    var opening: SessionOpening? = opening(bench, disk)
    let one = Task { [opening] in try await opening?.session() }
    await bench.clock.waitForSleepers(1)
    one.cancel()
    let result = await one.result
    #expect(throws: SessionError.cancelled) { try result.get() }
    #expect(bench.clock.sleeperCount == 1)
    opening = nil
    await eventually("the end of trying") { bench.clock.sleeperCount == 0 }
  }

  @Test("RES-3 REF-2 a pending opening continues at once after the device is unlocked")
  func unlocked() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    let center = NotificationCenter()
    let unlocked = Notification.Name("unlocked")
    let notices = LifecycleNotices(
      foreground: LifecycleTests.came, background: LifecycleTests.went, unlocked: unlocked)
    let disk = RefusingFiles()
    disk.isLocked = true
    store.isAvailable = false
    var configuration = bench.configuration(store: store)
    configuration.journalOptions.fileSystem = disk
    let opening = SessionOpening(configuration)
    let first = SessionLifecycle(opening, notices, center: center)
    await bench.clock.waitForSleepers(1)
    disk.isLocked = false
    center.post(name: unlocked, object: nil)
    let session = try await opening.session()
    #expect(session.activity == .loading)
    let second = SessionLifecycle(session, notices, center: center)
    store.isAvailable = true
    center.post(name: unlocked, object: nil)
    await eventually("the items") { session.currentToken != nil }
    withExtendedLifetime((first, second)) {}
    try await session.close()
  }

  @Test("RES-3 a retry during a pause makes one try, and then the opening pauses again")
  func retryDuringAPause() async throws {
    let bench = try Bench()
    try await bench.signedIn(store: MemorySecretStore()).close()
    let disk = RefusingFiles()
    disk.isLocked = true
    var configuration = bench.configuration(store: MemorySecretStore())
    configuration.journalOptions.fileSystem = disk
    let opening = SessionOpening(configuration)
    await bench.clock.waitForSleepers(1)
    let refusals = disk.refusals
    opening.retry()
    await eventually("another try") {
      disk.refusals >= 2 * refusals && bench.clock.sleeperCount == 1
    }
    #expect(disk.refusals == 2 * refusals)
    disk.isLocked = false
    opening.retry()
    try await opening.session().close()
  }
}

/// The real file system, on which no file can be opened while it is locked.
final class RefusingFiles: JournalFileSystem {
  private let locked = Mutex(false)
  private let paths = Mutex((refused: Set<String>(), hidden: Set<String>()))
  private let real = POSIXFileSystem()
  private let count = Mutex(0)
  private let lists = Mutex<[String]>([])
  private let notifier: ChangeNotifier

  /// A file system in which at most `watches` files can be watched.
  init(watches: Int = .max) {
    notifier = ChangeNotifier(limit: watches)
  }

  /// How many times a file could not be opened while all were locked.
  var refusals: Int { count.withLock { $0 } }

  /// The paths whose folders were listed.
  var listed: [String] { lists.withLock { $0 } }

  /// The files that cannot be opened, even if others can.
  var refused: Set<String> {
    get { paths.withLock { $0.refused } }
    set { paths.withLock { $0.refused = newValue } }
  }

  /// The files whose folder cannot be listed.
  var hidden: Set<String> {
    get { paths.withLock { $0.hidden } }
    set { paths.withLock { $0.hidden = newValue } }
  }

  var isLocked: Bool {
    get { locked.withLock { $0 } }
    set { locked.withLock { $0 = newValue } }
  }

  func open(_ path: String, for access: FileAccess) throws(SystemFault) -> any JournalFileHandle {
    guard !isLocked else {
      count.withLock { $0 += 1 }
      throw SystemFault("open", code: EPERM)
    }
    guard !refused.contains(path) else { throw SystemFault("open", code: EACCES) }
    return try real.open(path, for: access)
  }

  func status(of path: String) throws(SystemFault) -> FileStatus { try real.status(of: path) }
  func realPath(of path: String) throws(SystemFault) -> String { try real.realPath(of: path) }
  func isLink(_ path: String) throws(SystemFault) -> Bool { try real.isLink(path) }
  func target(ofLink path: String) throws(SystemFault) -> String {
    try real.target(ofLink: path)
  }
  func names(beside path: String) throws(SystemFault) -> [String] {
    lists.withLock { $0.append(path) }
    guard !hidden.contains(path) else { throw SystemFault("list", code: EACCES) }
    return try real.names(beside: path)
  }
  func rename(_ path: String, to newPath: String) throws(SystemFault) {
    try real.rename(path, to: newPath)
  }
  func remove(_ path: String) throws(SystemFault) { try real.remove(path) }
  func openFolder(of path: String) throws(SystemFault) -> any JournalFolder {
    try real.openFolder(of: path)
  }
  func turn(at path: String) -> ProcessTurn { real.turn(at: path) }
  func changes(of path: String) -> FileChanges? { FileChanges(of: path, by: notifier) }
  func uptime() -> UInt64 { real.uptime() }
  func pause(nanoseconds: UInt64) { real.pause(nanoseconds: nanoseconds) }
}
