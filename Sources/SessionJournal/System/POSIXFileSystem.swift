internal import CFileLock
internal import CFileStatus
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The file system of the operating system.
package struct POSIXFileSystem: JournalFileSystem {
  package init() {}

  package func open(_ path: String, for access: FileAccess) throws(SystemFault)
    -> any JournalFileHandle
  {
    try requireCString(path, for: "open")
    let mode: Int32 =
      switch access {
      case .reading: O_RDONLY
      case .writing: O_RDWR
      // A lock file or draft must not follow a link.
      case .creating: O_RDWR | O_CREAT | O_NOFOLLOW
      case .creatingOnly: O_RDWR | O_CREAT | O_EXCL
      }
    // O_NONBLOCK: opening a pipe must not wait for its other end. It has no effect on a file.
    let descriptor = try checked("open") {
      openDescriptor(path, mode | O_NONBLOCK | O_NOCTTY, mode: 0o600)
    }
    let handle = POSIXFileHandle(descriptor: descriptor)
    if access == .creatingOnly { BackupExclusion.mark(descriptor) }
    if access == .creatingOnly || access == .creating {
      do throws(SystemFault) {
        // The process's umask may have removed permissions.
        try handle.makePrivate()
      } catch {
        // The lock file belongs to another user, or the file system keeps no modes.
        guard error.isRefusedMode else { throw error }
      }
    }
    return handle
  }

  package func status(of path: String) throws(SystemFault) -> FileStatus {
    try requireCString(path, for: "inspect")
    var status = cfilestatus()
    _ = try checked("inspect") { cfilestatus_of_path(path, &status) }
    return FileStatus(status)
  }

  package func realPath(of path: String) throws(SystemFault) -> String {
    try requireCString(path, for: "inspect")
    while true {
      if let found = realpath(path, nil) {
        defer { free(found) }
        return String(cString: found)
      }
      guard errno == EINTR else { throw SystemFault("inspect", code: errno) }
    }
  }

  package func isLink(_ path: String) throws(SystemFault) -> Bool {
    try requireCString(path, for: "inspect")
    var status = stat()
    _ = try checked("inspect") { lstat(path, &status) }
    return status.st_mode & S_IFMT == S_IFLNK
  }

  package func target(ofLink path: String) throws(SystemFault) -> String {
    try requireCString(path, for: "inspect")
    var bytes = [CChar](repeating: 0, count: 4_096)
    let count = try checked("inspect") { readlink(path, &bytes, bytes.count) }
    return String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  package func names(beside path: String) throws(SystemFault) -> [String] {
    try requireCString(path, for: "list")
    let number = try checked("list") { openDescriptor(Self.folder(of: path), O_DIRECTORY) }
    guard let folder = fdopendir(number) else {
      let code = errno
      releaseDescriptor(number)
      throw SystemFault("list", code: code)
    }
    defer { closedir(folder) }
    guard let place = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(folder) else {
        guard errno == 0 else { throw SystemFault("list", code: errno) }
        return names
      }
      // Not the whole field: the system's entry may be shorter than it.
      let name = UnsafeRawPointer(entry).advanced(by: place).assumingMemoryBound(to: CChar.self)
      names.append(String(cString: name))
    }
  }

  package func rename(_ path: String, to newPath: String) throws(SystemFault) {
    _ = try checked("rename") {
      #if canImport(Darwin)
      Darwin.rename(path, newPath)
      #elseif canImport(Glibc)
      Glibc.rename(path, newPath)
      #else
      Musl.rename(path, newPath)
      #endif
    }
  }

  package func remove(_ path: String) throws(SystemFault) {
    _ = try checked("remove") { unlink(path) }
  }

  package func openFolder(of path: String) throws(SystemFault) -> any JournalFolder {
    POSIXFolder(handle: try open(Self.folder(of: path), for: .reading))
  }

  package func turn(at path: String) -> ProcessTurn {
    InProcessLockQueue.shared.turn(at: path)
  }

  package var openLockFiles: OpenFileBudget { .ofProcess }

  package func changes(of path: String) -> FileChanges? {
    isCString(path) ? FileChanges(of: path) : nil
  }

  package var user: UInt32 { geteuid() }

  package func uptime() -> UInt64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
  }

  package func pause(nanoseconds: UInt64) {
    var span = timespec()
    span.tv_sec = .init(nanoseconds / 1_000_000_000)
    span.tv_nsec = .init(nanoseconds % 1_000_000_000)
    // A signal may end it early; callers check the clock again.
    nanosleep(&span, nil)
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// An open folder, which is closed with its last reference.
private final class POSIXFolder: JournalFolder {
  private let handle: any JournalFileHandle

  init(handle: any JournalFileHandle) {
    self.handle = handle
  }

  func synchronize() throws(SystemFault) {
    try handle.synchronize()
  }
}

private final class POSIXFileHandle: JournalFileHandle {
  /// The descriptor; −1 once closed, so that a late call fails and does not reach another file.
  private let current: Atomic<Int32>

  private var descriptor: Int32 { current.load(ordering: .relaxed) }

  let isShared: Bool

  init(descriptor: Int32) {
    current = Atomic(descriptor)
    isShared = cfilelock_is_local(descriptor) == 0
  }

  deinit {
    close()
  }

  func forgetCache() {
    #if os(Linux) || os(Android)
    // FUSE keeps the pages of an open file, and its size for a second: a process on the mount did
    // not see what another one wrote to the folder below it, and wrote over its records (Linux 6,
    // bindfs 1.14.7).
    guard isShared else { return }
    cfilestatus_refresh(descriptor)
    _ = posix_fadvise(descriptor, 0, 0, Int32(POSIX_FADV_DONTNEED))
    #endif
  }

  func status() throws(SystemFault) -> FileStatus {
    var status = cfilestatus()
    _ = try checked("inspect") { cfilestatus_of_descriptor(descriptor, &status) }
    return FileStatus(status)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    var done = 0
    while done < buffer.count {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
      let position = off_t(clamping: offset + UInt64(done))
      let count = try checked("read") { pread(descriptor, rest.baseAddress, rest.count, position) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    let count = try checked("write") {
      pwrite(descriptor, bytes.baseAddress, bytes.count, off_t(clamping: offset))
    }
    // A device that writes nothing and reports no error is full.
    guard count > 0 || bytes.isEmpty else { throw SystemFault("write", code: ENOSPC) }
    return count
  }

  func truncate(to size: UInt64) throws(SystemFault) {
    _ = try checked("truncate") { ftruncate(descriptor, off_t(clamping: size)) }
  }

  func synchronizeData() throws(SystemFault) {
    #if canImport(Darwin)
    try synchronize()
    #else
    _ = try checked("sync") { fdatasync(descriptor) }
    #endif
  }

  func synchronize() throws(SystemFault) {
    #if canImport(Darwin)
    // fsync leaves the bytes in the drive's cache; some file systems support only fsync.
    if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    guard [ENOTSUP, ENOTTY, EINVAL].contains(errno) else {
      throw SystemFault("sync", code: errno)
    }
    #endif
    _ = try checked("sync") { fsync(descriptor) }
  }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? {
    #if canImport(Darwin)
    let whence = SEEK_DATA
    #else
    // On Linux the constant needs _GNU_SOURCE; its value is part of the kernel's interface.
    let whence: Int32 = 3
    #endif
    let found = lseek(descriptor, off_t(clamping: offset), whence)
    if found >= 0 { return UInt64(found) }
    // A file system without holes rejects the call: everything may be data.
    return errno == ENXIO ? nil : offset
  }

  func makePrivate() throws(SystemFault) {
    var status = cfilestatus()
    _ = try checked("inspect") { cfilestatus_of_descriptor(descriptor, &status) }
    guard status.mode & 0o7777 != 0o600 else { return }
    _ = try checked("protect") { fchmod(descriptor, 0o600) }
  }

  func tryLock() throws(SystemFault) -> Bool {
    do throws(SystemFault) {
      _ = try checked("lock") { flock(descriptor, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      if error.code == EWOULDBLOCK { return false }
      throw error
    }
  }

  func unlock() throws(SystemFault) {
    _ = try checked("unlock") { flock(descriptor, LOCK_UN) }
  }

  func close() {
    let last = current.exchange(-1, ordering: .relaxed)
    if last >= 0 { releaseDescriptor(last) }
  }
}

/// Whether C reads the whole path: a call would stop at a NUL and use another file.
private func isCString(_ path: String) -> Bool {
  path.withCString { strlen($0) } == path.utf8.count
}

private func requireCString(_ path: String, for operation: String) throws(SystemFault) {
  guard isCString(path) else { throw SystemFault(operation, code: EINVAL) }
}

/// Returns the system's message for an errno.
func systemMessage(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    buffer.initialize(repeating: 0)
    guard let start = buffer.baseAddress, strerror_r(code, start, buffer.count) == 0 else {
      return "unknown error"
    }
    return String(cString: start)
  }
}

private func releaseDescriptor(_ descriptor: Int32) {
  #if canImport(Darwin)
  _ = Darwin.close(descriptor)
  #elseif canImport(Glibc)
  _ = Glibc.close(descriptor)
  #else
  _ = Musl.close(descriptor)
  #endif
}

/// Repeats a call that a signal interrupted, and throws a fault for −1.
private func checked<Number: FixedWidthInteger & SignedNumeric>(
  _ operation: String, _ call: () -> Number
) throws(SystemFault) -> Number {
  while true {
    let result = call()
    if result >= 0 { return result }
    guard errno == EINTR else { throw SystemFault(operation, code: errno) }
  }
}

extension FileStatus {
  init(_ status: cfilestatus) {
    let kind: Kind =
      switch mode_t(truncatingIfNeeded: status.mode) & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    self.init(
      kind: kind, size: status.size,
      identity: Identity(device: status.device, number: status.number), links: status.links,
      owner: status.owner)
  }
}

extension FileStatus.Identity {
  /// The identity of an open file; nil if the system does not tell it.
  init?(of descriptor: Int32) {
    var status = cfilestatus()
    guard cfilestatus_of_descriptor(descriptor, &status) == 0 else { return nil }
    self = FileStatus(status).identity
  }

  /// The identity of the file at a path now; nil if there is none, or if the system does not tell it.
  init?(at path: String) {
    var status = cfilestatus()
    guard cfilestatus_of_path(path, &status) == 0 else { return nil }
    self = FileStatus(status).identity
  }
}

extension SystemFault {
  /// Returns the error that a caller of the journal sees.
  func error(at path: String) -> JournalError {
    switch code {
    case ENOENT: .missing(path: path)
    case ENOTDIR: .folderMissing(path: path)
    case EISDIR: .isDirectory(path: path)
    case EACCES, EPERM: .permissionDenied(path: path, rights: AccessRights.denial(of: path))
    case EROFS: .readOnlyFolder(path: path)
    case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
    case ENXIO, ENODEV: .notARegularFile(path: path)
    default: .io(path: path, operation: operation, code: code)
    }
  }

  static func readOnly(_ operation: String) -> SystemFault {
    SystemFault(operation, code: EBADF)
  }

  /// The draft was replaced by another file.
  static let isExchanged = SystemFault("rename", code: ESTALE)
  static let isFolder = SystemFault("open", code: EISDIR)
  static let isNoFile = SystemFault("open", code: ENXIO)

  var isMissing: Bool { code == ENOENT }
  var isDenied: Bool { code == EACCES || code == EPERM }

  /// Whether the file belongs to another user, or its file system keeps no modes.
  var isRefusedMode: Bool { isDenied || [EROFS, ENOTSUP, EOPNOTSUPP, ENOSYS].contains(code) }
  var isAlreadyThere: Bool { code == EEXIST }
}
