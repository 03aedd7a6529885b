/// A builder of journals from an input that describes them, a few bytes for each frame.
///
/// Without unusual input the file is a complete journal. Each step may differ from that in one way.
struct FrameRecipe {
  private var input: ArraySlice<UInt8>
  private var bytes: [UInt8] = []
  private var starts: [Int] = []
  private var sequence: UInt64 = 1
  private var chain: UInt32 = 0
  private var saltSum: UInt32 = 0

  /// The greatest size of a file in bytes.
  private static let limit = 16 * 1024

  init(_ input: [UInt8]) {
    self.input = input[...]
  }

  private mutating func next() -> UInt8 { input.popFirst() ?? 0 }

  mutating func cook() -> [UInt8] {
    header()
    while !input.isEmpty, bytes.count < Self.limit {
      let step = next()
      switch step & 7 {
      case 0...3: batch(step >> 3)
      case 4: zeros(step >> 3)
      case 5: raw(step >> 3)
      case 6: copy(step >> 3)
      default: change(step >> 3)
      }
    }
    return bytes
  }

  private mutating func header() {
    let flags = next()
    let hasSnapshot = flags & 1 == 1
    sequence = flags & 2 == 2 ? UInt64(next()) << (flags & 4 == 4 ? 54 : 0) : 1
    if hasSnapshot { sequence = max(2, sequence) }
    bytes = HeaderTarget.magic
    bytes.add(1, 2)
    bytes.add(1, 2)
    bytes.add(hasSnapshot ? 1 : 0, 4)
    bytes += [UInt8](repeating: 0x40, count: 16)
    bytes.add(0x0123_4567_89AB_CDEF, 8)
    bytes.add(max(1, sequence), 8)
    bytes.add(flags & 8 == 8 ? 64 : 4096, 4)
    bytes.add(0, 8)
    chain = Sum.of(bytes)
    bytes.add(UInt64(chain), 4)
    saltSum = Sum.of(bytes[32..<40])
    sequence = max(1, sequence)
    if hasSnapshot {
      sequence -= 1
      frame(kind: 0x7F, left: 0, delta: 0xFFFF_FFFF, length: Int(next()), oddity: flags >> 4)
    }
  }

  /// Adds up to eight frames that count down; the high bits of a byte choose one of them to be
  /// unusual.
  private mutating func batch(_ size: UInt8) {
    let count = Int(size & 7) + 1
    let (durable, oddity, length) = (next(), next(), Int(next()))
    let first = sequence
    for place in 0..<count {
      let left = UInt16(count - 1 - place)
      let isOdd = place == Int(oddity >> 4) % count
      // A value of 0 proves all before the batch; greater values prove less, and 255 proves
      // nothing.
      let delta: UInt32 =
        durable == 255 ? .max : UInt32(clamping: sequence - first + 1 + UInt64(durable & 63))
      frame(
        kind: count == 1 && durable & 64 == 64 ? 0xFF : 1 + size, left: left, delta: delta,
        length: durable & 64 == 64 ? 0 : length, oddity: isOdd ? oddity & 15 : 0)
    }
  }

  /// Adds a sealed frame after the last one; `oddity` says what is wrong with it, and 0 means
  /// nothing.
  private mutating func frame(
    kind: UInt8, left: UInt16, delta: UInt32, length: Int, oddity: UInt8
  ) {
    let start = bytes.count
    starts.append(start)
    let own = oddity == 1 ? sequence &+ UInt64(next()) : oddity == 2 ? sequence &- 1 : sequence
    bytes.add(0, 4)
    bytes.add(oddity == 3 ? UInt64(next()) << 8 : UInt64(length), 4)
    bytes.add(own, 8)
    bytes.add(oddity == 4 ? UInt64(next()) : UInt64(delta), 4)
    bytes.add(UInt64(oddity == 5 ? chain ^ 1 : chain), 4)
    bytes.add(0, 4)
    bytes.append(oddity == 6 ? next() : kind)
    bytes.append(oddity == 7 ? next() : 0)
    bytes.add(oddity == 8 ? UInt64(next()) : UInt64(left), 2)
    for place in 0..<length { bytes.append(UInt8(truncatingIfNeeded: place &+ Int(own))) }
    bytes += [UInt8](repeating: oddity == 9 ? 1 : 0, count: (8 - length % 8) % 8)
    seal(start, payload: oddity != 10)
    if oddity == 15 { extreme(start) }
    if oddity == 11 { bytes[start] ^= 1 }
    if oddity == 12 { bytes.removeLast(min(Int(next()), bytes.count - start)) }
    // 13: the next frame replaces this one, as if this one were lost.
    if oddity == 13 { bytes.removeSubrange(start...) }
    // 14: the rest continues as if this frame did not exist.
    if oddity == 14 { return }
    chain = bytes.count >= start + 4 ? UInt32(bytes.number(start, 4)) : chain
    sequence = sequence &+ 1
  }

  /// Gives a field of a sealed frame an extreme value, and seals it again.
  private mutating func extreme(_ start: Int) {
    let choice = next()
    // The fields: length, sequence, durable delta, kind and flags, frames left in the batch.
    let (place, width) = [(4, 4), (8, 8), (16, 4), (28, 2), (30, 2)][Int(choice & 15) % 5]
    let top = UInt64.max >> UInt64(64 - 8 * width)
    let values = [top, top - 1, top / 2, top / 2 + 1, top / 4 + 1, top - UInt64(next()), 1, 0]
    let value = values[Int(choice >> 5)]
    for byte in 0..<width {
      bytes[start + place + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
    }
    seal(start, payload: false)
  }

  private mutating func seal(_ start: Int, payload: Bool) {
    if payload { bytes.put(Sum.of(bytes[(start + 32)...]), at: start + 24) }
    bytes.put(Sum.of(bytes[(start + 4)..<(start + 32)], after: saltSum), at: start)
  }

  private mutating func zeros(_ size: UInt8) {
    let count = size & 16 == 16 ? Int(size & 15) : 8 * (Int(size) + 1)
    bytes += [UInt8](repeating: 0, count: count)
  }

  private mutating func raw(_ size: UInt8) {
    for _ in 0...Int(size) { bytes.append(next()) }
  }

  /// Copies earlier bytes, from the start of a frame on, as stale bytes or a payload.
  private mutating func copy(_ size: UInt8) {
    guard let start = starts.isEmpty ? nil : starts[Int(next()) % starts.count] else { return }
    let end = min(bytes.count, start + 32 + 8 * Int(size))
    guard start < end else { return }
    bytes += bytes[start..<end]
  }

  /// Zeroes, removes or inverts existing bytes.
  private mutating func change(_ what: UInt8) {
    guard !starts.isEmpty else { return }
    let start = min(starts[Int(next()) % starts.count], bytes.count)
    let end = min(bytes.count, start + 32)
    switch what & 3 {
    case 0: for place in start..<end { bytes[place] = 0 }
    case 1: bytes.removeSubrange(start..<end)
    case 2: bytes.removeLast(min(Int(next()), bytes.count - 64))
    default: if start < end { bytes[start + Int(next()) % (end - start)] ^= what | 1 }
    }
  }
}
