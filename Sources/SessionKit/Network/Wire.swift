public import Foundation
import SessionCore

/// How a backend is spoken to, as configuration: addresses, names, and closures for the odd (POL-4).
///
/// A preset is a starting point; every part can be changed.
public struct Wire: Sendable {
  /// What a request is for.
  public enum Step: Hashable, Sendable {
    /// Signing in.
    case login
    /// Getting a newer token.
    case refresh
    /// Acting in another context.
    case switchContext
    /// Telling the server that a session has ended.
    case revocation
  }

  /// How the body of a request is written.
  public enum BodyForm: Hashable, Sendable {
    /// A JSON object.
    case json
    /// `application/x-www-form-urlencoded`, as OAuth 2.0 has it.
    case form
  }

  /// What an access token must look like.
  public enum TokenForm: Hashable, Sendable {
    /// Three parts with dots between them; its claims are read as hints.
    case jwt
    /// Anything; claims are read where it happens to have them.
    case opaque
  }

  /// What the paths are appended to.
  public var baseURL: URL
  /// Where one signs in.
  public var loginPath: String
  /// Where one gets a newer token.
  public var refreshPath: String
  /// Where one changes the context.
  public var switchPath: String
  /// Where one tells of the end, or `nil` where the backend has no such place.
  public var revocationPath: String?
  /// Header fields that every request has besides those of its body.
  public var headers: [HTTPHeader] = []
  /// How bodies are written.
  public var bodyForm = BodyForm.json
  /// Members with fixed values, such as OAuth's `grant_type` and `client_id`.
  public var members: [Step: [String: String]] = [:]
  /// The names of members.
  public var keys = WireKeys()
  /// What an access token must look like.
  public var tokenForm = TokenForm.jwt
  /// Whether a login's answer must say who the user is.
  public var needsUser = true
  /// The member of an answer that holds the answer proper, such as `data`; `nil` for none.
  public var envelope: String?
  /// The last word on each request; cannot bring `Authorization` back into a refresh (REF-4).
  public var adjust: (@Sendable (Step, inout HTTPRequest) -> Void)?
  /// Reads a success in place of this type.
  public var read: (@Sendable (Step, HTTPResponse) throws(AnswerFailure) -> TokenAnswer)?
  /// Reads the server's code for an error in place of this type.
  public var errorCode: (@Sendable (HTTPResponse) -> String?)?

  /// A backend with EDU's names at other paths.
  public init(
    baseURL: URL, loginPath: String, refreshPath: String, switchPath: String,
    revocationPath: String?
  ) {
    self.baseURL = baseURL
    self.loginPath = loginPath
    self.refreshPath = refreshPath
    self.switchPath = switchPath
    self.revocationPath = revocationPath
  }

  /// The school app's backend below `baseURL`.
  public static func edu(baseURL: URL) -> Wire {
    Wire(
      baseURL: baseURL, loginPath: "auth/login", refreshPath: "auth/refresh",
      switchPath: "auth/switch-context", revocationPath: "auth/logout")
  }
}

// MARK: Requests

extension Wire {
  /// Signs in with a password; carries no `Authorization` (LOG-3).
  public func login(_ credentials: PasswordCredentials) -> HTTPRequest {
    post(
      .login, loginPath,
      [keys.userName: credentials.userName, keys.password: credentials.password.value])
  }

  /// Asks for a newer token; the refresh token is in the body, never `Authorization` (REF-4).
  public func refresh(_ token: Secret) -> HTTPRequest {
    var request = post(.refresh, refreshPath, [keys.refreshToken: token.value])
    request.headers.removeAll { $0.isNamed("Authorization") }
    return request
  }

  /// Asks for a token in another context (CTX-1).
  public func switchContext(_ target: ContextTarget, access: Secret) -> HTTPRequest {
    var body = [keys.contexts.role: target.role.description]
    body[keys.contexts.school] = target.school?.description
    body[keys.contexts.unit] = target.unit?.description
    return post(.switchContext, switchPath, body, bearer: access)
  }

  /// Tells the server that a session has ended (OUT-1); `nil` where it has no place for that.
  public func revoke(access: Secret, refresh: Secret?) -> HTTPRequest? {
    guard let revocationPath else { return nil }
    var body: [String: String] = [:]
    body[keys.revokedToken] = refresh?.value
    return post(.revocation, revocationPath, body, bearer: access)
  }

  private func post(
    _ step: Step, _ path: String, _ own: [String: String], bearer: Secret? = nil
  ) -> HTTPRequest {
    let fixed = members[step] ?? [:]
    let body = own.merging(fixed) { own, _ in own }.sorted { $0.key < $1.key }
    var fields = headers
    fields.append(HTTPHeader("Accept", "application/json"))
    if let bearer { fields.append(HTTPHeader("Authorization", "Bearer \(bearer.value)")) }
    let text: String
    switch bodyForm {
    case .json:
      fields.append(HTTPHeader("Content-Type", "application/json"))
      let pairs = body.map { "\(JSONValue.quoted($0.key)):\(JSONValue.quoted($0.value))" }
      text = "{\(pairs.joined(separator: ","))}"
    case .form:
      fields.append(HTTPHeader("Content-Type", "application/x-www-form-urlencoded"))
      let pairs = body.map { "\(Wire.formEncoded($0.key))=\(Wire.formEncoded($0.value))" }
      text = pairs.joined(separator: "&")
    }
    var request = HTTPRequest(
      method: "POST", url: path.isEmpty ? baseURL : baseURL.appendingPathComponent(path),
      headers: fields, body: Array(text.utf8))
    adjust?(step, &request)
    return request
  }

  private static func formEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    return text.utf8.reduce(into: "") { encoded, byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%"
        encoded.append(digits[Int(byte >> 4)])
        encoded.append(digits[Int(byte & 15)])
      }
    }
  }
}

extension Wire: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host alone: header fields and fixed members may hold a client's secret.
  public var description: String { "wire to \(baseURL.host ?? "nowhere")" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["wire": description]) }
}
