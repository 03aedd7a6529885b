import Foundation
import SessionJournal
import Synchronization

/// The real file system, with calls that fail when a test says so.
final class FaultyFileSystem: JournalFileSystem {
  struct Plan: Sendable {
    /// The errors of the next calls of an operation, in order.
    var faults: [String: [Int32]] = [:]

    /// How many calls of an operation succeed before its faults begin.
    var skipped: [String: Int] = [:]

    /// The maximum bytes of one write; each write uses up one entry.
    var writeSizes: [Int] = []

    /// How many reads succeed before one fails.
    var readsLeft = Int.max

    /// Whether the reads after the one that fails succeed.
    var isReadFaultBrief = false

    /// The fault of each change of a file's mode.
    var modeFault: Int32?

    /// Runs when a reader begins to judge the bytes after the whole prefix.
    var whenJudging: (@Sendable () -> Void)?

    /// Runs, once, when a new file is created.
    var whenCreating: (@Sendable () -> Void)?

    /// Runs, once, before a lock file is opened.
    var whenLocking: (@Sendable () -> Void)?

    /// Runs, once, when a sync of data begins.
    var whenSyncing: (@Sendable () -> Void)?

    /// Runs, once, before a file is watched for changes.
    var whenWatching: (@Sendable () -> Void)?

    /// The number of zeros without data that files report after their end, in bytes.
    var hole: UInt64 = 0

    /// Files that were opened and not closed.
    var openFiles = 0

    /// The operations that were called.
    var log: [String] = []
  }

  let plan = Mutex(Plan())
  private let real = POSIXFileSystem()
  let openLockFiles: OpenFileBudget

  init(openLockFiles: OpenFileBudget = OpenFileBudget(.max)) {
    self.openLockFiles = openLockFiles
  }

  func fail(_ operation: String, _ codes: Int32...) {
    plan.withLock { $0.faults[operation, default: []] += codes }
  }

  func check(_ operation: String, isLogged: Bool = true) throws(SystemFault) {
    let code = plan.withLock { plan -> Int32? in
      if isLogged { plan.log.append(operation) }
      if let left = plan.skipped[operation], left > 0 {
        plan.skipped[operation] = left - 1
        return nil
      }
      guard plan.faults[operation]?.isEmpty == false else { return nil }
      return plan.faults[operation]?.removeFirst()
    }
    if let code { throw SystemFault(operation, code: code) }
  }

  func open(_ path: String, for access: FileAccess) throws(SystemFault) -> any JournalFileHandle {
    try check("open \(access)")
    if access == .creatingOnly {
      plan.withLock { plan in
        defer { plan.whenCreating = nil }
        return plan.whenCreating
      }?()
    }
    if path.hasSuffix(".lock") {
      plan.withLock { plan in
        defer { plan.whenLocking = nil }
        return plan.whenLocking
      }?()
    }
    return FaultyFile(try real.open(path, for: access), in: self)
  }

  func status(of path: String) throws(SystemFault) -> FileStatus { try real.status(of: path) }

  func realPath(of path: String) throws(SystemFault) -> String { try real.realPath(of: path) }
  func isLink(_ path: String) throws(SystemFault) -> Bool { try real.isLink(path) }
  func target(ofLink path: String) throws(SystemFault) -> String {
    try real.target(ofLink: path)
  }

  func names(beside path: String) throws(SystemFault) -> [String] {
    try check("list")
    return try real.names(beside: path)
  }

  func rename(_ path: String, to newPath: String) throws(SystemFault) {
    try check("rename")
    try real.rename(path, to: newPath)
  }

  func remove(_ path: String) throws(SystemFault) {
    try check("remove", isLogged: false)
    try real.remove(path)
  }

  func openFolder(of path: String) throws(SystemFault) -> any JournalFolder {
    try check("openFolder", isLogged: false)
    return FaultyFolder(real: try real.openFolder(of: path), system: self)
  }

  func turn(at path: String) -> ProcessTurn { real.turn(at: path) }
  func changes(of path: String) -> FileChanges? {
    plan.withLock { plan in
      defer { plan.whenWatching = nil }
      return plan.whenWatching
    }?()
    return real.changes(of: path)
  }

  func uptime() -> UInt64 { real.uptime() }
  func pause(nanoseconds: UInt64) {
    plan.withLock { $0.log.append("pause") }
    real.pause(nanoseconds: nanoseconds)
  }
}

final class FaultyFolder: JournalFolder {
  private let real: any JournalFolder
  private let system: FaultyFileSystem

  init(real: any JournalFolder, system: FaultyFileSystem) {
    (self.real, self.system) = (real, system)
  }

  func synchronize() throws(SystemFault) {
    try system.check("syncFolder")
    try real.synchronize()
  }
}

private final class FaultyFile: JournalFileHandle {
  private let file: any JournalFileHandle
  private let system: FaultyFileSystem
  private let isClosed = Atomic(false)

  init(_ file: any JournalFileHandle, in system: FaultyFileSystem) {
    self.file = file
    self.system = system
    system.plan.withLock { $0.openFiles += 1 }
  }

  deinit { close() }

  func status() throws(SystemFault) -> FileStatus {
    let status = try file.status()
    return FileStatus(
      kind: status.kind, size: status.size + system.plan.withLock { $0.hole },
      identity: status.identity, links: status.links, owner: status.owner)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    let fails = system.plan.withLock { plan in
      plan.readsLeft -= 1
      guard plan.readsLeft < 0 else { return false }
      if plan.isReadFaultBrief { plan.readsLeft = .max }
      return true
    }
    if fails { throw SystemFault("read", code: EIO) }
    return try file.read(into: buffer, at: offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    let most = system.plan.withLock {
      $0.writeSizes.isEmpty ? Int.max : $0.writeSizes.removeFirst()
    }
    // A short write precedes the fault that explains it.
    guard most < bytes.count else {
      try system.check("write")
      return try file.write(bytes, at: offset)
    }
    return try file.write(UnsafeRawBufferPointer(rebasing: bytes[..<most]), at: offset)
  }

  func truncate(to size: UInt64) throws(SystemFault) {
    try system.check("truncate")
    try file.truncate(to: size)
  }

  func synchronizeData() throws(SystemFault) {
    system.plan.withLock { plan in
      defer { plan.whenSyncing = nil }
      return plan.whenSyncing
    }?()
    try system.check("sync")
    try file.synchronizeData()
  }

  func synchronize() throws(SystemFault) {
    try system.check("syncAll")
    try file.synchronize()
  }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? {
    system.plan.withLock { $0.whenJudging }?()
    return try file.nextData(from: offset)
  }

  func makePrivate() throws(SystemFault) {
    let code = system.plan.withLock { $0.modeFault }
    if let code { throw SystemFault("protect", code: code) }
    try file.makePrivate()
  }

  func tryLock() throws(SystemFault) -> Bool { try file.tryLock() }
  func unlock() throws(SystemFault) { try file.unlock() }

  func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    system.plan.withLock { $0.openFiles -= 1 }
    file.close()
  }
}
