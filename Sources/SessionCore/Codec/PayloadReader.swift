/// Takes the journal's little-endian encodings off the front of a payload.
///
/// Reads in place and allocates for texts only. Every length is checked before it is believed.
struct PayloadReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  /// The bytes must outlive the reader: make one only inside `withUnsafeBytes`.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  var remaining: Int { bytes.count - offset }

  mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _: Value.Type = Value.self
  ) throws(CodecError) -> Value {
    let size = MemoryLayout<Value>.size
    guard remaining >= size else { throw .cutShort(offset: offset) }
    let value = bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    offset += size
    return Value(littleEndian: value)
  }

  mutating func flag() throws(CodecError) -> Bool {
    switch try integer(UInt8.self) {
    case 0: return false
    case 1: return true
    case let byte: throw .invalid(offset: offset - 1, byte: byte)
    }
  }

  mutating func code<Value: Code>(_: Value.Type = Value.self) throws(CodecError) -> Value {
    Value(rawValue: try integer(UInt8.self))
  }

  mutating func timestamp() throws(CodecError) -> Timestamp {
    Timestamp(milliseconds: try integer())
  }

  mutating func generation() throws(CodecError) -> Generation {
    Generation(try integer())
  }

  mutating func text() throws(CodecError) -> String {
    let length = Int(try integer(UInt32.self))
    guard remaining >= length else { throw .cutShort(offset: offset) }
    let utf8 = bytes[offset..<offset + length]
    guard let text = String(validating: utf8, as: UTF8.self) else {
      throw .notUTF8(offset: offset)
    }
    offset += length
    return text
  }

  mutating func optionalIdentifier() throws(CodecError) -> Identifier? {
    switch try integer(UInt8.self) {
    case 0: return nil
    case 1:
      let high: UInt64 = try integer()
      let low: UInt64 = try integer()
      return Identifier(uuidHigh: high.byteSwapped, low: low.byteSwapped)
    case 2: return Identifier(try text())
    case let byte: throw .invalid(offset: offset - 1, byte: byte)
    }
  }

  mutating func identifier() throws(CodecError) -> Identifier {
    let start = offset
    guard let id = try optionalIdentifier() else { throw .invalid(offset: start, byte: 0) }
    return id
  }

  /// Everything that is left.
  mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }
}
