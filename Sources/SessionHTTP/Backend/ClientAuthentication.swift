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
  case basic(id: String, secret: Secret)

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
    case .form(let id, _), .basic(let id, _): id
    }
  }

  /// The value of `Authorization`: both parts encoded as in a form, then joined and encoded in
  /// base64.
  var authorization: String? {
    guard case .basic(let id, let secret) = self else { return nil }
    let pair = "\(FormEncoding.encode(id)):\(FormEncoding.encode(secret.plaintext))"
    return "Basic \(Base64.encode(Array(pair.utf8)))"
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

extension ClientAuthentication {
  /// The client identifier; `nil` if there is none.
  var identifier: String? {
    switch self {
    case .none: nil
    case .form(let id, _), .basic(let id, _): id
    }
  }
}
