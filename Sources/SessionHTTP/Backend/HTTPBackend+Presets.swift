public import Foundation
import SessionCore
import SessionKit

// Kinds of backends, each a starting point: every part can be changed (`Specs/Presets.md`).
extension HTTPBackend {
  /// OAuth 2.0: the refresh grant (RFC 6749 §6) and revocation (RFC 7009); users sign in on a page.
  ///
  /// With `allowsPasswordGrant` users can also log in with a password (RFC 6749 §4.3). RFC 9700 §2.4 forbids that
  /// grant: use it only with a server of your own that has no page.
  ///
  /// For a server that does not say who the user is, append `.userName(key)` to the sources of the user.
  public static func oauth(
    token: URL, revocation: URL? = nil, client: ClientAuthentication = .none, scope: String? = nil,
    allowsPasswordGrant: Bool = false
  ) -> HTTPBackend {
    let scope = scope.map { ["scope": RequestField.text($0)] } ?? [:]
    var backend = HTTPBackend(baseURL: token)
    if allowsPasswordGrant {
      backend.login = .post(
        "", body: .form, fields: scope.merging(["grant_type": "password"]) { $1 })
    }
    backend.refresh = .post(
      "", body: .form, fields: scope.merging(["grant_type": "refresh_token"]) { $1 },
      refreshToken: .member("refresh_token"))
    backend.revocation = revocation.map { .revocation($0.absoluteString) }
    (backend.client, backend.requestFields.userName, backend.tokenForm) = (
      client, "username", .opaque
    )
    backend.response.lifetime = [.seconds("expires_in"), .claim("exp"), .assumed(.seconds(3600))]
    backend.response.user = [.claim("sub", of: .identity), .claim("sub"), .member("user")]
    backend.failures = FailureRule.oauth
    backend.revoked.codes = ["unsupported_token_type", "invalid_token"]
    return backend
  }

  /// Azure AD B2C below a user flow's address: refreshes tokens; users sign in on a page.
  public static func azureADB2C(
    _ userFlow: URL, clientID: String, scope: String
  ) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: userFlow)
    backend.refresh = .post(
      "oauth2/v2.0/token", body: .form,
      fields: ["grant_type": "refresh_token", "scope": .text(scope)],
      refreshToken: .member("refresh_token"))
    backend.client = .form(id: clientID)
    backend.tokenForm = .opaque
    backend.response.accessToken = ["access_token", "id_token"]
    backend.response.lifetime = [.seconds("expires_in"), .instant("expires_on"), .claim("exp")]
    backend.response.user = [.claim("oid", of: .identity), .claim("sub", of: .identity)]
    return backend
  }

  /// JSON with names such as `access_token`: a JWT, contexts, and a logout that names both tokens.
  public static func snakeCaseJSON(_ baseURL: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "auth/login"
    backend.refresh = .post("auth/refresh", refreshToken: .member("refresh_token"))
    backend.switchContext = .post("auth/switch-context", accessToken: .bearer)
    backend.revocation = .post(
      "auth/logout", accessToken: .bearer, refreshToken: .member("refresh_token"))
    return backend
  }

  /// JSON with names such as `accessToken`: any form of token, and the access token
  /// authenticates a logout.
  public static func camelCaseJSON(_ baseURL: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "auth/login"
    backend.register = "auth/register"
    backend.refresh = .post("auth/refresh", refreshToken: .member("refreshToken"))
    backend.revocation = .post("auth/logout", body: .none, accessToken: .bearer)
    (backend.response, backend.contextKeys, backend.tokenForm) = (.camelCase, .camelCase, .opaque)
    backend.response.user = [.member("user"), .claim("sub")]
    backend.response.role = ["user.role"]
    return backend
  }
}
