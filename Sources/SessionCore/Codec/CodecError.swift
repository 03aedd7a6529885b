/// Why a payload that passed its checksum cannot be decoded.
///
/// Offsets are in bytes from the start of the payload.
@_spi(Internals) public enum CodecError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload ends inside a field.
  case cutShort(offset: Int)
  /// A byte has a value that the field does not allow.
  case invalid(offset: Int, byte: UInt8)
  /// A text is not UTF-8.
  case notUTF8(offset: Int)
  /// Bytes follow the last field, although all fields of that version are known.
  case trailingBytes(offset: Int, count: Int)
  /// A field of a snapshot has a value that no history results in.
  case impossible(offset: Int)

  /// Says what is wrong, and where.
  public var description: String {
    switch self {
    case .cutShort(let offset):
      "the payload ends inside the field at byte \(offset)"
    case .invalid(let offset, let byte):
      "byte \(offset) of the payload is \(byte), which its field does not allow"
    case .notUTF8(let offset):
      "the text at byte \(offset) of the payload is not UTF-8"
    case .trailingBytes(let offset, let count):
      "the last field ends at byte \(offset) of the payload, but \(count) more "
        + (count == 1 ? "byte follows" : "bytes follow")
    case .impossible(let offset):
      "the field at byte \(offset) of the snapshot has a value that no history results in"
    }
  }
}
