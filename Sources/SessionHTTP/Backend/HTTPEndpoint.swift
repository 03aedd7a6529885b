import Foundation
public import SessionKit

/// How one kind of request is sent: its method, path and body, and the places of the tokens.
///
/// ```swift
/// backend.login = .post("v2/session")
/// backend.refresh = .put("v2/session", refreshToken: .bearer)
/// backend.revocation = .delete("v2/session", accessToken: .bearer)
/// ```
public struct HTTPEndpoint: Hashable, Sendable {
  /// The encoding of the body.
  public enum Body: Hashable, Sendable {
    /// A JSON object.
    case json
    /// `application/x-www-form-urlencoded`, as in OAuth 2.0.
    case form
    /// No body.
    ///
    /// Members and fields are not sent.
    case none
  }

  /// The method, such as `POST`.
  public var method: String
  /// The text to append to the base address, exactly as it should be sent.
  ///
  /// It may end with a slash and may have a query. A complete address with a host is used
  /// unchanged.
  public var path: String
  /// The encoding of the body.
  public var body: Body
  /// Members with fixed values, such as OAuth's `grant_type`.
  ///
  /// The request's own members replace them.
  public var fields: [String: RequestField]
  /// Header fields of this endpoint.
  ///
  /// They replace fields of the backend and the library with the same name.
  public var headers: [HTTPHeader]
  /// The place of the access token, if the request has one.
  ///
  /// At a refresh it is that of the session, which may have expired, and only a server that demands it
  /// should get it (sanic-jwt 1.8.0). A login with a refresh token alone has none.
  ///
  /// - Requirement: REF-4
  public var accessToken: TokenLocation
  /// The place of the refresh token, if the request has one.
  ///
  /// If both tokens have the same place, the refresh token is sent.
  public var refreshToken: TokenLocation
  /// The member that names the kind of the sent token, `access_token` or `refresh_token` (RFC 7009
  /// §2.1).
  public var tokenHint: String?

  /// Creates an endpoint with any method.
  ///
  /// ``post(_:body:fields:headers:accessToken:refreshToken:tokenHint:)`` and the others are
  /// shorter.
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

  /// Returns an endpoint with `POST` to this path, by default with a body of JSON.
  public static func post(
    _ path: String, body: Body = .json, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere, tokenHint: String? = nil
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "POST", body: body, fields: fields, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken, tokenHint: tokenHint)
  }

  /// Returns an endpoint with `PUT` to this path, by default with a body of JSON.
  public static func put(
    _ path: String, body: Body = .json, fields: [String: RequestField] = [:],
    headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "PUT", body: body, fields: fields, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken)
  }

  /// Returns an endpoint with `GET` of this path, without a body.
  ///
  /// A token can only be in a header field.
  public static func get(
    _ path: String, headers: [HTTPHeader] = [], accessToken: TokenLocation = .nowhere,
    refreshToken: TokenLocation = .nowhere
  ) -> HTTPEndpoint {
    HTTPEndpoint(
      path, method: "GET", body: .none, headers: headers, accessToken: accessToken,
      refreshToken: refreshToken)
  }

  /// Returns an endpoint with `DELETE` of this path.
  ///
  /// It has no body, or one of JSON if a token or a field is a member of it.
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

  /// Returns an endpoint for RFC 7009: a form with the refresh token, or else with the access
  /// token.
  public static func revocation(_ path: String) -> HTTPEndpoint {
    .post(
      path, body: .form, accessToken: .member("token"), refreshToken: .member("token"),
      tokenHint: "token_type_hint")
  }

  /// Returns the address below `base`.
  func url(below base: URL) -> URL { AddressPath.url(path, below: base) }
}

extension HTTPEndpoint: ExpressibleByStringLiteral {
  /// Creates an endpoint with `POST` of JSON to this path.
  public init(stringLiteral path: String) {
    self = .post(path)
  }
}

extension HTTPEndpoint: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The method, and the path without its query or the host of a complete address.
  ///
  /// Fields, headers and the part of an address before its host may contain secrets.
  public var description: String {
    if path.contains("://"), let host = URL(string: path)?.host { return "\(method) \(host)" }
    return "\(method) \(path.prefix { $0 != "?" })"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["endpoint": description]) }
}

/// The place of a token in a request.
///
/// It is never in an address.
///
/// - Requirement: STO-3
public enum TokenLocation: Hashable, Sendable {
  /// The token is not sent.
  case nowhere
  /// The field `Authorization: Bearer …` (RFC 6750 §2.1).
  case bearer
  /// A member of the body with this name.
  ///
  /// It is not sent if the request has no body.
  case member(String)
  /// A header field with this name.
  ///
  /// Its value is the scheme, a space and the token. Without a scheme it is the token alone.
  case header(String, scheme: String? = nil)
}
