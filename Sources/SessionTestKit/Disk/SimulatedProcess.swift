package import SessionJournal
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A process that uses a simulated disk.
///
/// Its clock advances only while it waits itself. So waiting for another process's lock ends in
/// `busy` at once.
public final class SimulatedProcess: Sendable {
  /// The number of the process on the disk, from 0, in order of creation.
  public let number: Int

  /// The disk that the process uses.
  public let disk: SimulatedDisk

  init(number: Int, disk: SimulatedDisk) {
    self.number = number
    self.disk = disk
  }

  /// Whether the process can still make calls.
  public var isAlive: Bool { disk.state.withLock { $0.processes[number] } }

  /// Ends the process: its locks are released, its writes stay visible, and its later calls fail.
  public func kill() {
    disk.state.withLock { $0.kill(number) }
  }
}

extension SimulatedProcess: JournalFileSystem {
  package func open(_ path: String, for access: FileAccess) throws(SystemFault)
    -> any JournalFileHandle
  {
    try disk.calling { state throws(SystemFault) in
      let file = try state.open(path.plain, for: access, by: number)
      return DiskHandle(
        number: state.newHandle(), file: file, seenFailures: state.files[file].failures,
        process: self)
    }
  }

  package func status(of path: String) throws(SystemFault) -> FileStatus {
    try disk.calling { state throws(SystemFault) in
      let file = try state.file(at: path.plain, .inspectPath, by: number)
      return state.files[file].status(number: file)
    }
  }

  /// Records the file, and returns `nil`: a simulated disk reports no changes.
  package func changes(of path: String) -> FileChanges? {
    disk.state.withLock { $0.watched[number] = $0.names[path.plain] }
    return nil
  }

  /// The number of the file that the process last asked to watch; `nil` if there is none.
  package var watchedFile: Int? { disk.state.withLock { $0.watched[number] } }

  /// Returns a new turn each time, since simulated calls never wait for each other.
  package func turn(at path: String) -> ProcessTurn { ProcessTurn() }

  /// Returns the path without a slash at its end: there are no links here, and every folder exists.
  package func realPath(of path: String) throws(SystemFault) -> String {
    path.count > 1 && path.hasSuffix("/") ? String(path.plain.dropLast()) : path.plain
  }

  package func isLink(_ path: String) throws(SystemFault) -> Bool { false }

  package func target(ofLink path: String) throws(SystemFault) -> String { path }

  package func names(beside path: String) throws(SystemFault) -> [String] {
    try disk.calling { state throws(SystemFault) in
      _ = try state.begin(.list, by: number)
      return state.names(beside: path.plain)
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemFault) {
    try disk.calling { state throws(SystemFault) in
      let file = try state.file(at: path.plain, .rename, by: number)
      state.change(DiskState.NameChange(from: path.plain, to: newPath.plain, file: file))
    }
  }

  package func remove(_ path: String) throws(SystemFault) {
    try disk.calling { state throws(SystemFault) in
      let file = try state.file(at: path.plain, .remove, by: number)
      state.change(DiskState.NameChange(from: path.plain, to: nil, file: file))
    }
  }

  /// Opens a folder.
  ///
  /// This is not counted as a call, since it has no failure that the folder's other calls do not
  /// have.
  package func openFolder(of path: String) throws(SystemFault) -> any JournalFolder {
    SimulatedFolder(disk: disk, process: number, path: path.plain)
  }

  package func uptime() -> UInt64 {
    disk.state.withLock { $0.uptime }
  }

  package func pause(nanoseconds: UInt64) {
    disk.state.withLock { $0.uptime += nanoseconds }
  }

  /// Returns a salt made from a counter, so that a file is the same in every run.
  package func newSalt() -> UInt64 {
    disk.state.withLock { $0.newSalt() }
  }
}

/// An open file of a process.
final class DiskHandle: JournalFileHandle {
  private let number: UInt64
  private let file: Int
  private let process: SimulatedProcess
  private let isClosed = Atomic(false)

  /// The number of failed syncs of the file that this handle has reported.
  private let seenFailures: Atomic<Int>

  init(number: UInt64, file: Int, seenFailures: Int, process: SimulatedProcess) {
    self.number = number
    self.file = file
    self.process = process
    self.seenFailures = Atomic(seenFailures)
  }

  deinit {
    close()
  }

  private func call<Value: Sendable>(
    _ operation: DiskOperation, offset: UInt64 = 0, bytes: Int = 0,
    _ body: (inout DiskState, DiskFault?) throws(SystemFault) -> Value
  ) throws(SystemFault) -> Value {
    guard !isClosed.load(ordering: .relaxed) else {
      throw SystemFault(operation.errorName, code: EBADF)
    }
    return try process.disk.calling { state throws(SystemFault) -> Value in
      let fault = try state.begin(
        operation, by: process.number, file: file, offset: Int(clamping: offset), bytes: bytes)
      return try body(&state, fault)
    }
  }

