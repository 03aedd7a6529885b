public import SessionCore

/// What an access token says of itself (RFC 7519): hints, never verified, never decided upon alone.
///
/// A claim of another type than it should have is as if it were missing.
public struct TokenClaims: Hashable, Sendable {
  /// Why a text is no token with claims; never holds any of it.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// It does not have exactly three parts with something in each.
    case notThreeParts
    /// The second part is not base64url (RFC 4648 §5), with or without padding.
    case payloadNotBase64URL
    /// The second part is not a JSON object.
    case payloadNotObject

    /// A sentence that names the fault.
    public var description: String {
      switch self {
      case .notThreeParts: "a token has three parts with dots between them, and this has not"
      case .payloadNotBase64URL: "the token's second part is not base64url"
      case .payloadNotObject: "the token's second part is not a JSON object"
      }
    }
  }

  /// Whom the token is about (`sub`).
  public let subject: Identifier?
  /// The user's e-mail address (`email`).
  public let email: String?
  /// The token's own name (`jti`).
  public let tokenID: Identifier?
  /// When it was issued (`iat`).
  public let issuedAt: Timestamp?
  /// Before when it is not good (`nbf`).
  public let notBefore: Timestamp?
  /// From when on it is not good (`exp`).
  public let expiresAt: Timestamp?
  /// Who issued it (`iss`).
  public let issuer: String?
  /// The context that it was issued for (`active_context`, STA-5).
  public let context: ActiveContext?

  /// Reads the claims of a token.
  public init(_ token: Secret, keys: ContextKeys = ContextKeys()) throws(Problem) {
    let parts = token.value.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .notThreeParts }
    guard let payload = TokenClaims.decode(base64URL: parts[1]) else {
      throw .payloadNotBase64URL
    }
    let value: JSONValue
    do { value = try JSONReader.read(payload) } catch { throw .payloadNotObject }
    guard case .object(let members) = value else { throw .payloadNotObject }
    let text = { (name: String) -> String? in
      guard case .string(let text) = members[name], !text.isEmpty else { return nil }
      return text
    }
    let time = { (name: String) -> Timestamp? in
      // Within ±100,000 years, where milliseconds are exact.
      guard case .number(let seconds) = members[name], abs(seconds) < 3e12 else { return nil }
      return Timestamp(milliseconds: Int64((seconds * 1000).rounded()))
    }
    subject = text("sub").map { Identifier($0) }
    email = text("email")
    tokenID = text("jti").map { Identifier($0) }
    issuedAt = time("iat")
    notBefore = time("nbf")
    expiresAt = time("exp")
    issuer = text("iss")
    context = TokenClaims.context(members[keys.claim], keys)
  }

  private static func context(_ value: JSONValue?, _ keys: ContextKeys) -> ActiveContext? {
    guard case .object(let members) = value else { return nil }
    do { return try keys.read(JSONMembers(members)) } catch { return nil }
  }

  private static func decode(base64URL text: Substring) -> [UInt8]? {
    var symbols = Array(text.utf8)
    let padding = symbols.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding == 0 || symbols.count % 4 == 0 && padding <= 2 else { return nil }
    symbols.removeLast(padding)
    guard symbols.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    var (pending, bits): (UInt32, Int) = (0, 0)
    for symbol in symbols {
      guard let digit = sixBits(symbol) else { return nil }
      pending = pending << 6 | digit
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return bytes
  }

  private static func sixBits(_ symbol: UInt8) -> UInt32? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(symbol - UInt8(ascii: "a") + 26)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(symbol - UInt8(ascii: "0") + 52)
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: nil
    }
  }
}

extension TokenClaims: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Nothing of the claims: a subject may be an e-mail address.
  public var description: String { "claims of a token" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
