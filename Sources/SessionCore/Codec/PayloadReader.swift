/// Takes the journal's little-endian encodings off the front of a payload.
///
/// Reads in place and allocates for long texts only. Every length is checked before it is believed.
package struct PayloadReader {
  private let bytes: UnsafeRawBufferPointer
  private let count: Int
  /// At most `count`.
  package private(set) var offset = 0

  /// The bytes must outlive the reader: make one only inside `withUnsafeBytes`.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    count = bytes.count
  }

  package var remaining: Int { count &- offset }

  @inline(__always)
  package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _: Value.Type = Value.self
  ) throws(CodecError) -> Value {
    let size = MemoryLayout<Value>.size
    guard remaining >= size else { throw .cutShort(offset: offset) }
    let value = bytes.loadUnaligned(fromByteOffset: offset, as: Value.self)
    offset &+= size
    return Value(littleEndian: value)
  }

  @inline(__always)
  package mutating func flag() throws(CodecError) -> Bool {
    switch try integer(UInt8.self) {
    case 0: return false
    case 1: return true
    case let byte: throw .invalid(offset: offset - 1, byte: byte)
    }
  }

  @inline(__always)
  package mutating func code<Value: OpenEnum>(_: Value.Type = Value.self) throws(CodecError)
    -> Value
  {
    Value(rawValue: try integer(UInt8.self))
  }

  @inline(__always)
  package mutating func timestamp() throws(CodecError) -> Timestamp {
    Timestamp(milliseconds: try integer())
  }

  @inline(__always)
  mutating func generation() throws(CodecError) -> Generation {
    Generation(try integer())
  }

  package mutating func text() throws(CodecError) -> String {
    let start = offset + MemoryLayout<UInt32>.size
    guard let text = String(checkedUTF8: try textBytes()) else { throw .notUTF8(offset: start) }
    return text
  }

  /// A text that may have been read before.
  mutating func text(_ known: inout TextTable) throws(CodecError) -> String {
    let start = offset + MemoryLayout<UInt32>.size
    guard let text = known.text(try textBytes()) else { throw .notUTF8(offset: start) }
    return text
  }

  /// Passes over a text that is UTF-8.
  @inline(__always)
  mutating func skipText() throws(CodecError) {
    let start = offset + MemoryLayout<UInt32>.size
    let utf8 = try textBytes()
    guard utf8.isASCII() || utf8.isUTF8() else { throw .notUTF8(offset: start) }
  }

  /// What a text is made of, which may not be UTF-8.
  @inline(__always)
  package mutating func textBytes() throws(CodecError) -> UnsafeRawBufferPointer {
    let length = Int(try integer(UInt32.self))
    guard remaining >= length else { throw .cutShort(offset: offset) }
    defer { offset &+= length }
    return UnsafeRawBufferPointer(start: bytes.baseAddress?.advanced(by: offset), count: length)
  }

  @inline(__always)
  package mutating func optionalIdentifier() throws(CodecError) -> Identifier? {
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

  @inline(__always)
  package mutating func identifier() throws(CodecError) -> Identifier {
    let start = offset
    guard let id = try optionalIdentifier() else { throw .invalid(offset: start, byte: 0) }
    return id
  }

  /// Passes over an identifier.
  @inline(__always)
  mutating func skipIdentifier() throws(CodecError) {
    switch try integer(UInt8.self) {
    case 1:
      let (_, _): (UInt64, UInt64) = (try integer(), try integer())
    case 2: try skipText()
    case let byte: throw .invalid(offset: offset - 1, byte: byte)
    }
  }

  /// The fixed part of a token whose identifier is a UUID, where all of it is here: one look at the
  /// length for all fields.
  @inline(__always)
  mutating func wholeToken() -> TokenMetadata? {
    let start = offset
    guard remaining >= 42, bytes[start + 24] == 1, bytes[start + 41] <= 1 else { return nil }
    offset &+= 42
    return TokenMetadata(
      generation: Generation(word(start)),
      issuedAt: Timestamp(milliseconds: Int64(bitPattern: word(start + 8))),
      expiresAt: Timestamp(milliseconds: Int64(bitPattern: word(start + 16))),
      id: Identifier(uuidHigh: word(start + 25).byteSwapped, low: word(start + 33).byteSwapped),
      isRefreshable: bytes[start + 41] == 1)
  }

  @inline(__always)
  private func word(_ place: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// The bytes from one offset to the present one.
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
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
  init?(checkedUTF8 bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII() {
      self = String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }
}
