@_spi(Internals) public import SessionCore
public import SessionKit

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
  /// The context that it was issued for (`active_context`).
  ///
  /// - Requirement: STA-5
  public let context: ActiveContext?

  /// Reads the claims of a token.
  public init(_ token: Secret, keys: ContextKeys = ContextKeys()) throws(Problem) {
    self.init(payload: try TokenClaims.payload(of: token), keys: keys)
  }

  init(payload: JSONMembers, keys: ContextKeys) {
    let text = { (name: String) in payload.hint([MemberPath(steps: [name])]) }
    subject = payload.identifierHint("sub")
    email = text("email")
    tokenID = payload.identifierHint("jti")
    issuedAt = payload.time("iat")
    notBefore = payload.time("nbf")
    expiresAt = payload.time("exp")
    issuer = text("iss")
    context = TokenClaims.context(payload, keys)
  }

  /// The members of a token's second part.
  package static func payload(of token: Secret) throws(Problem) -> JSONMembers {
    do throws(TokenPayload.Flaw) { return try TokenPayload.read(token) } catch {
      switch error {
      case .notThreeParts: throw .notThreeParts
      case .notBase64URL: throw .payloadNotBase64URL
      case .notObject: throw .payloadNotObject
      }
    }
  }

  private static func context(_ payload: JSONMembers, _ keys: ContextKeys) -> ActiveContext? {
    do throws(Unreadable) {
      guard let members = try payload.object(keys.claim) else { return nil }
      return try keys.read(members)
    } catch {
      // Only a hint: what cannot be read is as if it were missing.
      return nil
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
