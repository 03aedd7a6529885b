import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import SessionJournal

/// What only a child process may do: give up root rights, limit the size of files.
@Suite("Without privileges")
struct PrivilegeTests {
  @Test("JRN-2 a file without read permission and a folder without write permission are refused")
  func permissions() async throws {
    let scratch = try TemporaryFolder()
    let folder = scratch.path
    _ = try Journal.open(at: scratch.file("private.journal")).append([draft("one")])
    try FileManager.default.createDirectory(
      atPath: folder + "/sealed", withIntermediateDirectories: false)
    let open = try Journal.open(at: folder + "/sealed/open.journal")
    _ = try open.append([draft("one")])
    try open.close()
    try FileManager.default.removeItem(atPath: folder + "/sealed/open.journal.lock")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o666], ofItemAtPath: folder + "/sealed/open.journal")
    for name in [folder, folder + "/sealed"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: name)
    }
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      if geteuid() == 0 {
        try #require(setgid(65534) == 0)
        try #require(setuid(65534) == 0)
      }
      let unreadable = folder + "/private.journal"
      if getuid() == 65534 {
        let rights =
          "\(unreadable) belongs to user 0 and has the mode 0600, and this process is user "
        let denied = JournalError.permissionDenied(path: unreadable, rights: rights + "65534")
        #expect(throws: denied) { try Journal.open(at: unreadable) }
        #expect(throws: denied) { _ = try JournalReader(path: unreadable) }
      }
      let new = folder + "/sealed/new.journal"
      #expect(throws: JournalError.readOnlyFolder(path: new)) { try Journal.open(at: new) }
      let sealed = folder + "/sealed/open.journal"
      #expect(throws: JournalError.readOnlyFolder(path: sealed)) { try Journal.open(at: sealed) }
      var reader = try JournalReader(path: sealed)
      #expect(try reader.next()?.text == "one")
      #expect(try reader.ending() == .clean)
    }
    for name in [folder, folder + "/sealed"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: name)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/sealed").count == 1)
  }

  @Test("JRN-2 a limit of zero bytes results in no journal and leaves only the lock file")
  func noRoomForNew() async throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = try #require(fileSizeLimit())
      limit.rlim_cur = 0
      try #require(setFileSizeLimit(limit))
      #expect(throws: JournalError.noRoomToCreate(path: path)) { try Journal.open(at: path) }
    }
    #expect(try scratch.names == ["a.journal.lock"])
    #expect(try Journal.open(at: path).recovery.created)
  }

  @Test("JRN-2 a limit on file sizes fails the append, and the journal stays usable")
  func limitedSize() async throws {
    let scratch = try TemporaryFolder()
    let path = scratch.journal
    await #expect(processExitsWith: .success) { [path = path as String] in
      // Without this the system kills the process instead of refusing the write.
      signal(SIGXFSZ, SIG_IGN)
      let journal = try Journal.open(at: path)
      let first = try journal.append([draft("first")]).appended
      let size = try contents(of: path).count
      let unlimited = try #require(fileSizeLimit())
      var limit = unlimited
      limit.rlim_cur = rlim_t(size + 50)
      try #require(setFileSizeLimit(limit))
      #expect(throws: JournalError.diskFull(path: path)) {
        // More than the room that the first append reserved.
        try journal.append([JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 80_000))])
      }
      var reader = try JournalReader(path: path)
      #expect(try reader.next() == first.first)
      #expect(try reader.ending() == .clean)
      try #require(setFileSizeLimit(unlimited))
      let second = try journal.append([draft("second")]).appended
      #expect(try journal.records(after: 0, limit: 9) == first + second)
    }
    var reader = try JournalReader(path: path)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 2)
  }
}

#if canImport(Glibc)
private let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
#else
private let fileSize = RLIMIT_FSIZE
#endif

private func fileSizeLimit() -> rlimit? {
  var limit = rlimit()
  return getrlimit(fileSize, &limit) == 0 ? limit : nil
}

private func setFileSizeLimit(_ limit: rlimit) -> Bool {
  var limit = limit
  return setrlimit(fileSize, &limit) == 0
}

