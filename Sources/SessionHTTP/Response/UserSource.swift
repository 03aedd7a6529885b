import Foundation
@_spi(Internals) public import SessionCore
import SessionKit

/// A part of a response that names the user.
public enum UserSource: Hashable, Sendable {
  /// A token in a response.
  public enum Token: String, Hashable, Sendable {
    /// The access token.
    case access = "access token"
    /// The identity token of OpenID Connect.
    case identity = "identity token"
  }

  /// An object of the response, with the members that ``ResponseMapping`` names.
  ///
  /// ``MemberPath/whole`` is its top level.
  case member(MemberPath)
  /// A claim with the identifier, in a token of three parts.
  ///
  /// The profile is read from the same token: `email` or the first of `emails`, `given_name` and
  /// `family_name`.
  case claim(MemberPath, of: Token = .access)
  /// The keyed digest of a member, such as an e-mail address, for a backend without other
  /// identifiers.
  ///
  /// It is the same at a sign-in and at a refresh.
  case digest(MemberPath, UserNameKey)
  /// The keyed digest of the sign-in's user name, for a backend whose responses do not name the
  /// user.
  case userName(UserNameKey)
}

extension UserSource {
  /// Returns the stored name of the source.
  ///
  /// For an object of the response, it includes the member that identifies the user.
  func label(userID: MemberPath) -> String {
    switch self {
    case .member(let path): "member \(path) \(userID)"
    case .claim(let path, let token): UserClaim(path.steps, of: token.kind).label
    case .digest(let path, _): "digest of \(path)"
    case .userName: "user name"
    }
  }

  /// The name of the source in the journal; `nil` if no response to a refresh has it.
  var naming: NamingSource? {
    switch self {
    case .member, .digest: .member
    case .claim(let path, let token): UserClaim(path.steps, of: token.kind).naming
    case .userName: nil
    }
  }

  var isClaim: Bool {
    if case .claim = self { true } else { false }
  }
}

extension UserSource.Token {
  var kind: UserClaim.Token { self == .access ? .access : .identity }
}

/// A key that derives an identifier from a user name or an e-mail address, for a backend without
/// other identifiers.
///
/// The journal contains the identifier. A person with the journal and the key can try user names.
/// So keep the key with the secrets, and create a new one for each installation. Another key
/// derives other identifiers.
///
/// If the key is lost, the session continues. The original name is stored with the user, and is
/// compared instead of the digest.
///
/// - Requirement: LOG-12
public struct UserNameKey: Hashable, Sendable {
  private let low: UInt64
  private let high: UInt64

  /// Creates a key of exactly 16 bytes; `nil` for any other number.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let word = { (start: Int) in
      bytes[start..<(start + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    (low, high) = (word(0), word(8))
  }

  /// Returns a new key from the system's source of randomness.
  public static func random() -> UserNameKey {
    var source = SystemRandomNumberGenerator()
    return UserNameKey(low: source.next(), high: source.next())
  }

  private init(low: UInt64, high: UInt64) {
    (self.low, self.high) = (low, high)
  }

  /// The 16 bytes, which belong with the secrets.
  public var bytes: [UInt8] {
    [low, high].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
  }

  /// Returns the identifier of a user name: `name-` and 32 digits of SipHash-2-4-128.
  ///
  /// Spaces around the name are ignored, and so is the case of an e-mail address.
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
  /// Returns the normalized user name.
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
