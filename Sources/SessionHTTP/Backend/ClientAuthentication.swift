public import SessionKit

/// How the app itself proves who it is, beside its user (RFC 6749 §2.3.1); shown without the secret.
///
/// It goes with a login, a refresh and a revocation, the requests of OAuth 2.0's endpoints.
public enum ClientAuthentication: Hashable, Sendable {
  /// It does not.
  case none
  /// As the members `client_id` and, for a confidential client, `client_secret` of the body.
  case form(id: String, secret: Secret? = nil)
  /// As HTTP Basic; a request in which a token rides as `Bearer` has no room for it.
  case basic(id: String, secret: Secret)

  var members: [String: RequestField] {
    guard case .form(let id, let secret) = self else { return [:] }
    var members: [String: RequestField] = ["client_id": .text(id)]
    members["client_secret"] = secret.map { .text($0.plaintext) }
    return members
  }

  /// The app's identifier; `nil` if it does not say who it is.
  package var id: String? {
    switch self {
    case .none: nil
    case .form(let id, _), .basic(let id, _): id
    }
  }

  /// What it adds to a form.
  package var fields: [String: String] {
    guard case .form(let id, let secret) = self else { return [:] }
    var fields = ["client_id": id]
    fields["client_secret"] = secret?.plaintext
    return fields
  }

  /// The value of `Authorization`: both parts encoded as in a form, then together in base64.
  package var authorization: String? {
    guard case .basic(let id, let secret) = self else { return nil }
    let pair = "\(FormEncoding.encode(id)):\(FormEncoding.encode(secret.plaintext))"
    return "Basic \(Base64.encode(Array(pair.utf8)))"
  }
}

extension ClientAuthentication: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The way, without identifier and secret.
  public var description: String {
    switch self {
    case .none: "no client authentication"
    case .form: "client authentication in the body"
    case .basic: "client authentication as Basic"
    }
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the way only.
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
