@_spi(Internals) public import SessionCore
public import SessionKit

/// The claims of an access token (RFC 7519).
///
/// They are hints: never verified, and never the only basis of a decision.
///
/// A claim with a wrong type counts as missing.
public struct TokenClaims: Hashable, Sendable {
  /// Why a text is no token with claims.
  ///
  /// It never contains the text.
  public enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text does not have exactly three parts that are not empty.
    case notThreeParts
    /// The second part is not base64url (RFC 4648 §5), with or without padding.
    case payloadNotBase64URL
    /// The second part is not a JSON object.
    case payloadNotObject

    /// A sentence that describes the problem.
    public var description: String {
      switch self {
      case .notThreeParts: "the token does not consist of three parts with dots between them"
      case .payloadNotBase64URL: "the token's second part is not base64url"
      case .payloadNotObject: "the token's second part is not a JSON object"
      }
    }
  }

  /// The user of the token (`sub`).
  public let subject: Identifier?
  /// The user's e-mail address (`email`).
  public let email: String?
  /// The token's own identifier (`jti`).
  public let tokenID: Identifier?
  /// When the token was issued (`iat`).
  public let issuedAt: Timestamp?
  /// The time before which the token is not valid (`nbf`).
  public let notBefore: Timestamp?
  /// When the token expires (`exp`).
  public let expiresAt: Timestamp?
  /// The issuer (`iss`).
  public let issuer: String?
  /// The context for which the token was issued (`active_context`).
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
    tokenID = TokenClaims.tokenID(payload)
    issuedAt = payload.time("iat")
    notBefore = payload.time("nbf")
    expiresAt = payload.time("exp")
    issuer = text("iss")
    context = TokenClaims.context(payload, keys)
  }

  /// Returns the members of a token's second part.
  package static func payload(of token: Secret) throws(Problem) -> JSONMembers {
    do throws(TokenPayload.Flaw) { return try TokenPayload.read(token) } catch {
      switch error {
      case .notThreeParts: throw .notThreeParts
      case .notBase64URL: throw .payloadNotBase64URL
      case .notObject: throw .payloadNotObject
      }
    }
  }

  /// Returns the token's own identifier alone.
  static func tokenID(_ payload: JSONMembers) -> Identifier? { payload.identifierHint("jti") }

  /// Returns the context of the token alone.
  static func context(_ payload: JSONMembers, _ keys: ContextKeys) -> ActiveContext? {
    do throws(Unreadable) {
      guard let members = try payload.object(keys.claim) else { return nil }
      return try keys.read(members)
    } catch {
      // The context is only a hint. If it cannot be read, it counts as missing.
      return nil
    }
  }
}

extension TokenClaims: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text without the claims, since a subject may be an e-mail address.
  public var description: String { "claims of a token" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
