import SessionJournal
import SessionTestKit

/// A file of drawn frames with valid checksums, which noise and flipped bits never produce.
///
/// Most values are those of a whole journal; any field may have a value from the ends of its range.
struct SealedFile {
  private(set) var bytes: [UInt8]
  private let choices: Choices
  private let seed: Checksum
  private var chain: UInt32 = 0

  init(_ choices: Choices) {
    self.choices = choices
    let hasSnapshot = choices.chance(1, in: 3)
    let first = choices.pick([2, 1, 5, 1 << 62] as [UInt64]) ?? 2
    let header = JournalHeader(
      identifier: JournalIdentifier(high: 1, low: 2), salt: 0x1122_3344_5566_7788,
      maximumRecordSize: choices.pick([4096, 64, 8_388_608] as [UInt32]) ?? 4096)
    seed = header.seed
    bytes = header.encoded
    bytes[12] = hasSnapshot ? 1 : 0
    bytes.replaceSubrange(40..<48, with: Self.little(hasSnapshot ? max(2, first) : first))
    var checksum = Checksum()
    checksum.extend(over: Array(bytes[..<60]))
    chain = checksum.value
    bytes.replaceSubrange(60..., with: Self.little(chain))

    var sequence = hasSnapshot ? max(2, first) - 1 : first
    if hasSnapshot { frame(sequence, kind: 0x7F, delta: .max, left: 0) }
    if hasSnapshot { sequence += 1 }
    var left: UInt16 = 0
    while bytes.count < 4096, choices.chance(4, in: 5) {
      left = left == 0 ? UInt16(choices.draw(below: 3)) : left - 1
      frame(sequence, kind: 1, delta: UInt32(choices.draw(in: 1...2)), left: left)
      sequence += 1
      spoil()
    }
  }

  /// Adds a frame; in one of four, one field or two have other values.
  private mutating func frame(_ sequence: UInt64, kind: UInt8, delta: UInt32, left: UInt16) {
    let payload = [UInt8](repeating: 7, count: choices.draw(in: 0...40))
    let padded = payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
    var (sequence, kind, delta, left) = (sequence, kind, delta, left)
    var (length, flags) = (UInt32(payload.count), UInt8(0))
    var sum = Checksum()
    sum.extend(over: padded)
    var (payloadSum, previous) = (sum.value, chain)
    for _ in 0..<(choices.chance(1, in: 4) ? choices.draw(in: 1...2) : 0) {
      choices.label("odd value")
      switch choices.draw(below: 8) {
      case 0: sequence = extreme(near: sequence)
      case 1: delta = extreme(near: delta)
      case 2: left = extreme(near: left)
      case 3: length = extreme(near: length)
      case 4: kind = choices.pick([0xFF, 0, 0x7F, 1, 0x80]) ?? 0xFF
      case 5: flags = extreme(near: flags)
      case 6: previous = extreme(near: previous)
      default: payloadSum = extreme(near: payloadSum)
      }
    }
    var rest = Self.little(length) + Self.little(sequence) + Self.little(delta)
    rest += Self.little(previous) + Self.little(payloadSum) + [kind, flags] + Self.little(left)
    var checksum = seed
    checksum.extend(over: rest)
    chain = checksum.value
    bytes += Self.little(chain) + rest + padded
  }

  /// A value at an end of the range, where its sign bit would turn, or beside the right one.
  private func extreme<Number: FixedWidthInteger & UnsignedInteger>(near value: Number) -> Number {
    let half = Number.max / 2
    let values: [Number] = [
      value &+ 1, value &- 1, 0, 1, half / 2 + 1, half - 1, half, half + 1, .max - 1, .max,
    ]
    return choices.pick(values) ?? value
  }

  /// Loses, damages, cuts or repeats the last bytes, or adds bytes that are not a frame.
  private mutating func spoil() {
    guard choices.chance(1, in: 6) else { return }
    let start = max(JournalHeader.size, bytes.count - 8 * choices.draw(in: 1...8))
    switch choices.draw(below: 5) {
    case 0: bytes.removeSubrange(start...)
    case 1: for place in start..<bytes.count { bytes[place] = 0 }
    case 2: bytes += bytes[start...]
    case 3: bytes += [UInt8](repeating: 0xFF, count: 8 * choices.draw(in: 1...5))
    default: bytes.removeLast(min(choices.draw(in: 1...40), bytes.count - JournalHeader.size))
    }
  }

  private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
  }
}
