/// A random number generator with the same numbers for a seed on every platform: SplitMix64.
package struct SplitMix: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator whose numbers depend only on the seed.
  package init(seed: UInt64) {
    state = seed
  }

  /// Returns the next number; all are equally likely.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number in `0...limit`; all are equally likely.
  mutating func uniform(upTo limit: UInt64) -> UInt64 {
    guard limit < .max else { return next() }
    let bound = limit + 1
    var product = next().multipliedFullWidth(by: bound)
    let uneven = (0 &- bound) % bound
    while product.low < uneven { product = next().multipliedFullWidth(by: bound) }
    return product.high
  }

  /// Returns a number in `0...limit` for a test.
  ///
  /// If `limit` is at least 256, numbers near both ends are more likely than the others.
  mutating func draw(upTo limit: UInt64) -> UInt64 {
    guard limit >= 256 else { return uniform(upTo: limit) }
    switch next() >> 60 {
    case 0, 1: return uniform(upTo: 15)
    case 2: return limit - uniform(upTo: 3)
    case 3: return uniform(upTo: 255)
    default: return uniform(upTo: limit)
    }
  }
}

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
