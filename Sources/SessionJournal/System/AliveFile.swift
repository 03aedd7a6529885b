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
    // Asked before the files of the process are locked: if a file server does not answer now, other
    // openings do not wait for this one.
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
/// - Requirement: SCL-2, REF-9
package final class AliveFiles: Sendable {
  /// The files of this process.
  package static let shared = AliveFiles()

  /// The most locks that are taken in a file before the next one is begun.
  ///
  /// The kernel searches the locks of a file one after the other.
  package static let mostLocks = 1_024

  /// The usual limit for open files.
  package static let mostFiles = 128

  private struct OpenFile: Sendable {
    let descriptor: Int32
    let identity: FileStatus.Identity
    /// The bytes that are locked.
    ///
    /// The system does not refuse a second lock to the same open file.
    var bytes: Set<UInt64> = []
  }

  private let files = Mutex<[OpenFile]>([])
  private let most: Int

  /// Creates a collection without files, which opens at most that many.
  package init(most: Int = mostFiles) { self.most = most }

  /// The number of files that are open.
  package var count: Int { files.withLock { $0.count } }

  /// Locks a byte of the file at `path`, and creates the file if it is missing.
  ///
  /// Returns the identity of the file; nil if no lock is available.
  fileprivate func take(_ path: String, _ byte: UInt64) -> FileStatus.Identity? {
    files.withLock { files in
      // Tried again if the file was removed between opening and locking it.
      for _ in 0..<3 {
        guard let place = place(of: path, in: &files) else { return nil }
        let isTaken =
          files[place].bytes.contains(byte)
          || cfilelock_take(files[place].descriptor, byte) != 1
        let named = isTaken ? nil : FileStatus.Identity(at: path)
        if named == files[place].identity {
          files[place].bytes.insert(byte)
          return named
        }
        if !isTaken { cfilelock_release(files[place].descriptor, byte) }
        Self.closeIfUnused(place, in: &files)
        guard named != nil else { return nil }
      }
      return nil
    }
  }

  fileprivate func release(_ byte: UInt64, of identity: FileStatus.Identity) {
    files.withLock { files in
      guard let place = files.firstIndex(where: { $0.identity == identity }) else { return }
      files[place].bytes.remove(byte)
      // Closing is not enough: a child process may have inherited the open file.
      cfilelock_release(files[place].descriptor, byte)
      Self.closeIfUnused(place, in: &files)
    }
  }

  /// Returns the place of the open file at `path`.
  ///
  /// Nil if it cannot be opened, has no locks, or is one too many.
  private func place(of path: String, in files: inout [OpenFile]) -> Int? {
    Self.link(path, toOneOf: files)
    guard let descriptor = openAlive(path, O_RDWR | O_CREAT) else { return nil }
    guard cfilelock_is_local(descriptor) == 1, let identity = FileStatus.Identity(of: descriptor)
    else {
      closeAlive(descriptor)
      return nil
    }
    if let place = files.firstIndex(where: { $0.identity == identity }) {
      // Closing this one releases no lock of the other.
      closeAlive(descriptor)
      return place
    }
    guard files.count < most else {
      closeAlive(descriptor)
      return nil
    }
    files.append(OpenFile(descriptor: descriptor, identity: identity))
    return files.count - 1
  }

  /// Makes `path` a name of an open file, if nothing is at it.
  private static func link(_ path: String, toOneOf files: [OpenFile]) {
    guard FileStatus.Identity(at: path) == nil else { return }
    for file in files.reversed() where file.bytes.count < mostLocks {
      if linkAlive(file.descriptor, path) { return }
    }
  }

  private static func closeIfUnused(_ place: Int, in files: inout [OpenFile]) {
    guard files[place].bytes.isEmpty else { return }
    closeAlive(files.remove(at: place).descriptor)
  }
}

private func openAlive(_ path: String, _ access: Int32) -> Int32? {
  #if os(Linux) || os(Android)
    let descriptor = open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
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
