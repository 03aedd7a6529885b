// Each function puts bytes at the place, and returns the place after them. The caller has the room.
extension UnsafeMutablePointer<UInt8> {
  @inline(__always)
  func put(_ byte: UInt8) -> Self {
    pointee = byte
    return self + 1
  }

  @inline(__always)
  func put(_ bytes: UnsafeBufferPointer<UInt8>) -> Self {
    if let base = bytes.baseAddress { copy(base, bytes.count) }
    return self + bytes.count
  }

  /// Copies bytes; short ones by two copies of a fixed size that may overlap.
  @inline(__always)
  private func copy(_ source: UnsafePointer<UInt8>, _ count: Int) {
    switch count {
    case 33...: update(from: source, count: count)
    case 16...: copyEnds(source, count, SIMD2<UInt64>.self)
    case 8...: copyEnds(source, count, UInt64.self)
    case 4...: copyEnds(source, count, UInt32.self)
    default: for place in 0..<count { self[place] = source[place] }
    }
  }

  @inline(__always)
  private func copyEnds<Word: BitwiseCopyable>(
    _ source: UnsafePointer<UInt8>, _ count: Int, _: Word.Type
  ) {
    let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(self))
    let last = count - MemoryLayout<Word>.size
    let (head, tail) = (
      from.loadUnaligned(as: Word.self), from.loadUnaligned(fromByteOffset: last, as: Word.self)
    )
    to.storeBytes(of: head, as: Word.self)
    to.storeBytes(of: tail, toByteOffset: last, as: Word.self)
  }

  @inline(__always)
  func put(_ word: StaticString) -> Self { put(word.bytes) }

  /// Puts a text that needs no escapes between quotation marks.
  @inline(__always)
  func put(quoted utf8: UnsafeBufferPointer<UInt8>) -> Self {
    put(UInt8(ascii: "\"")).put(utf8).put(UInt8(ascii: "\""))
  }

  /// Puts the sign and the decimal digits.
  @inline(__always)
  func put(_ magnitude: UInt64, isNegative: Bool) -> Self {
    let start = isNegative ? put(UInt8(ascii: "-")) : self
    var (length, bound) = (1, UInt64(10))
    while magnitude >= bound, length < 20 {
      length += 1
      bound = length < 20 ? bound * 10 : .max
    }
    var (rest, place) = (magnitude, length)
    while place >= 2 {
      place -= 2
      _ = (start + place).put(twoDigits: UInt32(truncatingIfNeeded: rest % 100))
      rest /= 100
    }
    if place == 1 { start[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest) }
    return start + length
  }

  /// Puts two decimal digits of a number below 100.
  @inline(__always)
  private func put(twoDigits number: UInt32) -> Self {
    let tens = number / 10
    return put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: tens))
      .put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number - 10 * tens))
  }

  /// Puts a time in milliseconds since midnight: `14:00:05.205Z`.
  @inline(__always)
  func put(timeOfDay time: UInt32) -> Self {
    let (minutes, seconds) = (time / 60_000, time / 1000)
    let fraction = time - 1000 * seconds
    return put(twoDigits: minutes / 60).put(UInt8(ascii: ":"))
      .put(twoDigits: minutes % 60).put(UInt8(ascii: ":"))
      .put(twoDigits: seconds - 60 * minutes).put(UInt8(ascii: "."))
      .put(twoDigits: fraction / 10)
      .put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction % 10))
      .put(UInt8(ascii: "Z"))
  }
}
