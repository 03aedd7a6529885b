/// Reads the bytes of a text eight at a time.
extension UnsafeRawBufferPointer {
  /// Whether no byte is above 127; such bytes are valid UTF-8.
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
    // A short text is padded with zeros. If the first eight bytes differ, they decide.
    let (mine, its) = (firstWord().byteSwapped, other.firstWord().byteSwapped)
    return mine != its ? mine < its : lexicographicallyPrecedes(other)
  }

  /// Returns eight bytes as a number, the first byte lowest.
  @inline(__always)
  func word(at place: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// Returns the bytes from `place` to the end, which are one to eight; there are at least eight in
  /// all.
  @inline(__always)
  func lastWord(from place: Int) -> UInt64 {
    word(at: count - 8) >> UInt64(8 * (8 - (count - place)))
  }

  /// Returns the first eight bytes, padded with zeros.
  @inline(__always)
  func firstWord() -> UInt64 {
    count >= 8 ? word(at: 0) : shortWord()
  }

  /// Returns all bytes, fewer than eight, padded with zeros.
  private func shortWord() -> UInt64 {
    if count >= 4 {
      // The halves overlap, and agree in the overlap.
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
