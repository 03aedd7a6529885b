internal import SessionJournal

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A folder that is given in place of the journals in it.
enum JournalFolder {
  /// Replaces each folder by every `*.journal` in it, sorted by name; subfolders are not searched.
  ///
  /// A folder without a journal is kept, and the command that opens it reports the error.
  static func expanded(_ files: [JournalFile]) throws(ToolError) -> [JournalFile] {
    var expanded: [JournalFile] = []
    for file in files {
      let found = try journals(in: file)
      expanded += found.isEmpty ? [file] : found
    }
    return JournalFile.withOneKey(expanded)
  }

  private static func journals(in file: JournalFile) throws(ToolError) -> [JournalFile] {
    let system = POSIXFileSystem()
    do throws(SystemFault) {
      guard !file.path.isEmpty, try system.status(of: file.path).kind == .folder else { return [] }
    } catch {
      // The command that opens it reports the error.
      return []
    }
    let folder = file.path.hasSuffix("/") ? file.path : file.path + "/"
    do throws(SystemFault) {
      return try system.names(beside: folder + ".").filter { $0.hasSuffix(".journal") }.sorted()
        .map {
          JournalFile(
            path: folder + $0, name: (folder + $0).quotedWhereNeeded,
            interruption: file.interruption, redactor: file.redactor)
        }
    } catch {
      throw ToolError(
        .inputOutput, error.code == 13 ? .permissionDenied : .inputOutput,
        "The system refused to \(error.operation) \(file.name): \(systemMessage(error.code)) "
          + "(errno \(error.code)).", next: "check the folder's owner and mode")
    }
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
    guard interruption.goesOn() else { throw SystemFault("read", code: EINTR) }
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
