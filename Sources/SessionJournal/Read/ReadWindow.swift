/// A bounded part of a file in memory, which moves forward.
///
/// Uses `pread`, since a process dies if a file that it maps is cut.
struct ReadWindow: ~Copyable, Sendable {
  /// The size of a read, in bytes; a longer batch grows the window to at most twice its size.
  static let ordinarySize = 128 * 1024
  /// The size of a read of a short file, in bytes.
  private static let smallestSize = 16 * 1024

  /// The size of the first read after a rest, in bytes: most often a few records have been appended.
  static let sizeAfterRest = 4 * 1024

  /// The size of a read of this file, in bytes.
  private let size: Int
  /// The size of the next read, in bytes.
  private var next: Int

  private(set) var storage: ContiguousArray<UInt8> = []

  /// The offset in the file of the first byte in `storage`; a multiple of 8.
  private(set) var origin: UInt64 = 0

  /// The number of bytes in `storage` that come from the file.
  private(set) var count = 0

  /// Creates an empty window on a file that has this length now.
  ///
  /// A short file gets a small window, since many of them may be open, or be read one by one.
  init(fileSize: UInt64 = .max) {
    size = max(Self.smallestSize, Int(min(UInt64(Self.ordinarySize), fileSize)))
    next = size
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
    let isBusy = !storage.isEmpty && count == storage.count && count < size
    if isBusy { next = size }
    slide(to: kept)
    let needed = Int(offset - kept) + length
    if storage.count < needed || isBusy {
      var larger = ContiguousArray<UInt8>(
        zeros: max(next, needed, 2 * storage.count))
      copy(to: &larger)
      storage = larger
    }
    let from = count
    let result = storage.withUnsafeMutableBytes { bytes in
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[from...])
      do throws(SystemFault) {
        return Result<Int, SystemFault>.success(
          try file.read(into: rest, at: origin + UInt64(from)))
      } catch {
        return .failure(error)
      }
    }
    count += try result.get()
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
