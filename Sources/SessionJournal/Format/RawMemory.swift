#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension ContiguousArray where Element == UInt8 {
  /// Creates `count` zeros at once: one by one takes milliseconds in an unoptimised build.
  init(zeros count: Int) {
    self.init(unsafeUninitializedCapacity: count) { buffer, initialized in
      if let start = buffer.baseAddress { memset(start, 0, count) }
      initialized = count
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes equal those of `other`.
  func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let mine = baseAddress, let its = other.baseAddress else { return count == 0 }
    return memcmp(mine, its, count) == 0
  }

  /// Whether all bytes are zero.
  var isZero: Bool {
    guard let start = baseAddress, let first else { return true }
    return first == 0 && memcmp(start, start + 1, count - 1) == 0
  }

  /// The number of bytes before the trailing zeros.
  var significantCount: Int {
    var end = count
    var step = 4096
    while end > 0 {
      let part = UnsafeRawBufferPointer(rebasing: self[Swift.max(0, end - step)..<end])
      if part.isZero {
        end -= part.count
      } else if step == 1 {
        return end
      } else {
        step /= 16
      }
    }
    return 0
  }
}
