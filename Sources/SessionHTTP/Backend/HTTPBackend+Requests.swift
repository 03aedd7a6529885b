import Foundation
@_spi(Internals) import SessionCore
import SessionJSON
package import SessionKit

extension HTTPBackend {
  /// Returns the request to log in or to create an account.
  ///
  /// It carries no access token.
  ///
  /// Returns `nil` if the backend has no endpoint for this credential.
  ///
  /// - Requirement: LOG-3
  package func loginRequest(_ credential: Credential) -> HTTPRequest? {
    switch credential {
    case .password(let userName, let password):
      return request(
        .login,
        [
          requestFields.userName: .text(userName),
          requestFields.password: .text(password.plaintext),
        ])
    case .registration(let userName, let password, let fields):
      var own = fields
      own[requestFields.userName] = .text(userName)
      own[requestFields.password] = .text(password.plaintext)
      return request(.register, own)
    case .provider(let name, let token):
      return request(
        .social,
        [
          requestFields.provider: .text(name),
          requestFields.providerToken: .text(token.plaintext),
        ])
    case .refreshToken(let token): return refresh(token)
    case .custom: return nil
    }
  }

  /// Returns a request of a grant that no credential describes, to a token endpoint at the base
  /// (RFC 6749 §4.1.3).
  ///
  /// - Requirement: LOG-20
  package func tokenRequest(_ members: [String: RequestField]) -> HTTPRequest {
    request(.login, members, at: .post("", body: .form), access: nil, refresh: nil)
  }

  /// Returns the request for newer tokens; `nil` if tokens are not refreshed.
  ///
  /// Its `Authorization` is the client's, or a token if that is the token's place. The access token
  /// is sent only if the endpoint has a place for it.
  ///
  /// - Requirement: REF-4
  package func refresh(_ token: Secret, access: Secret? = nil) -> HTTPRequest? {
    request(.refresh, access: access, refresh: token)
  }

  /// Returns the request for a token in another context; `nil` if there are no contexts.
  ///
  /// - Requirement: CTX-1
  package func switchContext(_ target: ContextTarget, access: Secret) -> HTTPRequest? {
    var body = [contextKeys.role.key: RequestField.text(target.role.description)]
    body[contextKeys.school.key] = target.school.map { .text($0.description) }
    body[contextKeys.unit.key] = target.unit.map { .text($0.description) }
    return request(.switchContext, body, access: access)
  }

  /// Returns the request for the user's profile; `nil` if there is no endpoint.
  ///
  /// - Requirement: LOG-6
  package func profile(access: Secret) -> HTTPRequest? {
    request(.profile, access: access)
  }

  /// Returns the request that informs the server that a session has ended.
  ///
  /// If there are several, returns the first.
  ///
  /// Returns `nil` if the backend has no such endpoint, or if the request would name no token.
  ///
  /// - Requirement: OUT-1
  package func revoke(access: Secret, refresh: Secret?) -> HTTPRequest? {
    self.revocation.flatMap { revoke(at: $0, access: access, refresh: refresh) }
  }

  func revoke(at endpoint: HTTPEndpoint, access: Secret, refresh: Secret?) -> HTTPRequest? {
    guard
      endpoint.sends(endpoint.accessToken)
        || endpoint.sends(endpoint.refreshToken) && refresh != nil
    else {
      return nil
    }
    return request(.revocation, [:], at: endpoint, access: access, refresh: refresh)
  }

  private func request(
    _ step: Step, _ own: [String: RequestField] = [:], access: Secret? = nil,
    refresh: Secret? = nil
  ) -> HTTPRequest? {
    endpoint(of: step).map { request(step, own, at: $0, access: access, refresh: refresh) }
  }

  private func request(
    _ step: Step, _ own: [String: RequestField], at endpoint: HTTPEndpoint, access: Secret?,
    refresh: Secret?
  ) -> HTTPRequest {
    var cargo = Cargo()
    cargo.members = endpoint.fields
    if step.authenticatesClient {
      if !client.members.isEmpty { cargo.members.merge(client.members) { $1 } }
      cargo.authorization = client.authorization
    }
    if cargo.members.isEmpty { cargo.members = own } else { cargo.members.merge(own) { $1 } }
    // The refresh token is last, so that it replaces the access token if both have the same place.
    cargo.put(access, endpoint.accessToken, hint: endpoint.tokenHint, "access_token")
    cargo.put(refresh, endpoint.refreshToken, hint: endpoint.tokenHint, "refresh_token")

    let body = endpoint.body(cargo.members)
    var ours = [HTTPHeader("Accept", "application/json")]
    if let type = body?.type { ours.append(type) }
    var fields = ours.replaced(by: headers).replaced(by: endpoint.headers)
    fields = fields.replaced(by: cargo.headers)
    if let authorization = cargo.authorization {
      fields = fields.replaced(by: [HTTPHeader("Authorization", authorization)])
    }
    var request = HTTPRequest(
      method: endpoint.method, url: endpoint.url(below: baseURL), headers: fields,
      body: body?.bytes)
    if step == .refresh {
      request.headers.removeAll { $0.isNamed("Authorization") }
      if let authorization = cargo.authorization {
        request.headers.append(HTTPHeader("Authorization", authorization))
      }
    }
    return request
  }

