/// The draws of a case as a printable string, for a report, an environment variable or a file.
///
/// The code is written in Crockford's base 32. Its layout:
///
/// - The version, 2.
/// - Four bytes: a hash of the property's name.
/// - The draws as LEB128, without the zeros at the end.
/// - Four bytes: a hash of all bytes before.
public struct ReplayCode: Hashable, Sendable {
  /// The draws.
  public let draws: [UInt64]
  private let nameHash: UInt32

  private static let version: UInt8 = 2
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  /// Letters that are not in the alphabet, but look like one of its digits.
  private static let misread: [UInt8: UInt8] = [0x4F: 0x30, 0x49: 0x31, 0x4C: 0x31]

  /// Creates the code of a property's case.
  public init(property: String, draws: [UInt64]) {
    self.draws = draws.trimmed
    nameHash = StableHash.folded(property)
  }

  /// Returns whether the code was printed for a property of this name.
  public func isOf(property: String) -> Bool {
    nameHash == StableHash.folded(property)
  }

  /// The reason why a string is not a valid replay code.
  public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// A character that no code contains, and its offset, counted from 0.
    case character(Character, offset: Int)
    /// A version of the code that this library does not read.
    case version(UInt8)
    /// Characters that are missing or were changed.
    case checksum

    /// A sentence that says what is wrong with the string, and what to do.
    public var description: String {
      switch self {
      case .character(let character, let offset):
        "the replay code contains \(String(reflecting: character)) at offset \(offset), which no "
          + "code contains; copy it again from the report"
      case .version(let version):
        "the replay code has version \(version), this SessionTestKit reads version "
          + "\(ReplayCode.version); run the property again from its seed"
      case .checksum:
        "the replay code is cut or mistyped: its checksum does not match; copy it again from the "
          + "report"
      }
    }
  }

  /// Parses a code.
  ///
  /// Case does not matter, and hyphens are ignored. The letter O is read as 0, I and L as 1.
  public init(_ text: String) throws(Failure) {
    let bytes = try Self.bytes(text)
    guard let version = bytes.first else { throw .checksum }
    guard version == Self.version else { throw .version(version) }
    guard bytes.count >= 9 else { throw .checksum }
    let body = bytes.dropLast(4)
    guard Self.checksum(body) == Array(bytes.suffix(4)) else { throw .checksum }
    nameHash = bytes[1...4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    draws = try Self.numbers(body.dropFirst(5))
  }

  /// The code as a printable string.
  public var text: String {
    var bytes = [Self.version] + Self.bytes(nameHash)
    for draw in draws {
      var rest = draw
      while rest >= 0x80 {
        bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
        rest >>= 7
      }
      bytes.append(UInt8(rest))
    }
    return Self.characters(bytes + Self.checksum(bytes))
  }

  private static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    Self.bytes(StableHash.folded(bytes))
  }

  /// Returns the bytes of a number, the lowest byte first.
  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }

  private static func numbers(_ bytes: ArraySlice<UInt8>) throws(Failure) -> [UInt64] {
    var numbers: [UInt64] = []
    var number: UInt64 = 0
    var shift: UInt64 = 0
    for byte in bytes {
      guard shift < 63 || (shift == 63 && byte <= 1) else { throw .checksum }
      number |= UInt64(byte & 0x7F) << shift
      shift += 7
      if byte < 0x80 {
        numbers.append(number)
        number = 0
        shift = 0
      }
    }
    guard shift == 0 else { throw .checksum }
    return numbers.trimmed
  }

  private static func characters(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(buffer >> bits & 31)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(buffer << (5 - bits) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(_ text: String) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer: UInt32 = 0
    var bits: UInt32 = 0
    for (offset, character) in text.enumerated() where character != "-" {
      guard let ascii = character.uppercased().utf8.first, character.isASCII,
        let value = alphabet.firstIndex(of: misread[ascii] ?? ascii)
      else { throw .character(character, offset: offset) }
      buffer = (buffer << 5 | UInt32(value)) & 0xFFFF
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
      }
    }
    return bytes
  }
}
