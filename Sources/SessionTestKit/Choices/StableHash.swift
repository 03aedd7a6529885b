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

  /// 16 bits of the hash, for a check.
  static func short(_ text: String) -> UInt16 {
    let hash = hash(text)
    return UInt16(truncatingIfNeeded: hash ^ (hash >> 16) ^ (hash >> 32) ^ (hash >> 48))
  }
}
