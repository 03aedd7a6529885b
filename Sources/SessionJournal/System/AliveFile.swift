internal import CFileLock
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// A lock on one byte of the file `<path>.alive` next to a journal; every live opening holds one.
///
/// The kernel releases the lock when the process ends, for any reason, unless a child process has
/// inherited the open file. Every process of this kernel that can open the file sees the lock, in any
/// namespace. Only Linux has such locks, and Apple's systems kill a suspended
/// app that holds one. If no lock is available, none is held, and that is no error.
package final class AliveFile: Sendable {
  /// Whether the byte of an opening is locked.
  package enum Lock: Sendable {
    case held
    case free
  }

  private let files: AliveFiles
  private let byte: UInt64
  private let isHeld = Atomic<Bool>(true)

  /// The identity of the locked file; another file of the same name has other locks.
  package let identity: FileStatus.Identity

  fileprivate init(_ byte: UInt64, of identity: FileStatus.Identity, in files: AliveFiles) {
    (self.byte, self.identity, self.files) = (byte, identity, files)
  }

  deinit { release() }

  /// Locks the byte of an opening next to a journal; nil if no lock is available.
  package static func take(
    beside journal: String, byte: UInt64, options: JournalOptions, in files: AliveFiles = .shared
  ) -> AliveFile? {
    guard let path = path(beside: journal, options),
      cfilelock_path_is_local(POSIXFileSystem.folder(of: path)) == 1
    else { return nil }
    return files.take(path, byte).map { AliveFile(byte, of: $0, in: files) }
  }

  /// Returns whether another opening of the journal holds its byte, and the file that was asked.
  ///
  /// Nil if that cannot be determined.
  package static func ask(
    beside journal: String, byte: UInt64, options: JournalOptions
  ) -> (file: FileStatus.Identity, lock: Lock)? {
    // Asked by an open file of its own: a lock is never refused to the open file that has it.
    guard let path = path(beside: journal, options), let descriptor = openAlive(path, O_RDONLY)
    else { return nil }
    defer { closeAlive(descriptor) }
    guard let file = FileStatus.Identity(of: descriptor) else { return nil }
    switch cfilelock_is_taken(descriptor, byte) {
    case 0: return (file, .free)
    case 1: return (file, .held)
    default: return nil
    }
  }

  /// Releases the lock.
  package func release() {
    guard isHeld.exchange(false, ordering: .relaxed) else { return }
    files.release(byte, of: identity)
  }

  private static func path(beside journal: String, _ options: JournalOptions) -> String? {
    guard options.fileSystem is POSIXFileSystem else { return nil }
    do throws(JournalError) {
      return try JournalLocation.find(journal, options.fileSystem).real + FileSuffix.alive.rawValue
    } catch {
      // If the journal cannot be found, the file next to it tells nothing.
      return nil
    }
  }
}

