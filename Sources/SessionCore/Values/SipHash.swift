/// SipHash-2-4 with 128 bits of output (Aumasson and Bernstein, 2012): a keyed pseudorandom function.
package struct SipHash {
  private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)

  private init(low: UInt64, high: UInt64) {
    v0 = 0x736f_6d65_7073_6575 ^ low
    v1 = 0x646f_7261_6e64_6f6d ^ high ^ 0xee
    v2 = 0x6c79_6765_6e65_7261 ^ low
    v3 = 0x7465_6462_7974_6573 ^ high
  }

  /// Returns the 16-byte digest of a message; the key is two little-endian halves.
  package static func digest(of message: [UInt8], low: UInt64, high: UInt64) -> [UInt8] {
    let halves = halves(of: message, low: low, high: high)
    return [halves.0, halves.1].flatMap { half in
      (0..<8).map { UInt8(truncatingIfNeeded: half >> ($0 * 8)) }
    }
  }

  /// Returns the digest as two little-endian numbers.
  package static func halves(of message: [UInt8], low: UInt64, high: UInt64) -> (UInt64, UInt64) {
    var hash = SipHash(low: low, high: high)
    message.withUnsafeBytes { bytes in
      let whole = bytes.count / 8 * 8
      for start in stride(from: 0, to: whole, by: 8) { hash.absorb(bytes.word(at: start)) }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[whole...]).firstWord()
      hash.absorb(UInt64(bytes.count & 0xFF) << 56 | rest)
    }
    hash.v2 ^= 0xee
    let first = hash.squeezed()
    hash.v1 ^= 0xdd
    return (first, hash.squeezed())
  }

  private mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  private mutating func squeezed() -> UInt64 {
    for _ in 0..<4 { round() }
    return v0 ^ v1 ^ v2 ^ v3
  }

  private mutating func round() {
    v0 &+= v1
    v1 = v1 << 13 | v1 >> 51
    v1 ^= v0
    v0 = v0 << 32 | v0 >> 32
    v2 &+= v3
    v3 = v3 << 16 | v3 >> 48
    v3 ^= v2
    v0 &+= v3
    v3 = v3 << 21 | v3 >> 43
    v3 ^= v0
    v2 &+= v1
    v1 = v1 << 17 | v1 >> 47
    v1 ^= v2
    v2 = v2 << 32 | v2 >> 32
  }
}
