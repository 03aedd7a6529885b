internal import SessionJournal

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#endif

/// A file that is written by `pwrite` and `fdatasync`, and knows nothing else: the system's limit.
final class RawFile {
  private let descriptor: Int32
  private let isSynced: Bool
  private var end: off_t = 0

  /// A file that grows with each write; or of zeros, of which only so many are written over.
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

  /// Writes bytes behind the last ones, and mostly waits until they are on the medium.
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

  /// As many bytes as the drafts' frames have in a journal.
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
