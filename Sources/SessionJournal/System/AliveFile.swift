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

/// The file `<path>.alive` beside a journal: each opening locks one byte of it for as long as it lives.
///
/// The kernel releases the lock when the process ends, however that happens, and shows it to every
/// process of this kernel, in whatever namespace. Only Linux has such locks; Apple's systems kill a
/// suspended app that holds one. Where no lock can be had, none is held and nothing fails.
package final class AliveFile: Sendable {
  /// Whether the byte of an opening is locked.
  package enum Lock: Sendable {
    case held
    case free
  }

  private let path: String
  private let descriptor: Mutex<Int32?>

  /// Which file it is, for as long as it is open: another of this name has other locks.
  package let identity: FileStatus.Identity

  private init(path: String, descriptor: Int32, identity: FileStatus.Identity) {
    (self.path, self.identity) = (path, identity)
    self.descriptor = Mutex(descriptor)
  }

  deinit { release() }

  /// Locks the byte of an opening beside a journal; `nil` if that cannot be had.
  package static func take(
    beside journal: String, byte: UInt64, options: Journal.Options
  ) -> AliveFile? {
    guard let path = path(beside: journal, options) else { return nil }
    // Again if the file was removed between opening and locking it.
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

  /// Whether an opening of the journal holds its byte, and in which file that was asked; `nil` if it
  /// cannot be asked.
  package static func ask(
    beside journal: String, byte: UInt64, options: Journal.Options
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

  /// Gives the lock back.
  package func release() {
    let held = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    if let held { Self.close(held) }
  }

  private static func path(beside journal: String, _ options: Journal.Options) -> String? {
    guard options.fileSystem is POSIXFileSystem else { return nil }
    do throws(JournalError) {
      return try JournalLocation.find(journal, options.fileSystem).real + FileSuffix.alive.rawValue
    } catch {
      // Where the journal cannot be found, its neighbour says nothing.
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
