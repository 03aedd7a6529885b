/// CRC32C by its specification, bit by bit, without code of the library.
enum Sum {
  private static let table: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { rest, _ in
      rest & 1 == 1 ? rest >> 1 ^ 0x82F6_3B78 : rest >> 1
    }
  }

  /// Returns the CRC of bytes, or of earlier bytes with the CRC `earlier` followed by them.
  static func of(_ bytes: some Sequence<UInt8>, after earlier: UInt32 = 0) -> UInt32 {
    ~bytes.reduce(~earlier) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
  }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Returns the little-endian number of `count` bytes at `offset` from the start.
  func number(_ offset: Int, _ count: Int) -> UInt64 {
    (0..<count).reversed().reduce(0) { $0 << 8 | UInt64(self[startIndex + offset + $1]) }
  }
}

extension [UInt8] {
  /// Appends the `count` low bytes of a number, the lowest first.
  mutating func add(_ number: UInt64, _ count: Int) {
    for place in 0..<count { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
  }

  /// Writes a number of four bytes at `offset`.
  mutating func put(_ number: UInt32, at offset: Int) {
    for place in 0..<4 {
      self[offset + place] = UInt8(truncatingIfNeeded: number >> UInt32(8 * place))
    }
  }
}
