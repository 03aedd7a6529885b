internal import CChecksum

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

  package static var isAccelerated: Bool { cchecksum_is_accelerated() != 0 }
}
