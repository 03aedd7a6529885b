/// A stream of bytes that depends only on its seed (SplitMix64), so that a test's tokens repeat.
package struct ByteStream: Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  package mutating func take(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
      word ^= word >> 31
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return Array(bytes.prefix(count))
  }

  /// Returns a UUID of version 4 in its canonical spelling (RFC 9562 §5.4).
  package mutating func uuid() -> String {
    var bytes = take(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let hex = bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      .map { hex[$0].joined() }
      .joined(separator: "-")
  }
}
