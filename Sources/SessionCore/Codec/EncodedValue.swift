/// A value as its bytes, checked but not decoded: a later record may replace it before it is needed.
struct EncodedValue: Sendable {
  /// The memory for the bytes, which may be longer than the value.
  private var memory: [UInt8] = []
  /// The length of the value, in bytes; 0 if there is none.
  private var count = 0

  /// Replaces the value by a copy of these bytes.
  @inline(__always)
  mutating func keep(_ bytes: UnsafeRawBufferPointer) {
    if memory.count < bytes.count {
      memory = [UInt8](bytes)
    } else {
      memory.withUnsafeMutableBytes { $0.copyMemory(from: bytes) }
    }
    count = bytes.count
  }

  /// Drops the value, but keeps the memory.
  @inline(__always)
  mutating func forget() { count = 0 }

  /// Decodes the value; `nil` if there is none.
  func decoded<Value>(
    _ read: (inout PayloadReader) throws(CodecError) -> Value
  ) throws(CodecError) -> Value? {
    guard count > 0 else { return nil }
    return try memory.span.bytes.withUnsafeBytes { (bytes) throws(CodecError) in
      var reader = PayloadReader(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      return try read(&reader)
    }
  }
}

/// A token in a payload, of which only the number is decoded.
struct EncodedToken {
  let generation: Generation
  let bytes: UnsafeRawBufferPointer

  /// What the rules need of the token; its other values are placeholders.
  @inline(__always)
  var numbered: TokenMetadata {
    TokenMetadata(
      generation: generation, issuedAt: Timestamp(milliseconds: 0),
      expiresAt: Timestamp(milliseconds: 0), isRefreshable: false)
  }
}

extension PayloadReader {
  /// Returns a token, checked but not decoded.
  @inline(__always)
  mutating func encodedToken() throws(CodecError) -> EncodedToken {
    let start = offset
    let generation = try skipToken()
    return EncodedToken(generation: generation, bytes: bytes(from: start))
  }

  /// Returns the bytes of a context, checked but not decoded.
  @inline(__always)
  mutating func encodedContext() throws(CodecError) -> UnsafeRawBufferPointer {
    let start = offset
    try skipContext()
    return bytes(from: start)
  }
}
