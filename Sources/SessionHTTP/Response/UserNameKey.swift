import Foundation
@_spi(Internals) public import SessionCore

/// The key that makes an identifier of a user name or an e-mail address, for a backend that names its
/// users by nothing else.
///
/// The journal holds the identifier. Who has the journal and the key can try user names, so the key
/// belongs with the secrets, drawn anew for each installation. Another key makes other identifiers. If
/// the key is lost, the session goes on: what was digested is stored with the user, and is compared in
/// place of the digest.
///
/// - Requirement: LOG-12
public struct UserNameKey: Hashable, Sendable {
  private let low: UInt64
  private let high: UInt64

  /// A key of exactly 16 bytes; `nil` for any other number.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let word = { (start: Int) in
      bytes[start..<(start + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    (low, high) = (word(0), word(8))
  }

  /// A new key, from the system's source of randomness.
  public static func random() -> UserNameKey {
    var source = SystemRandomNumberGenerator()
    return UserNameKey(low: source.next(), high: source.next())
  }

  private init(low: UInt64, high: UInt64) {
    (self.low, self.high) = (low, high)
  }

  /// The 16 bytes, to be kept among the secrets.
  public var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }

  /// The identifier of a user name: `name-` and 32 digits of SipHash-2-4-128.
  ///
  /// Spaces around the name do not count, nor does the case of an e-mail address.
  public func identifier(of userName: String) -> Identifier {
    let name = Array(Self.plain(userName).utf8)
    let digits = Array("0123456789abcdef")
    let digest = SipHash.digest(of: name, low: low, high: high)
    return Identifier(
      digest.reduce(into: "name-") {
        $0.append(digits[Int($1 >> 4)])
        $0.append(digits[Int($1 & 15)])
      })
  }
}

extension UserNameKey {
  /// What of a user name counts.
  static func plain(_ userName: String) -> String {
    let trimmed = userName.trimmingCharacters(in: .whitespacesAndNewlines)
    let plain = trimmed.contains("@") ? trimmed.lowercased() : trimmed
    return plain.precomposedStringWithCanonicalMapping
  }
}

extension UserNameKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
