/// A decoder of the journal's little-endian encodings, from the front of a payload.
///
/// Reads in place and allocates for long texts only. Every length is checked before it is used.
package struct PayloadReader {
  private let bytes: UnsafeRawBufferPointer
  private let count: Int
  /// The offset of the next byte; at most `count`.
  package private(set) var offset = 0

  /// Creates a reader of these bytes; the reader must not outlive them.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    count = bytes.count
  }

  /// Creates a reader of a span's bytes; use it only in the call that has received the span.
  ///
  /// The owner of the bytes is borrowed until that call returns, so they stay in place.
  @inline(__always)
  package init(_ span: RawSpan) {
    self.init(span.withUnsafeBytes { $0 })
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

  /// Reads a text; takes it from `known` if it was read before.
  mutating func text(_ known: inout TextTable) throws(CodecError) -> String {
    let start = offset + MemoryLayout<UInt32>.size
    guard let text = known.text(try textBytes()) else { throw .notUTF8(offset: start) }
    return text
  }

  /// Skips a text; throws if it is not UTF-8.
  @inline(__always)
  mutating func skipText() throws(CodecError) {
    let start = offset + MemoryLayout<UInt32>.size
    let utf8 = try textBytes()
    guard utf8.isASCII() || utf8.isUTF8() else { throw .notUTF8(offset: start) }
  }

  /// Returns the bytes of a text, which may not be UTF-8.
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

  /// Skips texts; throws if one is not UTF-8.
  ///
  /// If all are ASCII, their bytes are looked at once, together with the lengths between them.
  mutating func skipTexts(_ count: UInt32) throws(CodecError) {
    let start = offset
    if hasLengths(count), bytes(from: start).isASCII() { return }
    offset = start
    for _ in 0..<count { try skipText() }
  }

  /// Skips texts without a look at their bytes; returns `false` if bytes are missing.
  @inline(__always)
  private mutating func hasLengths(_ count: UInt32) -> Bool {
    for _ in 0..<count {
      guard remaining >= MemoryLayout<UInt32>.size else { return false }
      let length = Int(
        UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      offset &+= MemoryLayout<UInt32>.size
      guard remaining >= length else { return false }
      offset &+= length
    }
    return true
  }

  /// Skips an identifier.
  @inline(__always)
  mutating func skipIdentifier() throws(CodecError) {
    switch try integer(UInt8.self) {
    case 1:
      let (_, _): (UInt64, UInt64) = (try integer(), try integer())
    case 2: try skipText()
    case let byte: throw .invalid(offset: offset - 1, byte: byte)
    }
  }

  /// Whether a token follows whose identifier is a UUID, checked for all of its fields at once.
  @inline(__always)
  private var hasUUIDToken: Bool {
    remaining >= Self.sizeOfUUIDToken && bytes[offset &+ 24] == 1 && bytes[offset &+ 41] <= 1
  }

  /// The length of a token whose identifier is a UUID, in bytes.
  private static var sizeOfUUIDToken: Int { 42 }

  /// Reads a token whose identifier is a UUID; nil if it is another token, or if bytes are missing.
  @inline(__always)
  mutating func uuidToken() -> TokenMetadata? {
    guard hasUUIDToken else { return nil }
    let start = offset
    offset &+= Self.sizeOfUUIDToken
    return TokenMetadata(
      generation: Generation(word(start)),
      issuedAt: Timestamp(milliseconds: Int64(bitPattern: word(start + 8))),
      expiresAt: Timestamp(milliseconds: Int64(bitPattern: word(start + 16))),
      id: Identifier(uuidHigh: word(start + 25).byteSwapped, low: word(start + 33).byteSwapped),
      isRefreshable: bytes[start + 41] == 1)
  }

  /// Skips a token whose identifier is a UUID, and returns its number; nil as `uuidToken`.
  @inline(__always)
  mutating func skipUUIDToken() -> Generation? {
    guard hasUUIDToken else { return nil }
    defer { offset &+= Self.sizeOfUUIDToken }
    return Generation(word(offset))
  }

  @inline(__always)
  private func word(_ place: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
  }

  /// Returns the bytes from `start` to the current offset.
  @inline(__always)
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[start..<offset])
  }

  /// Returns all remaining bytes.
  mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }
}

extension String {
  /// Creates the text with these bytes; `nil` unless they are UTF-8.
  ///
  /// Most texts are ASCII and need no further check. The check of the standard library is many
  /// times slower.
  init?(checkedUTF8 bytes: UnsafeRawBufferPointer) {
    if bytes.isASCII() {
      self = String(decoding: bytes.assumingMemoryBound(to: UInt8.self), as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }
}
