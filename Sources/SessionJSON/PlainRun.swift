/// Looks at eight bytes of a text at a time.
enum EightBytes {
  /// The highest bit of each byte; a byte that has it is not ASCII.
  static let highest: UInt64 = 0x8080_8080_8080_8080
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Returns the eight bytes at a place; the first one is the lowest.
  @inline(__always)
  static func load(_ bytes: UnsafeRawBufferPointer, at place: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// Returns the bytes of a text of fewer than eight; some occur twice, and the rest are blanks.
  @inline(__always)
  static func load(short bytes: UnsafeRawBufferPointer) -> UInt64 {
    if bytes.count >= 4 {
      let low = bytes.loadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let high = bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self)
      return UInt64(low) | UInt64(high) << 32
    }
    var word = 0x20 &* ones
    for byte in bytes { word = word << 8 | UInt64(byte) }
    return word
  }

  /// Marks the first byte with this value by its highest bit; later ones may be marked wrongly.
  @inline(__always)
  static func mark(_ byte: UInt8, in word: UInt64) -> UInt64 {
    let difference = word ^ (UInt64(byte) &* ones)
    return (difference &- ones) & ~difference & highest
  }

  /// Marks the first quotation mark, backslash or control character; later ones may be marked wrongly.
  @inline(__always)
  static func stops(_ word: UInt64) -> UInt64 {
    let controls = (word &- 0x20 &* ones) & ~word & highest
    return controls | mark(UInt8(ascii: "\""), in: word) | mark(UInt8(ascii: "\\"), in: word)
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Returns whether the bytes are the same; of four or more, the last ones may be compared twice.
  @inlinable
  @inline(__always)
  package func isEqual(to other: UnsafeBufferPointer<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else {
      guard count >= 4 else { return indices.allSatisfy { self[$0] == other[$0] } }
      return part(0, UInt32.self) == other.part(0, UInt32.self)
        && part(count - 4, UInt32.self) == other.part(count - 4, UInt32.self)
    }
    var place = 0
    while place < count - 8 {
      if part(place, UInt64.self) != other.part(place, UInt64.self) { return false }
      place += 8
    }
    return part(count - 8, UInt64.self) == other.part(count - 8, UInt64.self)
  }

  /// Returns the bytes from a place on as a number; they must be there.
  @inlinable
  @inline(__always)
  func part<Part: BitwiseCopyable>(_ place: Int, _: Part.Type) -> Part {
    UnsafeRawBufferPointer(self).loadUnaligned(fromByteOffset: place, as: Part.self)
  }

  /// Returns the place of the first byte from `start` on that a JSON text does not hold as it is, and
  /// whether all bytes before it are ASCII.
  ///
  /// Such a byte is a quotation mark, a backslash or a control character.
  package func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
    let bytes = UnsafeRawBufferPointer(self)
    var (place, seen) = (start, UInt64(0))
    while place + 8 <= bytes.count {
      let word = EightBytes.load(bytes, at: place)
      let stops = EightBytes.stops(word)
      guard stops == 0 else {
        let plain = stops.trailingZeroBitCount & ~7
        seen |= word & (1 << UInt64(plain) &- 1)
        return (place + plain / 8, seen & EightBytes.highest == 0)
      }
      seen |= word
      place += 8
    }
    while place < count, self[place] >= 0x20, self[place] != UInt8(ascii: "\""),
      self[place] != UInt8(ascii: "\\")
    {
      seen |= UInt64(self[place])
      place += 1
    }
    return (place, seen & EightBytes.highest == 0)
  }
}
