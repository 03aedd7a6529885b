import ChildProcesses
import Foundation
import SessionJournal
import Testing

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
