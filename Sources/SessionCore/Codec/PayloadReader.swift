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
    let utf8 = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
    guard let text = String(checkedUTF8: utf8) else { throw .notUTF8(offset: offset) }
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

extension String {
  /// The text with these bytes; `nil` unless they are UTF-8.
  ///
  /// Most texts are ASCII, which is valid as it is: the library's own check is many times slower.
  fileprivate init?(checkedUTF8 bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII {
      self = String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }
}

extension UnsafeRawBufferPointer {
  fileprivate var isASCII: Bool {
    var all: UInt64 = 0
    var place = 0
    while place + 8 <= count {
      all |= loadUnaligned(fromByteOffset: place, as: UInt64.self)
      place += 8
    }
    while place < count {
      all |= UInt64(self[place])
      place += 1
    }
    return all & 0x8080_8080_8080_8080 == 0
  }
}
