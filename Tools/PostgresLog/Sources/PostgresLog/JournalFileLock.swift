internal import SessionJournal

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The lock of a journal's file: no session commits to the file as long as this value is there.
///
/// A commit takes the same lock of the system. So the file neither grows nor is replaced while it is
/// moved. It does not show a session that has the file open and appends nothing.
struct JournalFileLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock without waiting; throws `inUse` if a session commits now.
  init(path: String) throws(MigrationError) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      throw .log(.io(path: path, operation: "open", code: errno))
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(descriptor)
      throw code == EWOULDBLOCK
        ? .inUse(path: path) : .log(.io(path: path, operation: "lock", code: code))
    }
  }

  deinit { close(descriptor) }
}