  /// The tokens and members of a request.
  private struct Cargo {
    var members: [String: RequestField] = [:]
    var headers: [HTTPHeader] = []
    var authorization: String?

    mutating func put(_ token: Secret?, _ place: TokenLocation, hint: String?, _ name: String) {
      guard let token else { return }
      switch place {
      case .nowhere: return
      case .bearer: authorization = "Bearer \(token.plaintext)"
      case .header(let name, let scheme):
        let field = HTTPHeader(name, scheme.map { "\($0) \(token.plaintext)" } ?? token.plaintext)
        if field.isNamed("Authorization") {
          authorization = field.value
        } else {
          headers.removeAll { $0.isNamed(name) }
          headers.append(field)
        }
      case .member(let name): members[name] = .text(token.plaintext)
      }
      if let hint { members[hint] = .text(name) }
    }
  }
}

extension HTTPBackend.Step {
  fileprivate var authenticatesClient: Bool {
    self == .login || self == .social || self == .refresh || self == .revocation
  }
}

extension TokenLocation {
  /// Whether the token is in the body.
  var isMember: Bool { if case .member = self { true } else { false } }
}

extension HTTPEndpoint {
  /// Returns whether a request has this place for a token.
  ///
  /// Without a body there is no member.
  fileprivate func sends(_ place: TokenLocation) -> Bool {
    place.isMember ? body != .none : place != .nowhere
  }

  fileprivate func body(_ members: [String: RequestField]) -> (bytes: [UInt8], type: HTTPHeader?)? {
    switch body {
    case .none:
      return nil
    case .json:
      return (MemberTree.json(of: members), HTTPHeader("Content-Type", "application/json"))
    case .form:
      let pairs = members.sorted { $0.key < $1.key }.map {
        "\(FormEncoding.encode(MemberTree.plain($0.key)))=\(FormEncoding.encode($0.value.form))"
      }
      return (
        Array(pairs.joined(separator: "&").utf8),
        HTTPHeader("Content-Type", "application/x-www-form-urlencoded")
      )
    }
  }
}

extension [HTTPHeader] {
  /// Returns these fields and the others after them.
  ///
  /// Fields with equal names are replaced by the others.
  fileprivate func replaced(by others: [HTTPHeader]) -> [HTTPHeader] {
    others.isEmpty ? self : filter { field in !others.contains { $0.isNamed(field.name) } } + others
  }
}

/// The members of a request as a tree, built from their names.
///
/// `user.email` is `email` within `user`, and `user\.email` is one name with a dot. If a name lies
/// within the value of another one, the inner one counts.
private struct MemberTree {
  private enum Node {
    case value(RequestField)
    case members([String: Node])
  }

  private var root: [String: Node] = [:]

  init(_ members: [String: RequestField]) {
    for (key, field) in members.sorted(by: { $0.key < $1.key }) {
      MemberTree.put(field, at: MemberTree.steps(key)[...], into: &root)
    }
  }

  /// Returns members as a JSON object in UTF-8, sorted by name.
  static func json(of members: [String: RequestField]) -> [UInt8] {
    // Most names have one step, so that nothing is nested.
    guard members.keys.contains(where: hasSteps) else {
      var writer = JSONWriter()
      writer.object(members) { $0.value($1.json) }
      return Array(writer.bytes)
    }
    return Array(json(.members(MemberTree(members).root)).text.utf8)
  }

  /// Returns the name in a form, which has no nested members.
  static func plain(_ key: String) -> String { steps(key).joined(separator: ".") }

  /// Whether a name has a dot or a backslash.
  private static func hasSteps(_ key: String) -> Bool {
    key.utf8.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "\\") }
  }

  private static func steps(_ key: String) -> [String] {
    guard hasSteps(key) else { return [key] }
    var steps = [""]
    var isEscaped = false
    for character in key {
      if isEscaped || character != "\\" && character != "." {
        if isEscaped, character != "." { steps[steps.count - 1].append("\\") }
        steps[steps.count - 1].append(character)
        isEscaped = false
      } else if character == "." {
        steps.append("")
      } else {
        isEscaped = true
      }
    }
    if isEscaped { steps[steps.count - 1].append("\\") }
    return steps
  }

  private static func put(
    _ field: RequestField, at steps: ArraySlice<String>, into members: inout [String: Node]
  ) {
    guard let name = steps.first else { return }
    let rest = steps.dropFirst()
    var inner: [String: Node] = [:]
    if case .members(let found) = members[name] { inner = found }
    guard !rest.isEmpty else {
      if inner.isEmpty { members[name] = .value(field) }
      return
    }
    put(field, at: rest, into: &inner)
    members[name] = .members(inner)
  }

  private static func json(_ node: Node) -> JSONValue {
    switch node {
    case .value(let field): field.json
    case .members(let inner): .object(inner.mapValues(json))
    }
  }
}
