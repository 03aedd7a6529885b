extension UnsafeRawPointer {
  @inline(__always)
  func loadLittle<Number: FixedWidthInteger & BitwiseCopyable>(
    _ offset: Int, as type: Number.Type = Number.self
  ) -> Number {
    Number(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension Array where Element == UInt8 {
  mutating func appendLittle(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  mutating func appendBig(_ number: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores an integer with its lowest byte first.
  @inline(__always)
  func storeLittle(_ value: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value).self)
  }
}
