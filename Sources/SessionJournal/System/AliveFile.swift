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

/// The file `<path>.alive` next to a journal, in which every live opening holds a lock on one byte.
///
/// The kernel releases the lock when the process ends, for any reason. Every process of this kernel
/// sees the lock, in any namespace. Only Linux has such locks, and Apple's systems kill a suspended
/// app that holds one. If no lock is available, none is held, and that is no error.
package final class AliveFile: Sendable {
  /// Whether the byte of an opening is locked.
  package enum Lock: Sendable {
    case held
    case free
  }

  private let path: String
  private let descriptor: Mutex<Int32?>

  /// The identity of the open file; another file of the same name has other locks.
  package let identity: FileStatus.Identity

  private init(path: String, descriptor: Int32, identity: FileStatus.Identity) {
    (self.path, self.identity) = (path, identity)
    self.descriptor = Mutex(descriptor)
  }

  deinit { release() }

  /// Locks the byte of an opening next to a journal; nil if no lock is available.
  package static func take(
    beside journal: String, byte: UInt64, options: JournalOptions
  ) -> AliveFile? {
    guard let path = path(beside: journal, options) else { return nil }
    // Tried again if the file was removed between opening and locking it.
    for _ in 0..<3 {
      guard let descriptor = open(path, O_RDWR | O_CREAT) else { return nil }
      guard cfilelock_is_local(descriptor) == 1, cfilelock_take(descriptor, byte) == 1,
        let mine = identity(of: descriptor), let named = identity(at: path)
      else {
        close(descriptor)
        return nil
      }
      if mine == named { return AliveFile(path: path, descriptor: descriptor, identity: mine) }
      close(descriptor)
    }
    return nil
  }

  /// Returns whether another opening of the journal holds its byte, and the file that was asked.
  ///
  /// Nil if that cannot be determined.
  package static func ask(
    beside journal: String, byte: UInt64, options: JournalOptions
  ) -> (file: FileStatus.Identity, lock: Lock)? {
    guard let path = path(beside: journal, options), let descriptor = open(path, O_RDONLY) else {
      return nil
    }
    defer { close(descriptor) }
    guard let file = identity(of: descriptor) else { return nil }
    switch cfilelock_is_taken(descriptor, byte) {
    case 0: return (file, .free)
    case 1: return (file, .held)
    default: return nil
    }
  }

  /// Releases the lock.
  package func release() {
    let held = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    if let held { Self.close(held) }
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

  private static func open(_ path: String, _ access: Int32) -> Int32? {
    #if os(Linux) || os(Android)
      let flags = access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
      #if canImport(Glibc)
        let descriptor = Glibc.open(path, flags, 0o600)
      #elseif canImport(Musl)
        let descriptor = Musl.open(path, flags, 0o600)
      #else
        let descriptor: Int32 = -1
      #endif
      return descriptor >= 0 ? descriptor : nil
    #else
      return nil
    #endif
  }

  private static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Glibc)
      _ = Glibc.close(descriptor)
    #elseif canImport(Musl)
      _ = Musl.close(descriptor)
    #endif
  }

  private static func identity(of descriptor: Int32) -> FileStatus.Identity? {
    var status = cfilestatus()
    return cfilestatus_of_descriptor(descriptor, &status) == 0 ? FileStatus(status).identity : nil
  }

  private static func identity(at path: String) -> FileStatus.Identity? {
    var status = cfilestatus()
    return cfilestatus_of_path(path, &status) == 0 ? FileStatus(status).identity : nil
  }
}
