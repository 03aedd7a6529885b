internal import SessionExplain
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A folder that is given in place of the journals in it, at any depth.
enum JournalFolder {
  /// The ends of the names of journals and exports.
  private static let endings = [".journal", ".jsonl"]

  /// Replaces each folder by the journals and exports in it and below it, sorted by path.
  ///
  /// A file is found by the end of its name. A quarantined journal is found, too. Locks, drafts, tails
  /// that were cut off and copies that a repair left are not. Links to folders are not followed, so
  /// there is no loop. A file with several names counts once. A folder without a journal and files
  /// with several names are noted on standard error, unless `isQuiet` is true.
  ///
  /// Throws `noJournal` if nothing at all was found.
  static func expanded(_ files: [JournalFile], isQuiet: Bool, _ context: ToolContext)
    throws(ToolError) -> Expansion
  {
    var expansion = Expansion()
    var empty: [JournalFile] = []
    var named: [Candidate] = []
    for file in files {
      let candidate = Candidate(file)
      guard candidate.isFolder else {
        named.append(candidate)
        continue
      }
      var found = Search()
      found.look(in: prefix(of: file), of: file)
      if found.files.isEmpty, found.refused.isEmpty { empty.append(file) }
      named += found.files.sorted { $0.file.path < $1.file.path }
      expansion.refused += found.refused
    }
    if named.isEmpty {
      if let error = expansion.refused.first { throw error }
      if let first = empty.first { throw noJournal(in: first, others: empty.count - 1) }
    }
    for file in empty where !isQuiet {
      context.errors.write("Note: \(file.name.printable) holds no journal.\n")
    }
    expansion.files = withoutOtherNames(named)
    let others = named.count - expansion.files.count
    if others > 0, !isQuiet {
      context.errors.write(
        "Note: \(count(others, "name")) of files that were already named \(others == 1 ? "is" : "are") "
          + "left out.\n")
    }
    expansion.files = JournalFile.withOneKey(expansion.files)
    return expansion
  }

  /// A file that may be read, and what the system says of it.
  private struct Candidate {
    var file: JournalFile
    /// Its status after links; `nil` if it is not there.
    let status: FileStatus?

    var isFolder: Bool { status?.kind == .folder }

    init(_ file: JournalFile) {
      self.file = file
      guard !file.path.isEmpty else {
        status = nil
        return
      }
      do throws(SystemFault) {
        status = try POSIXFileSystem().status(of: file.path)
      } catch {
        // What is not there is reported by the command that opens it.
        status = nil
      }
      self.file.knownStatus = status
    }
  }

  /// Returns the files without those that are the same as a file before them.
  private static func withoutOtherNames(_ files: [Candidate]) -> [JournalFile] {
    var known: Set<FileStatus.Identity> = []
    return files.filter { $0.status.map { known.insert($0.identity).inserted } ?? true }
      .map(\.file)
  }

  /// The journals in folders, and the folders that cannot be listed.
  struct Expansion {
    var files: [JournalFile] = []
    var refused: [ToolError] = []
  }

  private static func noJournal(in file: JournalFile, others: Int) -> ToolError {
    let rest = others == 0 ? "" : ", and the same holds for \(count(others, "other folder"))"
    return ToolError(
      .missing, .noJournal, "\(file.name) holds no journal\(rest).",
      consequence:
        "The name of a journal ends with .journal, that of an export with .jsonl.",
      next: "check the path")
  }

  /// The name of the journal in a session's directory.
  private static let own = "session.journal"

  /// Returns the journal of a session's directory, or the only journal in another folder; any other
  /// file unchanged.
  ///
  /// It is for commands that read one journal. Files below the folder are not looked for.
  static func journal(of file: JournalFile) -> JournalFile {
    guard isFolder(file.path) else { return file }
    let prefix = prefix(of: file)
    var names: [String] = []
    do throws(SystemFault) {
      names = try POSIXFileSystem().names(beside: prefix + ".")
    } catch {
      // The command that opens the folder reports that it is none of its files.
    }
    let journals = names.filter { !$0.hasPrefix(".") && $0.hasSuffix(".journal") }
    guard let name = journals.contains(own) ? own : journals.count == 1 ? journals[0] : nil else {
      return file
    }
    return file.with(path: prefix + name)
  }

  /// Returns the one journal that the files name, for a command that answers about one journal in
  /// another way than about several: the only file, or the journal of a session's directory that
  /// holds no other.
  static func single(_ files: [JournalFile]) -> JournalFile? {
    guard let file = files.first, files.count == 1 else { return nil }
    guard isFolder(file.path) else { return file }
    let prefix = prefix(of: file)
    var found = Search()
    found.look(in: prefix, of: file)
    guard found.refused.isEmpty, found.files.map(\.file.path) == [prefix + own] else { return nil }
    return file.with(path: prefix + own)
  }

  /// The path of a folder, with a slash at its end.
  private static func prefix(of folder: JournalFile) -> String {
    folder.path.hasSuffix("/") ? folder.path : folder.path + "/"
  }

