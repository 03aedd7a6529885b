/// A bounded part of a file in memory, which moves forward.
///
/// Uses `pread`, since a process dies if a file that it maps is cut.
struct ReadWindow: ~Copyable, Sendable {
  /// The size of a read of a long file, in bytes; a longer batch grows the window to at most twice
  /// its size.
  static let ordinarySize = 128 * 1024
  /// The size of the first read of a short file, in bytes.
  private static let smallestSize = 16 * 1024

  /// The size of the first read after a rest, in bytes: most often a few records have been appended.
  static let sizeAfterRest = 4 * 1024

  /// The size of the next read, in bytes.
  private var next: Int

  private(set) var storage: ContiguousArray<UInt8> = []

  /// The offset in the file of the first byte in `storage`; a multiple of 8.
  private(set) var origin: UInt64 = 0

  /// The number of bytes in `storage` that come from the file.
  private(set) var count = 0

  /// Creates an empty window on a file that has this length now.
  ///
  /// A short file gets a small window, since many of them may be open, or be read one by one. The
  /// window grows if the file does.
  init(fileSize: UInt64 = .max) {
    // One more byte than the file has: a read that does not fill the window has met the end.
    let whole = fileSize < UInt64(Self.ordinarySize) ? Int(fileSize) + 1 : Self.ordinarySize
    next = max(Self.smallestSize, whole)
  }

  /// The offset after the last byte in memory.
  var end: UInt64 { origin + UInt64(count) }

  /// Returns how many bytes from `offset` on are in memory.
  @inline(__always)
  func available(at offset: UInt64) -> Int {
    offset < origin ? 0 : max(0, count - Int(clamping: offset - origin))
  }

  /// Drops the bytes from `offset` on, so that they are read again.
  mutating func forget(from offset: UInt64) {
    count = offset < origin ? 0 : min(count, Int(clamping: offset - origin))
  }

  /// Releases the memory; the bytes are read again if they are needed.
  mutating func release() {
    (storage, count, next) = ([], 0, Self.sizeAfterRest)
  }

  /// Reads until `length` bytes from `offset` are in memory, or the file ends.
  ///
  /// Bytes before `kept` may be dropped. Returns how many bytes from `offset` on are in memory.
  mutating func fill(
    _ length: Int, at offset: UInt64, keeping kept: UInt64, of file: any JournalFileHandle
  ) throws(SystemFault) -> Int {
    // More than a few records follow, so larger reads are worth it.
    let isBusy = !storage.isEmpty && count == storage.count && count < Self.ordinarySize
    if isBusy { next = Self.ordinarySize }
    slide(to: kept)
    let needed = Int(offset - kept) + length
    if storage.count < needed || isBusy {
      var larger = ContiguousArray<UInt8>(
        zeros: max(next, needed, 2 * storage.count))
      copy(to: &larger)
      storage = larger
    }
    count += try file.read(into: &storage, from: count, at: end)
    return available(at: offset)
  }

  private func copy(to larger: inout ContiguousArray<UInt8>) {
    storage.withUnsafeBytes { old in
      larger.withUnsafeMutableBytes { new in
        new.copyMemory(from: UnsafeRawBufferPointer(rebasing: old[..<count]))
      }
    }
  }

  private mutating func slide(to offset: UInt64) {
    guard offset >= origin, offset - origin <= UInt64(count) else {
      origin = offset
      count = 0
      return
    }
    let shift = Int(offset - origin)
    guard shift > 0 else { return }
    let rest = count - shift
    storage.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      start.copyMemory(from: start + shift, byteCount: rest)
    }
    origin = offset
    count = rest
  }
}