@Suite("Lock files that stay open")
struct LockFileTests {
  @Test("SCL-2 JRN-2 of three journals one keeps its lock file open, and all take turns as before")
  func budget() throws {
    let scratch = try TemporaryFolder()
    let system = FaultyFileSystem(openLockFiles: OpenFileBudget(1))
    var options = JournalOptions()
    options.fileSystem = system
    let journals = try (0..<3).map { number in
      try Journal.open(at: scratch.file("\(number).journal"), options: options) { _, _ in }
    }
    let other = try Journal.open(at: scratch.file("2.journal")) { _, _ in }
    for round in 0..<3 {
      for journal in journals { _ = try journal.append([draft("\(round)")]) }
      _ = try other.append([draft("other")])
      #expect(system.plan.withLock { $0.openFiles } == 4, "three journals and one lock file")
    }
    #expect(try journals[2].records(after: 0, limit: 10).count == 5)
    #expect(try journals[2].catchUp().map(\.text) == ["other"])
    // The place of a journal that was closed is free for another one.
    try journals[0].close()
    _ = try journals[1].append([draft("kept")])
    #expect(system.plan.withLock { $0.openFiles } == 3)
    for journal in journals { try journal.close() }
    try other.close()
    #expect(system.plan.withLock { $0.openFiles } == 0)
  }

  @Test("SCL-2 JRN-2 a lock file that is opened for each commit is found again after its removal")
  func removed() throws {
    let scratch = try TemporaryFolder()
    var options = JournalOptions()
    options.fileSystem = FaultyFileSystem(openLockFiles: OpenFileBudget(0))
    let journal = try Journal.open(at: scratch.journal, options: options) { _, _ in }
    _ = try journal.append([draft("one")])
    try FileManager.default.removeItem(atPath: scratch.journal + ".lock")
    _ = try journal.append([draft("two")])
    #expect(FileManager.default.fileExists(atPath: scratch.journal + ".lock"))
    try journal.close()
  }

  @Test("SCL-2 JRN-2 a journal that found its lock taken keeps no lock file open without a place")
  func busy() throws {
    let scratch = try TemporaryFolder()
    let system = FaultyFileSystem(openLockFiles: OpenFileBudget(0))
    var options = JournalOptions()
    // A child process that another test starts may hold a copy of the lock until its program runs.
    (options.fileSystem, options.lockDeadline) = (system, .seconds(1))
    let journal = try Journal.open(at: scratch.journal, options: options)
    let other = open(scratch.journal + ".lock", O_RDWR)
    #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
    #expect(throws: JournalError.self) { try journal.append([draft("one")]) }
    #expect(system.plan.withLock { $0.openFiles } == 1, "the journal")
    close(other)
    _ = try journal.append([draft("one")])
    try journal.close()
  }
}

/// Whether a journal is at a path: present, proven absent, or not known (RES-7).
@Suite("Presence of a journal")
struct PresenceTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func presence(_ path: String) -> LogPresence {
    Journal.presence(at: path, options: JournalOptions())
  }

  private func isUnknown(_ path: String) -> Bool {
    if case .unknown = presence(path) { true } else { false }
  }

  @Test("RES-7 a name that is missing from a folder with other files is proven absent")
  func absent() throws {
    let folder = scratch.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(presence(folder + "/a.journal") == .absent)
    try Data().write(to: URL(filePath: folder + "/other"))
    #expect(presence(folder + "/a.journal") == .absent)
    #expect(presence(folder + "/missing/a.journal") == .absent)
  }

  @Test("RES-7 an empty folder may be the place of a mount, so absence is not known")
  func emptyMountPoint() throws {
    let mount = scratch.file("mount")
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
    #expect(isUnknown(mount + "/app/a.journal"))
    #expect(isUnknown("/mnt/no-such-disk/a.journal"))
  }

  @Test("RES-7 a folder that is a link without a target proves nothing, and the error names it")
  func danglingFolder() throws {
    let link = scratch.file("disk")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: scratch.file("not-mounted"))
    let path = link + "/a.journal"
    #expect(presence(path) == .unknown(.danglingLink(path: path)))
    #expect(presence(link) == .unknown(.danglingLink(path: link)))
  }
}