/// The files of live openings that this process has open.
///
/// The journals of one process share a file: if nothing is at the place next to a journal, a hard link
/// to an open file is put there. So ten thousand openings in new directories need ten descriptors.
/// Other processes find the same file by any of its names.
///
/// A file that is there already stays, since peers ask it for the openings of before. It needs a
/// descriptor of its own, and so does a journal for which no link can be made. There is a limit for
/// these files. The openings beyond it hold no lock. A peer that has no other proof of their end waits
/// for their lease.
///
/// The files are looked for, linked and opened without a lock of this process. So if a disk does not
/// answer, the openings on other disks go on. A file that is in use meanwhile stays open, and counts for the
/// limit. Openings that come together may each open a file of their own.
///
/// - Requirement: SCL-2, REF-9
package final class AliveFiles: Sendable {
  // One alive file in a common folder was rejected: older versions look for it next to the journal.
  // A child process that was forked without `exec` inherits the files, so locks are released
  // explicitly. If the process ends without closing its sessions, their locks last until the child
  // has ended too.

  /// The files of this process.
  package static let shared = AliveFiles()

  /// The most locks that are taken in a file before the next one is begun.
  ///
  /// The kernel searches the locks of a file one after the other.
  package static let mostLocks = 1_024

  /// The usual limit for open files.
  package static let mostFiles = 128

  fileprivate struct OpenFile: Sendable {
    let descriptor: Int32
    let identity: FileStatus.Identity
    /// The bytes that are locked.
    ///
    /// The system does not refuse a second lock to the same open file.
    var bytes: Set<UInt64> = []
    /// How many calls use its descriptor now.
    var users = 0
  }

  private let files = Mutex<[OpenFile]>([])
  private let most: Int
  /// Called before a file is linked; a test waits in it, as for a disk that does not answer.
  private let onLook: @Sendable (_ path: String) -> Void

  /// Creates a collection without files, which opens at most that many.
  package init(
    most: Int = mostFiles, onLook: @escaping @Sendable (_ path: String) -> Void = { _ in }
  ) {
    (self.most, self.onLook) = (most, onLook)
  }

  /// The number of files that are open.
  package var count: Int { files.withLock { $0.count } }

  /// Locks a byte of the file at `path`, and creates the file if it is missing.
  ///
  /// Returns the identity of the file; nil if no lock is available.
  fileprivate func take(_ path: String, _ byte: UInt64) -> FileStatus.Identity? {
    // Tried again if the file was removed between opening and locking it.
    for _ in 0..<3 {
      guard let file = use(path) else { return nil }
      let isLocked = files.withLock { $0.lock(byte, of: file) }
      let named = isLocked ? FileStatus.Identity(at: path) : nil
      let isTaken = named == file
      files.withLock { files in
        if isLocked, !isTaken { files.unlock(byte, of: file) }
        files.endUse(of: file)
      }
      if isTaken { return file }
      guard named != nil else { return nil }
    }
    return nil
  }

  fileprivate func release(_ byte: UInt64, of identity: FileStatus.Identity) {
    files.withLock { files in
      files.unlock(byte, of: identity)
      files.closeIfUnused(identity)
    }
  }

  /// Begins to use the open file at `path`.
  ///
  /// Nil if it cannot be opened, has no locks, or is one too many.
  private func use(_ path: String) -> FileStatus.Identity? {
    link(path)
    guard let descriptor = openAlive(path, O_RDWR | O_CREAT) else { return nil }
    guard cfilelock_is_local(descriptor) == 1, let identity = FileStatus.Identity(of: descriptor)
    else {
      closeAlive(descriptor)
      return nil
    }
    let (isOpen, isKept) = files.withLock { files -> (Bool, Bool) in
      if files.beginUse(of: identity) { return (true, false) }
      guard files.count < most else { return (false, false) }
      files.append(OpenFile(descriptor: descriptor, identity: identity, users: 1))
      return (true, true)
    }
    // Closing this one releases no lock of another one that is open.
    if !isKept { closeAlive(descriptor) }
    return isOpen ? identity : nil
  }

  /// Makes `path` a name of an open file, if nothing is at it.
  private func link(_ path: String) {
    guard FileStatus.Identity(at: path) == nil else { return }
    let places = files.withLock { files in
      let free = files.reversed().filter { $0.bytes.count < Self.mostLocks }
      return free.filter { files.beginUse(of: $0.identity) }
    }
    onLook(path)
    _ = places.contains { linkAlive($0.descriptor, path) }
    files.withLock { files in
      for place in places { files.endUse(of: place.identity) }
    }
  }
}

extension [AliveFiles.OpenFile] {
  /// Locks a byte of an open file; `false` if it is locked already.
  fileprivate mutating func lock(_ byte: UInt64, of file: FileStatus.Identity) -> Bool {
    guard let place = firstIndex(where: { $0.identity == file }),
      !self[place].bytes.contains(byte), cfilelock_take(self[place].descriptor, byte) == 1
    else { return false }
    self[place].bytes.insert(byte)
    return true
  }

  fileprivate mutating func unlock(_ byte: UInt64, of file: FileStatus.Identity) {
    guard let place = firstIndex(where: { $0.identity == file }) else { return }
    self[place].bytes.remove(byte)
    // Closing is not enough: a child process may have inherited the open file.
    cfilelock_release(self[place].descriptor, byte)
  }

  /// Returns `false` if no such file is open.
  fileprivate mutating func beginUse(of file: FileStatus.Identity) -> Bool {
    guard let place = firstIndex(where: { $0.identity == file }) else { return false }
    self[place].users += 1
    return true
  }

  fileprivate mutating func endUse(of file: FileStatus.Identity) {
    guard let place = firstIndex(where: { $0.identity == file }) else { return }
    self[place].users -= 1
    closeIfUnused(file)
  }

  fileprivate mutating func closeIfUnused(_ file: FileStatus.Identity) {
    guard let place = firstIndex(where: { $0.identity == file }), self[place].bytes.isEmpty,
      self[place].users == 0
    else { return }
    closeAlive(remove(at: place).descriptor)
  }
}

private func openAlive(_ path: String, _ access: Int32) -> Int32? {
  #if os(Linux) || os(Android)
  let descriptor = openDescriptor(path, access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, mode: 0o600)
  return descriptor >= 0 ? descriptor : nil
  #else
  return nil
  #endif
}

/// Gives an open file another name; false if that is not possible.
private func linkAlive(_ descriptor: Int32, _ path: String) -> Bool {
  #if os(Linux) || os(Android)
  // By its descriptor, since any of its names may have been removed.
  linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0
  #else
  false
  #endif
}

private func closeAlive(_ descriptor: Int32) {
  close(descriptor)
}
