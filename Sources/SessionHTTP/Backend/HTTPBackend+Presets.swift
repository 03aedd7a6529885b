public import Foundation
import SessionCore
import SessionKit

// Kinds of backends. Each is a starting point, and every part can be changed (`Specs/Presets.md`).
extension HTTPBackend {
  /// Returns a backend of OAuth 2.0 with refresh (RFC 6749 §6) and revocation (RFC 7009).
  ///
  /// Users sign in on a page.
  ///
  /// With `allowsPasswordGrant` users can also log in with a password (RFC 6749 §4.3). RFC 9700
  /// §2.4 forbids that grant. Use it only with a server of your own that has no page.
  ///
  /// `scope` is that of a login with a password. A refresh names none, so it keeps what the login was
  /// granted (RFC 6749 §6). Naming a smaller one narrows the grant forever at django-oauth-toolkit
  /// 3.4.1, django-allauth 65.22.1, Doorkeeper 5.6.6 and fastmcp 4.2.3, and a larger one is refused.
  ///
  /// For a server that does not name the user, append `.userName(key)` to the sources of the user.
  public static func oauth(
    token: URL, revocation: URL? = nil, client: ClientAuthentication = .none, scope: String? = nil,
    allowsPasswordGrant: Bool = false
  ) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: token)
    if allowsPasswordGrant {
      backend.login = .post("", body: .form, fields: ["grant_type": "password"])
      backend.login?.fields["scope"] = scope.map { .text($0) }
    }
    backend.refresh = .post(
      "", body: .form, fields: ["grant_type": "refresh_token"],
      refreshToken: .member("refresh_token"))
    backend.revocation = revocation.map { .revocation($0.absoluteString) }
    (backend.client, backend.requestFields.userName, backend.tokenForm) = (
      client, "username", .opaque
    )
    backend.response.lifetime = [.seconds("expires_in"), .claim("exp"), .assumed(.seconds(3600))]
    backend.response.user = [.claim("sub", of: .identity), .claim("sub"), .member("user")]
    backend.failures = FailureRule.oauth
    // An invalid token is a 200; a 401 concerns the client (RFC 7009 §2.2, RFC 6749 §5.2).
    (backend.revoked.statuses, backend.revoked.codes) = ([200...299], ["invalid_token"])
    return backend
  }

  /// Returns a backend of Azure AD B2C at a user flow's address.
  ///
  /// It refreshes tokens, and users sign in on a page.
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

  /// Returns a backend of JSON with names such as `access_token`.
  ///
  /// Its tokens are JWTs, it has contexts, and a logout names both tokens.
  public static func snakeCaseJSON(_ baseURL: URL) -> HTTPBackend {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "auth/login"
    backend.refresh = .post("auth/refresh", refreshToken: .member("refresh_token"))
    backend.switchContext = .post("auth/switch-context", accessToken: .bearer)
    backend.revocation = .post(
      "auth/logout", accessToken: .bearer, refreshToken: .member("refresh_token"))
    return backend
  }

  /// Returns a backend of JSON with names such as `accessToken`.
  ///
  /// Its tokens have any form, and the access token authenticates a logout.
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
