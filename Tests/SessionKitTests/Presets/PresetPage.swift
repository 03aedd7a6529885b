import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport

/// `Specs/Presets.md`, section by section, and the backends and policies in it.
struct PresetPage {
  private let page = SpecPage("Presets.md")
  private var lines: [String] { page.lines }

  /// The names of the sections that show requests.
  var names: [String] {
    lines.filter { $0.hasPrefix("## ") }.map { String($0.dropFirst(3)) }
      .filter { block("http", of: $0) != nil }
  }

  /// The first block of this language in a section.
  func block(_ language: String, of section: String) -> String? {
    guard let start = lines.firstIndex(of: "## \(section)") else { return nil }
    let body = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    guard let open = body.firstIndex(of: "```\(language)"),
      let close = body[(open + 1)...].firstIndex(of: "```")
    else { return nil }
    return body[(open + 1)..<close].joined(separator: "\n")
  }

  /// The rows of the table with this header, in any section.
  func rows(_ head: [String]) -> [[String]] { page.rows(head) }

  static let credentials = Credential.password("ana@school.test", "correct horse")

  static let account = Credential.registration(
    "ana@school.test", "correct horse", fields: ["first_name": "Ana"])

  private static func url(_ text: String) -> URL {
    URL(string: text) ?? URL(fileURLWithPath: "/")
  }

  /// The backend of a section.
  static func backend(_ name: String) -> HTTPBackend? {
    switch name {
    case "snakeCaseJSON": .snakeCaseJSON(url("https://api.school.test/v1"))
    case "azureADB2C":
      .azureADB2C(
        url("https://login.test/tenant/b2c_1_signin"), clientID: "app-1",
        scope: "openid offline_access")
    case "OFF": AppPreset.off(url("https://off.test")).backend
    case "TIK": AppPreset.tik(url("https://tik.test")).backend
    case "camelCaseJSON": .camelCaseJSON(url("https://api.test/v1/"))
    case "oauth":
      .oauth(
        token: url("https://id.test/oauth/token"), revocation: url("https://id.test/oauth/revoke"),
        client: .basic(id: "app-1", secret: Secret("s3:cret")), scope: "profile")
    case "SimpleJWT": SimpleJWTExample.backend(url("https://django.test"))
    default: nil
    }
  }

  /// A backend with the values of the article `KnownServers` that its unusual answers need.
  static func knownServer(_ name: String) -> HTTPBackend? {
    var backend = HTTPBackend(baseURL: url("https://api.test"))
    backend.tokenForm = .opaque
    backend.refresh = "refresh"
    backend.response.user = [.claim("sub")]
    var rules: [FailureRule] = []
    switch name {
    case "django-oauth-toolkit":
      rules = [FailureRule(.rejected, at: [.call], status: 403, body: .empty)]
    case "piccolo_api":
      rules = [FailureRule(.rejected, at: [.call], status: 400, body: .empty)]
    case "Canaille":
      rules = [FailureRule(.rejected, at: [.login], status: 400, codes: ["invalid_request"])]
    case "MCP SDK":
      backend = .oauth(token: url("https://api.test/token"), revocation: url("https://api.test/r"))
    case "dj-rest-auth":
      (backend.response.accessToken, backend.response.refreshToken) = ("access", "refresh")
    case "django-allauth":
      backend.response.errorCode = "errors.0.code"
      rules = [
        FailureRule(.rejected, at: [.login], status: 400, codes: ["username_password_mismatch"]),
        FailureRule(.rejected, at: [.refresh], status: 400),
        FailureRule(.rejected, at: [.call], status: 410),
      ]
    case "tiled", "allauth as provider": break
    case "guillotina":
      backend.response.errorCode = "auth"
      rules = [
        FailureRule(.rejected, at: [.call], status: 401, codes: ["Anonymous User"]),
        FailureRule(.unexpected, at: [.call], status: 401),
      ]
    case "django-graphql-jwt":
      backend.response.errorCode = "errors.0.message"
      rules = [
        FailureRule(.rejected, at: [.refresh], status: 200, codes: ["Invalid refresh token"]),
        FailureRule(.rejected, at: [.call], status: 200, codes: ["Error decoding signature"]),
      ]
    case "JupyterHub":
      backend.response.errorCode = "message"
      rules = [
        FailureRule(.unexpected, at: [.call], status: 403, codes: ["Action is not authorized*"]),
        FailureRule(.rejected, at: [.login, .call], status: 403),
      ]
    default: return nil
    }
    backend.failures = rules + backend.failures
    return backend
  }

  /// The policy of an app in the requirements.
  static func policy(_ name: String) -> SessionPolicy? {
    switch name {
    case "EDU": .edu()
    case "B2C": .b2c
    case "OFF": .off
    case "TIK": .tik
    case "API": .api
    case "OAuth 2.0": .oauth
    case "SimpleJWT": .production
    default: nil
    }
  }

  /// The requests of a preset, in the page's format.
  static func requests(_ wire: HTTPBackend) -> String {
    let (access, refresh) = (Secret("a.b.c"), Secret("r-1"))
    let requests: [(String, HTTPRequest?)] = [
      ("login", wire.loginRequest(credentials)), ("register", wire.loginRequest(account)),
      ("social", wire.loginRequest(.provider("google", token: Secret("g-1")))),
      ("refresh", wire.refresh(refresh)),
      (
        "switch",
        wire.switchContext(ContextTarget(role: "r-2", school: "s-2"), access: access)
      ), ("profile", wire.profile(access: access)),
      ("revocation", wire.revoke(access: access, refresh: refresh)),
    ]
    return requests.compactMap { name, request in
      request.map { "### \(name)\n\(text($0))" }
    }.joined(separator: "\n\n")
  }

  private static func text(_ request: HTTPRequest) -> String {
    var lines = ["\(request.method) \(request.url.absoluteString)"]
    lines += request.headers.map { "\($0.name): \($0.value)" }
    if let body = request.body { lines += ["", String(decoding: body, as: UTF8.self)] }
    return lines.joined(separator: "\n")
  }

  /// A response of the page: `<{…}>` in it is a token with these claims.
  static func answer(_ text: String) -> String {
    text.replacing(/<(\{[^>]*\})>/) { match in
      "h.\(LoopbackToken.base64URL(Array(match.1.utf8))).s"
    }
  }

  /// The contents of a response, in the page's format.
  static func words(_ answer: TokenResponse) -> String {
    var words = ["\(answer.lifetimeMilliseconds) ms"]
    words.append(answer.refresh.map { "refresh token \($0.plaintext)" } ?? "no refresh token")
    if let user = answer.user {
      words.append("user \(user.id)")
      if let email = user.email { words.append(email) }
      words += user.further.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    }
    if let context = answer.context ?? answer.tokenContext {
      words.append("role \(context.role.id)")
    }
    return words.joined(separator: ", ")
  }
}