  private static func isFolder(_ path: String) -> Bool {
    !path.isEmpty && mode(path, stat) == S_IFDIR
  }

  /// The journals found so far.
  private struct Search {
    var files: [Candidate] = []
    var refused: [ToolError] = []

    /// Looks into a folder, whose path ends with a slash; its files are read as `given` is.
    mutating func look(in folder: String, of given: JournalFile) {
      let names: [String]
      do throws(SystemFault) {
        names = try POSIXFileSystem().names(beside: folder + ".")
      } catch {
        refused.append(JournalFolder.refused(folder, error))
        return
      }
      for name in names where name != "." && name != ".." {
        let path = folder + name
        if isJournal(name) {
          var found = Candidate(given.with(path: path))
          found.file.isFound = true
          guard found.isFolder else {
            files.append(found)
            continue
          }
        }
        if mode(path, lstat) == S_IFDIR { look(in: path + "/", of: given) }
      }
    }
  }

  private static func refused(_ folder: String, _ fault: SystemFault) -> ToolError {
    ToolError(
      .inputOutput, fault.code == EACCES ? .permissionDenied : .inputOutput,
      "The system refused to \(fault.operation) \(folder.quotedWhereNeeded): "
        + "\(systemMessage(fault.code)) (errno \(fault.code)).",
      consequence: "What is in it was not read.", next: "check the folder's owner and mode")
  }

  /// Whether the name is that of a journal, an export, or a quarantined journal.
  static func isJournal(_ name: String) -> Bool {
    if endings.contains(where: { name.hasSuffix($0) }) { return true }
    guard let end = name.ranges(of: ".journal.aside-").last else { return false }
    let rest = name[end.lowerBound...].dropFirst(8)
    // A repaired journal has the records of its copy, and would count twice.
    guard rest.split(separator: "-").dropFirst(2).first != "repaired" else { return false }
    return SetAsideJournal(path: name, rest: rest) != nil
  }

  /// Returns the kind of file at a path; 0 if there is none.
  private static func mode(
    _ path: String, _ ask: (UnsafePointer<CChar>, UnsafeMutablePointer<stat>) -> Int32
  ) -> mode_t {
    var status = stat()
    return ask(path, &status) == 0 ? status.st_mode & S_IFMT : 0
  }
}

/// The system's files, of which nothing more is read once the command must end.
///
/// Every loop that reads a journal goes through them: passes over records, surveys of damaged
/// files, copies. A read then fails with `EINTR`, and the command throws that it was interrupted.
struct WatchedFiles: JournalFileSystem {
  private let system = POSIXFileSystem()
  private let interruption: Interruption

  init(_ interruption: Interruption) {
    self.interruption = interruption
  }

  func open(_ path: String, for access: FileAccess) throws(SystemFault) -> any JournalFileHandle {
    WatchedFile(try system.open(path, for: access), interruption)
  }

  func status(of path: String) throws(SystemFault) -> FileStatus { try system.status(of: path) }

  func realPath(of path: String) throws(SystemFault) -> String { try system.realPath(of: path) }

  func isLink(_ path: String) throws(SystemFault) -> Bool { try system.isLink(path) }

  func target(ofLink path: String) throws(SystemFault) -> String {
    try system.target(ofLink: path)
  }

  func names(beside path: String) throws(SystemFault) -> [String] {
    try system.names(beside: path)
  }

  func rename(_ path: String, to newPath: String) throws(SystemFault) {
    try system.rename(path, to: newPath)
  }

  func remove(_ path: String) throws(SystemFault) { try system.remove(path) }

  func openFolder(of path: String) throws(SystemFault) -> any SessionJournal.JournalFolder {
    try system.openFolder(of: path)
  }

  func turn(at path: String) -> ProcessTurn { system.turn(at: path) }
  func changes(of path: String) -> FileChanges? { system.changes(of: path) }
  func uptime() -> UInt64 { system.uptime() }
  func pause(nanoseconds: UInt64) { system.pause(nanoseconds: nanoseconds) }
  var user: UInt32 { system.user }
}

/// One open file that can be read only until the command must end.
private final class WatchedFile: JournalFileHandle {
  private let file: any JournalFileHandle
  private let interruption: Interruption

  init(_ file: any JournalFileHandle, _ interruption: Interruption) {
    self.file = file
    self.interruption = interruption
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    guard interruption.mayRead() else { throw SystemFault("read", code: EINTR) }
    return try file.read(into: buffer, at: offset)
  }

  func status() throws(SystemFault) -> FileStatus { try file.status() }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    try file.write(bytes, at: offset)
  }

  func truncate(to size: UInt64) throws(SystemFault) { try file.truncate(to: size) }
  func synchronizeData() throws(SystemFault) { try file.synchronizeData() }
  func synchronize() throws(SystemFault) { try file.synchronize() }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? {
    try file.nextData(from: offset)
  }

  func makePrivate() throws(SystemFault) { try file.makePrivate() }
  func tryLock() throws(SystemFault) -> Bool { try file.tryLock() }
  func unlock() throws(SystemFault) { try file.unlock() }
  func close() { file.close() }
}
