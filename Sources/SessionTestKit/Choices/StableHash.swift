/// A hash that is the same in every process and on every platform: FNV-1a.
enum StableHash {
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
  }

  static func hash(_ text: String) -> UInt64 {
    hash(text.utf8)
  }

  /// Returns the hash folded to 32 bits.
  ///
  /// The probability that two of 1,000 names have the same hash is 1 in 8,600.
  static func folded(_ bytes: some Sequence<UInt8>) -> UInt32 {
    let hash = hash(bytes)
    return UInt32(truncatingIfNeeded: hash ^ (hash >> 32))
  }

  static func folded(_ text: String) -> UInt32 {
    folded(text.utf8)
  }
}
