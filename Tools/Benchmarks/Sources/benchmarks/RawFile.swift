internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A file written by `pwrite` and `fdatasync` only, which is the limit of the system.
final class RawFile {
  private let descriptor: Int32
  private var end: off_t = 0

  init(_ path: String) throws {
    descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Problem("\(path): errno \(errno)") }
  }

  deinit {
    close(descriptor)
  }

  /// Writes bytes after the last ones, and waits for a sync.
  func append(_ bytes: [UInt8]) throws {
    let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, end) }
    guard count == bytes.count else { throw Problem("pwrite: errno \(errno)") }
    end += off_t(count)
    #if canImport(Darwin)
    let result = fcntl(descriptor, F_FULLFSYNC)
    #else
    let result = fdatasync(descriptor)
    #endif
    guard result >= 0 else { throw Problem("fdatasync: errno \(errno)") }
  }

  /// Returns as many bytes as the drafts' frames have in a journal.
  static func bytes(for drafts: [JournalDraft]) -> [UInt8] {
    var bytes: [UInt8] = []
    for draft in drafts {
      bytes += repeatElement(0xA5, count: 32)
      bytes += draft.payload
      bytes += repeatElement(0, count: (8 - draft.payload.count % 8) % 8)
    }
    return bytes
  }
}
