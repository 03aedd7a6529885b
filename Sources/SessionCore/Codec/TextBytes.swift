/// The bytes of a text, eight at a time.
extension UnsafeRawBufferPointer {
  /// Whether no byte is above 127: such bytes are UTF-8.
  @inline(__always)
  func isASCII() -> Bool {
    guard count >= 8 else { return shortWord() & 0x8080_8080_8080_8080 == 0 }
    var all: UInt64 = word(at: count - 8)
    var place = 0
    while place < count - 8 {
      all |= word(at: place)
      place += 8
    }
    return all & 0x8080_8080_8080_8080 == 0
  }

  @inline(never)
  func isUTF8() -> Bool {
    String(validating: self, as: UTF8.self) != nil
  }

  /// Whether it comes before the other, by bytes.
  @inline(__always)
  func precedes(_ other: UnsafeRawBufferPointer) -> Bool {
    // Zeros behind a short one: where the first eight differ, they decide.
    let (mine, its) = (firstWord().byteSwapped, other.firstWord().byteSwapped)
    return mine != its ? mine < its : lexicographicallyPrecedes(other)
  }

  /// Eight bytes as a number, the first of them the lowest.
  @inline(__always)
  func word(at place: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// The bytes from `place` to the end, which are one to eight of at least eight.
  @inline(__always)
  func lastWord(from place: Int) -> UInt64 {
    word(at: count - 8) >> UInt64(8 * (8 - (count - place)))
  }

  /// The first eight bytes, zeros behind fewer.
  @inline(__always)
  func firstWord() -> UInt64 {
    count >= 8 ? word(at: 0) : shortWord()
  }

  /// All bytes, which are fewer than eight, zeros behind them.
  private func shortWord() -> UInt64 {
    if count >= 4 {
      // The halves overlap, and say the same where they do.
      let low = UInt32(littleEndian: loadUnaligned(fromByteOffset: 0, as: UInt32.self))
      let high = UInt32(littleEndian: loadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
      return UInt64(low) | UInt64(high) << UInt64(8 * (count - 4))
    }
    guard count > 0 else { return 0 }
    let (middle, last) = (count / 2, count - 1)
    return UInt64(self[0]) | UInt64(self[middle]) << UInt64(8 * middle)
      | UInt64(self[last]) << UInt64(8 * last)
  }
}
