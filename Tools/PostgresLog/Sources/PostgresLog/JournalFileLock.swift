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
/// A commit takes the same lock of the system. So the file does not grow while it is moved. It does not
/// show a session that has the file open and appends nothing.
struct JournalFileLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock without waiting; throws `inUse` if a session commits now.
  init(path: String) throws(MigrationError) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else {
      throw .log(.io(path: path, operation: "open", code: errno))
    }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      close(file)
      throw code == EWOULDBLOCK
        ? .inUse(path: path) : .log(.io(path: path, operation: "lock", code: code))
    }
    // A session that compacts puts a new file in the place of the one that was opened here.
    var (opened, named) = (stat(), stat())
    guard fstat(file, &opened) == 0, stat(path, &named) == 0,
      opened.st_dev == named.st_dev, opened.st_ino == named.st_ino
    else {
      close(file)
      throw .inUse(path: path)
    }
    // At the end, since the end of this value closes it.
    descriptor = file
  }

  deinit { close(descriptor) }
}
