public import SessionKit

/// How the app identifies itself to the server, in addition to its user (RFC 6749 §2.3.1).
///
/// Descriptions do not show the secret.
///
/// It is part of a login, a refresh and a revocation, which are the requests of OAuth 2.0's
/// endpoints.
public enum ClientAuthentication: Hashable, Sendable {
  /// The app does not identify itself.
  case none
  /// The members `client_id` and, for a confidential client, `client_secret` of the body.
  case form(id: String, secret: Secret? = nil)
  /// HTTP Basic.
  ///
  /// A request that carries a token as `Bearer` cannot carry it.
  case basic(id: String, secret: Secret, pair: BasicPair = .formEncoded)

  /// The form in which HTTP Basic sends the identifier and the secret.
  ///
  /// It matters only if one of them has another character than `A–Z a–z 0–9 - . _ ~`. A server that
  /// expects the other form answers `invalid_client` then.
  public enum BasicPair: Hashable, Sendable {
    /// Both are encoded as in a form (RFC 6749 §2.3.1), as django-oauth-toolkit 3.4.1 requires.
    case formEncoded
    /// Both are sent as they are (RFC 7617 §2), as django-allauth 65.22.1 and Doorkeeper 5.6.6
    /// require. The identifier must not have a colon.
    case plain
  }

  /// Whether HTTP Basic identifies the app, so that a 401 may be about the app (RFC 6749 §5.2).
  var isBasic: Bool {
    if case .basic = self { true } else { false }
  }

  var members: [String: RequestField] {
    guard case .form(let id, let secret) = self else { return [:] }
    var members: [String: RequestField] = ["client_id": .text(id)]
    members["client_secret"] = secret.map { .text($0.plaintext) }
    return members
  }

  /// The app's identifier; `nil` if the app does not identify itself.
  package var id: String? {
    switch self {
    case .none: nil
    case .form(let id, _), .basic(let id, _, _): id
    }
  }

  /// The value of `Authorization`: both parts in the chosen form, joined and encoded in base64.
  var authorization: String? {
    guard case .basic(let id, let secret, let pair) = self else { return nil }
    let parts = [id, secret.plaintext].map { pair == .plain ? $0 : FormEncoding.encode($0) }
    return "Basic \(Base64.encode(Array(parts.joined(separator: ":").utf8)))"
  }

  /// The other form of HTTP Basic, for the error of a refused client; `nil` if it is the same.
  var doubt: String? {
    guard case .basic(let id, let secret, let pair) = self,
      FormEncoding.encode(id + secret.plaintext) != id + secret.plaintext
    else { return nil }
    let (form, other) =
      pair == .plain ? ("as they are", "formEncoded") : ("encoded as in a form", "plain")
    return "HTTP Basic sends identifier and secret \(form), and some servers expect pair: .\(other)"
  }
}

extension ClientAuthentication: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The kind of authentication, without identifier and secret.
  public var description: String {
    switch self {
    case .none: "no client authentication"
    case .form: "client authentication in the body"
    case .basic: "client authentication as Basic"
    }
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the kind only.
  public var customMirror: Mirror { Mirror(self, children: ["way": description]) }
}
