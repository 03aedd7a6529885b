internal import CChecksum

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

extension [UInt8] {
  /// Creates the bytes of `start`, and `zeros` zeros after them, at once.
  init(_ start: [UInt8], zeros: Int) {
    self.init(unsafeUninitializedCapacity: start.count + zeros) { buffer, initialized in
      let place = UnsafeMutableRawBufferPointer(buffer)
      place.copyBytes(from: start)
      if let base = place.baseAddress { memset(base + start.count, 0, zeros) }
      initialized = place.count
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

extension UnsafeRawPointer {
  @inline(__always)
  func loadLittle<Number: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension Array where Element == UInt8 {
  mutating func appendLittle(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  /// Appends bytes at once: the standard library appends those of a raw buffer one by one.
  mutating func append(raw bytes: UnsafeRawBufferPointer) {
    bytes.withMemoryRebound(to: UInt8.self) { append(contentsOf: $0) }
  }

  mutating func appendBig(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores an integer with its lowest byte first.
  @inline(__always)
  func storeLittle(_ value: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value).self)
  }
}

/// CRC32C (Castagnoli), as RFC 3720 appendix B.4 defines it.
package struct Checksum: Equatable, Sendable {
  package private(set) var value: UInt32 = 0

  package init() {}

  package mutating func extend(over bytes: UnsafeRawBufferPointer) {
    value = cchecksum_crc32c(value, bytes.baseAddress, bytes.count)
  }

  @inline(__always)
  package mutating func extend(over start: UnsafeRawPointer, count: Int) {
    value = cchecksum_crc32c(value, start, count)
  }

  package mutating func extend(over bytes: [UInt8]) {
    value = bytes.withUnsafeBytes { cchecksum_crc32c(value, $0.baseAddress, $0.count) }
  }

  /// Computes the same checksum by tables alone, for comparison in tests.
  package static func portable(over bytes: UnsafeRawBufferPointer, from start: UInt32) -> UInt32 {
    cchecksum_crc32c_portable(start, bytes.baseAddress, bytes.count)
  }
}
