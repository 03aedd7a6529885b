/// Random numbers that depend only on a seed (xorshift64*).
struct Draws: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    // A state of zero would stay zero.
    state = seed ^ 0x9E37_79B9_7F4A_7C15 | 1
    for _ in 0..<8 { _ = next() }
  }

  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_F491_4F6C_DD1D
  }

  /// Returns true with this probability.
  mutating func happens(_ probability: Double) -> Bool {
    Double.random(in: 0..<1, using: &self) < probability
  }

  /// Returns a number of milliseconds with this median; one in twenty is more than five times as
  /// long.
  mutating func duration(median: Double) -> Int64 {
    // The sum of four draws is close to a normal distribution; its exponential has a long tail.
    let sum = (0..<4).reduce(0.0) { total, _ in total + Double.random(in: -1..<1, using: &self) }
    var factor = 1.0
    for _ in 0..<2 { factor *= 1 + sum * 0.28 + sum * sum * 0.05 }
    return max(1, Int64(median * factor))
  }
}
