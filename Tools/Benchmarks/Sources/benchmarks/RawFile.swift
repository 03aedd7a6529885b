internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// A file written by `pwrite` and `fdatasync` only, which is the limit of the system.
final class RawFile {
  private let descriptor: Int32
  private let isSynced: Bool
  private var end: off_t = 0

  /// Creates a file of `zeros` zero bytes; writes replace these, and further writes extend the
  /// file.
  init(_ path: String, zeros: Int = 0, isSynced: Bool = true) throws {
    self.isSynced = isSynced
    descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Problem("\(path): errno \(errno)") }
    try write([UInt8](repeating: 0, count: zeros), at: 0)
    try synchronize()
  }

  deinit {
    close(descriptor)
  }

  /// Writes bytes after the last ones, and waits for a sync unless syncs are off.
  func append(_ bytes: [UInt8]) throws {
    try write(bytes, at: end)
    end += off_t(bytes.count)
    if isSynced { try synchronize() }
  }

  private func write(_ bytes: [UInt8], at offset: off_t) throws {
    let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
    guard count == bytes.count else { throw Problem("pwrite: errno \(errno)") }
  }

  private func synchronize() throws {
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
