#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Opens a file or folder, and closes it in programs that this process starts; −1 and `errno`.
package func openDescriptor(_ path: String, _ flags: Int32, mode: UInt32 = 0) -> Int32 {
  while true {
    let number = open(path, flags | O_CLOEXEC, mode_t(truncatingIfNeeded: mode))
    if number >= 0 || errno != EINTR { return aboveStandardStreams(number) }
  }
}

/// Moves a new descriptor above those of the standard streams; −1 and `errno` if that fails.
///
/// A daemon may have closed 0, 1 and 2. Then the system gives these numbers to the next files, and a
/// `print` of the app overwrote the header of a journal. As in SQLite, the free numbers below are
/// given to `/dev/null`, so that the sockets of `URLSession` do not get them either. It is opened
/// for reading, so writing to these numbers fails as before.
package func aboveStandardStreams(_ number: Int32) -> Int32 {
  guard (0...2).contains(number) else { return number }
  let moved = fcntl(number, F_DUPFD_CLOEXEC, 3)
  let code = errno
  close(number)
  var filler: Int32
  repeat { filler = open("/dev/null", O_RDONLY) } while (0...2).contains(filler)
  if filler >= 0 { close(filler) }
  errno = code
  return moved
}