  func status() throws(SystemFault) -> FileStatus {
    try call(.inspect) { state, _ in state.files[file].status(number: file) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    try call(.read, offset: offset, bytes: buffer.count) { state, _ in
      state.files[file].read(into: buffer, at: Int(clamping: offset))
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    try call(.write, offset: offset, bytes: bytes.count) { state, fault throws(SystemFault) in
      let start = Int(clamping: offset)
      var count = bytes.count
      var dies = false
      switch fault {
      case .shortWrite(let most): count = min(count, max(1, most))
      case .death(let most):
        count = min(count, max(0, most))
        dies = true
      default: break
      }
      count = try state.admit(count, at: start, of: file)
      state.files[file].write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: start)
      if case .flippedBit(let bit) = fault, count > 0 {
        state.files[file].flip(bit: bit % (8 * count), from: start)
      }
      if dies {
        state.kill(process.number)
        throw SystemFault("write", code: ESRCH)
      }
      return count
    }
  }

  func truncate(to size: UInt64) throws(SystemFault) {
    try call(.truncate, offset: size) { state, _ in
      let freed = state.files[file].content.count - Int(clamping: size)
      state.files[file].truncate(to: Int(clamping: size))
      if let room = state.room { state.room = max(0, room + freed) }
    }
  }

  /// Does nothing: a simulated disk has no other users.
  func makePrivate() throws(SystemFault) {}

  func synchronizeData() throws(SystemFault) { try synchronize(.synchronizeData) }
  func synchronize() throws(SystemFault) { try synchronize(.synchronize) }

  private func synchronize(_ operation: DiskOperation) throws(SystemFault) {
    try call(operation) { state, fault throws(SystemFault) in
      switch fault {
      case .failedSync(let written, let evicting):
        let places = state.files[file].dirty.sectors.enumerated()
        let kept = Set(places.filter { written >> UInt64($0.offset % 64) & 1 == 1 }.map(\.element))
        state.files[file].dropDirty(storing: kept.contains, evicting: evicting)
      case .some:
        state.files[file].dropDirty(storing: { _ in false }, evicting: false)
      case nil:
        state.files[file].synchronize()
      }
      // As on Linux, each handle that was open at the time reports a failed sync once.
      let failures = state.files[file].failures
      guard seenFailures.exchange(failures, ordering: .relaxed) == failures else {
        throw SystemFault("sync", code: fault?.code ?? EIO)
      }
    }
  }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? {
    try call(.nextData, offset: offset) { state, _ in
      state.files[file].nextData(from: Int(clamping: offset)).map(UInt64.init)
    }
  }

  func tryLock() throws(SystemFault) -> Bool {
    try call(.lock) { state, _ in
      let mine = DiskLock(handle: number, process: process.number)
      guard let lock = state.files[file].lock else {
        state.files[file].lock = mine
        return true
      }
      return lock == mine
    }
  }

  func unlock() throws(SystemFault) {
    try call(.unlock) { state, _ in release(&state) }
  }

  func close() {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return }
    process.disk.state.withLock { release(&$0) }
  }

  private func release(_ state: inout DiskState) {
    state.files[file].release(by: number)
  }
}

extension DiskFile {
  /// Releases the lock, if this handle has it.
  fileprivate mutating func release(by handle: UInt64) {
    if lock?.handle == handle { lock = nil }
  }

  fileprivate func status(number: Int) -> FileStatus {
    FileStatus(
      kind: .file, size: UInt64(content.count),
      identity: .init(device: 1, number: UInt64(number) + 1))
  }
}

extension String {
  /// The path without a leading `./`.
  fileprivate var plain: String {
    guard utf8.first == UInt8(ascii: "."), utf8.dropFirst().first == UInt8(ascii: "/") else {
      return self
    }
    return String(self[utf8.index(startIndex, offsetBy: 2)...])
  }
}

private final class SimulatedFolder: JournalFolder {
  private let disk: SimulatedDisk
  private let process: Int
  private let path: String

  init(disk: SimulatedDisk, process: Int, path: String) {
    (self.disk, self.process, self.path) = (disk, process, path)
  }

  func synchronize() throws(SystemFault) {
    try disk.calling { state throws(SystemFault) in
      _ = try state.begin(.synchronizeFolder, by: process)
      state.synchronizeFolder(of: path)
    }
  }
}
