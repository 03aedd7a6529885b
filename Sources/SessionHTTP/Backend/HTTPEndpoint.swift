import Foundation
public import SessionKit

/// Where and how one kind of request goes out: a method, an address, a body, and where tokens ride.
public struct HTTPEndpoint: Hashable, Sendable {
  /// How the body is written.
  public enum Form: Hashable, Sendable {
    /// A JSON object.
    case json
    /// `application/x-www-form-urlencoded`, as OAuth 2.0 has it.
    case form
    /// There is no body; members and fields are not sent.
    case none
  }

  /// The method.
  public var method: String
  /// What follows the base address, to the letter: with or without a slash at its end, with a query
  /// where it has one; or a whole address with a host, which is taken as it is.
  public var path: String
  /// How the body is written.
  public var form: Form
  /// Members with fixed values, such as OAuth's `grant_type`; the request's own win over them.
  public var fields: [String: RequestField]
  /// Header fields of this endpoint; they replace the backend's and the library's of the same name.
  public var headers: [HTTPHeader]
  /// Where the access token rides, where the request has one; a refresh never has (REF-4).
  public var access: TokenLocation
  /// Where the refresh token rides, where the request has one; before the access token where both
  /// have the same place.
  public var refresh: TokenLocation
  /// The member that says which of the two rides, `access_token` or `refresh_token` (RFC 7009 §2.1).
  public var tokenHint: String?

  /// An endpoint; POST and JSON unless said otherwise.
  public init(
    _ path: String, method: String = "POST", form: Form = .json,
    fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], access: TokenLocation = .nowhere, refresh: TokenLocation = .nowhere,
    tokenHint: String? = nil
  ) {
    self.path = path
    self.method = method
    self.form = form
    self.fields = fields
    self.headers = headers
    self.access = access
    self.refresh = refresh
    self.tokenHint = tokenHint
  }

  /// Token revocation as RFC 7009 has it: the refresh token, or else the access token, in a form.
  public static func revocation(_ path: String) -> HTTPEndpoint {
    HTTPEndpoint(
      path, form: .form, access: .member("token"), refresh: .member("token"),
      tokenHint: "token_type_hint")
  }

  /// The address below `base`.
  func url(below base: URL) -> URL { AddressPath.url(path, below: base) }
}

extension HTTPEndpoint: ExpressibleByStringLiteral {
  /// POST of JSON to this path.
  public init(stringLiteral path: String) {
    self.init(path)
  }
}

extension HTTPEndpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The method and the path without its query, or the host of a whole address: fields, headers and
  /// what an address has before its host may hold secrets.
  public var description: String {
    if path.contains("://"), let host = URL(string: path)?.host { return "\(method) \(host)" }
    return "\(method) \(path.prefix { $0 != "?" })"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["endpoint": description]) }
}
