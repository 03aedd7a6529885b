import Foundation
public import SessionKit

/// Where and how one kind of request goes out: a method, a path, a body, and the places of the tokens.
///
/// ```swift
/// backend.login = .post("v2/session")
/// backend.refresh = .put("v2/session", refreshToken: .bearer)
/// backend.revocation = .delete("v2/session", accessToken: .bearer)
/// ```
public struct HTTPEndpoint: Hashable, Sendable {
  /// How the body is written.
  public enum Body: Hashable, Sendable {
    /// A JSON object.
    case json
    /// `application/x-www-form-urlencoded`, as OAuth 2.0 has it.
    case form
    /// There is no body; members and fields are not sent.
    case none
  }

  /// The method, such as `POST`.
  public var method: String
  /// What follows the base address, to the letter: with or without a slash at its end, with a query
  /// where it has one; or a whole address with a host, which is taken as it is.
  public var path: String
  /// How the body is written.
  public var body: Body
  /// Members with fixed values, such as OAuth's `grant_type`; the request's own win over them.
  public var fields: [String: RequestField]
  /// Header fields of this endpoint; they replace the backend's and the library's of the same name.
  public var headers: [HTTPHeader]
  /// Where the access token is, if the request has one; a refresh never has.
  ///
  /// - Requirement: REF-4
  public var accessToken: TokenLocation
  /// Where the refresh token is, if the request has one.
  ///
  /// If both tokens have the same place, the refresh token is sent.
  public var refreshToken: TokenLocation
  /// The member that says which of the two is sent, `access_token` or `refresh_token` (RFC 7009 §2.1).
  public var tokenHint: String?

  /// An endpoint with any method; ``post(_:body:fields:headers:accessToken:refreshToken:tokenHint:)`` and the
  /// others are shorter.
  public init(
    _ path: String, method: String, body: Body = .json, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere, tokenHint: String? = nil
  ) {
    self.path = path
    self.method = method
    self.body = body
    self.fields = fields
    self.headers = headers
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.tokenHint = tokenHint
  }

  /// `POST` to this path, with a body of JSON unless said otherwise.
  public static func post(
    _ path: String, body: Body = .json, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere, tokenHint: String? = nil
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "POST", body: body, fields: fields, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken, tokenHint: tokenHint)
  }

  /// `PUT` to this path, with a body of JSON unless said otherwise.
  public static func put(
    _ path: String, body: Body = .json, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "PUT", body: body, fields: fields, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken)
  }

  /// `GET` of this path, without a body: a token can only be in a header field.
  public static func get(
    _ path: String, headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "GET", body: .none, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken)
  }

  /// `DELETE` of this path; without a body, or with one of JSON if a token or a field is a member of it.
  public static func delete(
    _ path: String, body: Body? = nil, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere
  ) -> HTTPEndpoint {
    let hasMembers = !fields.isEmpty || accessToken.isMember || refreshToken.isMember
    return HTTPEndpoint(
      path, method: "DELETE", body: body ?? (hasMembers ? .json : .none), fields: fields,
      headers: headers,
      accessToken: accessToken,
      refreshToken: refreshToken)
  }

  /// Token revocation as RFC 7009 has it: the refresh token, or else the access token, in a form.
  public static func revocation(_ path: String) -> HTTPEndpoint {
    .post(
      path, body: .form, accessToken: .member("token"), refreshToken: .member("token"),
      tokenHint: "token_type_hint")
  }

  /// The address below `base`.
  func url(below base: URL) -> URL { AddressPath.url(path, below: base) }
}

extension HTTPEndpoint: ExpressibleByStringLiteral {
  /// POST of JSON to this path.
  public init(stringLiteral path: String) {
    self = .post(path)
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
