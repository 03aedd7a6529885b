public import Foundation
public import SessionCore

extension SessionPreset {
  /// The school app: snake case, contexts, a refresh token that stays (EDU).
  public static func edu(
    _ baseURL: URL, environment: SessionPolicy = .standard
  ) -> SessionPreset {
    var wire = HTTPBackend(baseURL: baseURL)
    wire.endpoints.login = "auth/login"
    wire.endpoints.refresh = HTTPEndpoint("auth/refresh", refresh: .member("refresh_token"))
    wire.endpoints.switchContext = HTTPEndpoint("auth/switch-context", access: .bearer)
    wire.endpoints.revocation = HTTPEndpoint(
      "auth/logout", access: .bearer, refresh: .member("refresh_token"))
    wire.keys.furtherMembers = ["full_name", "school_id"]
    return SessionPreset(name: "EDU", wire: wire, policy: .edu(environment))
  }

  /// Azure AD B2C below a user flow's address: its tokens refreshed, signing in left to a page (B2C).
  public static func b2c(_ userFlow: URL, clientID: String, scope: String) -> SessionPreset {
    var wire = HTTPBackend(baseURL: userFlow)
    wire.endpoints.refresh = HTTPEndpoint(
      "oauth2/v2.0/token", form: .form,
      fields: ["grant_type": "refresh_token", "scope": .text(scope)],
      refresh: .member("refresh_token"))
    wire.client = .form(id: clientID)
    wire.tokenForm = .opaque
    wire.answer.accessToken = ["access_token", "id_token"]
    wire.answer.lifetime = [.seconds("expires_in"), .instant("expires_on"), .claim("exp")]
    wire.answer.user = [.claim("oid", of: .identity), .claim("sub", of: .identity)]
    return SessionPreset(name: "B2C", wire: wire, policy: .b2c)
  }

  /// The offline-first app: snake case, a profile asked with a login and at launch, registering creates the
  /// account only (OFF).
  public static func off(_ baseURL: URL) -> SessionPreset {
    var wire = HTTPBackend(baseURL: baseURL)
    wire.endpoints.login = "auth/login"
    wire.endpoints.register = "auth/register"
    wire.endpoints.refresh = HTTPEndpoint("auth/refresh", refresh: .member("refresh_token"))
    wire.endpoints.profile = HTTPEndpoint("users/me", method: "GET", form: .none, access: .bearer)
    wire.endpoints.revocation = HTTPEndpoint("auth/logout", refresh: .member("refresh_token"))
    wire.tokenForm = .opaque
    wire.answer.user = [.member("user"), .claim("sub")]
    return SessionPreset(name: "OFF", wire: wire, policy: .off)
  }

  /// The project-management app: camel case, a refresh token that rotates, registering signs in (API).
  public static func api(_ baseURL: URL) -> SessionPreset {
    var wire = HTTPBackend(baseURL: baseURL)
    wire.endpoints.login = "auth/login"
    wire.endpoints.register = "auth/register"
    wire.registration = .signsIn
    wire.endpoints.refresh = HTTPEndpoint("auth/refresh", refresh: .member("refreshToken"))
    wire.endpoints.revocation = HTTPEndpoint("auth/logout", form: .none, access: .bearer)
    (wire.keys, wire.answer, wire.tokenForm) = (.camelCase, .camelCase, .opaque)
    wire.answer.user = [.member("user"), .claim("sub")]
    wire.answer.role = ["user.role"]
    return SessionPreset(name: "API", wire: wire, policy: .api)
  }

  /// OAuth 2.0: password and refresh grants (RFC 6749 §4.3, §6), revocation (RFC 7009).
  ///
  /// A server that says nowhere who the user is wants one more source, `.userName(key)`.
  public static func oauth(
    token: URL, revocation: URL? = nil, client: ClientAuthentication = .none, scope: String? = nil
  ) -> SessionPreset {
    let scope = scope.map { ["scope": RequestField.text($0)] } ?? [:]
    var wire = HTTPBackend(baseURL: token)
    wire.endpoints.login = HTTPEndpoint(
      "", form: .form, fields: scope.merging(["grant_type": "password"]) { $1 })
    wire.endpoints.refresh = HTTPEndpoint(
      "", form: .form, fields: scope.merging(["grant_type": "refresh_token"]) { $1 },
      refresh: .member("refresh_token"))
    wire.endpoints.revocation = revocation.map { .revocation($0.absoluteString) }
    (wire.client, wire.keys.userName, wire.tokenForm) = (client, "username", .opaque)
    wire.answer.lifetime = [.seconds("expires_in"), .claim("exp"), .assumed(3_600_000)]
    wire.answer.user = [.claim("sub", of: .identity), .claim("sub"), .member("user")]
    wire.failures = FailureRule.oauth
    wire.revoked.codes = ["unsupported_token_type", "invalid_token"]
    return SessionPreset(name: "OAuth 2.0", wire: wire, policy: .oauth)
  }
}

extension HTTPBackend {
  /// The school app's backend below `baseURL`.
  public static func edu(baseURL: URL) -> HTTPBackend {
    SessionPreset.edu(baseURL).wire
  }
}
