package import Foundation
@_spi(Internals) package import SessionCore
package import SessionHTTP
package import SessionKit
package import SessionMessages

/// One of the apps that the requirements name: its backend, its policy and its texts.
package struct AppPreset: Sendable {
  /// A name for people; printed, never compared.
  package var name: String
  /// How the backend is spoken to.
  package var backend: HTTPBackend
  /// What the apps disagree about.
  package var policy: SessionPolicy
  /// Texts of the app's own.
  package var words: SessionWords

  /// An app.
  package init(
    name: String, backend: HTTPBackend, policy: SessionPolicy, words: SessionWords = .standard
  ) {
    (self.name, self.backend, self.policy, self.words) = (name, backend, policy, words)
  }
}

extension SessionConfiguration {
  /// The configuration of an app; the backend's own transport if none is said.
  package init(
    journal: String, secrets: any SecretStore, preset: AppPreset,
    transport: (any HTTPTransport)? = nil, clock: any SessionClock = SystemClock(),
    retention: RetentionPolicy? = RetentionPolicy()
  ) {
    var backend = preset.backend
    backend.transport = transport ?? backend.transport
    self.init(
      journal: journal, secrets: secrets, backend: backend, policy: preset.policy, clock: clock,
      retention: retention)
    words = preset.words
  }
}

extension AppPreset {
  /// The school app: snake case, contexts, a refresh token that stays (EDU).
  package static func edu(
    _ baseURL: URL, environment: SessionPolicy = .production
  ) -> AppPreset {
    var backend = HTTPBackend.snakeCaseJSON(baseURL)
    backend.response.furtherMembers = ["full_name", "school_id"]
    return AppPreset(name: "EDU", backend: backend, policy: .edu(environment))
  }

  /// Azure AD B2C below a user flow's address (B2C).
  package static func b2c(_ userFlow: URL, clientID: String, scope: String) -> AppPreset {
    AppPreset(
      name: "B2C", backend: .azureADB2C(userFlow, clientID: clientID, scope: scope), policy: .b2c)
  }

  /// The offline-first app: a profile asked with a login and at launch, registering creates the account
  /// only (OFF).
  package static func off(_ baseURL: URL) -> AppPreset {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "auth/login"
    backend.register = "auth/register"
    backend.refresh = .post("auth/refresh", refreshToken: .member("refresh_token"))
    backend.profile = .get(
      "users/me", accessToken: .bearer)
    backend.revocation = .post("auth/logout", refreshToken: .member("refresh_token"))
    backend.tokenForm = .opaque
    backend.response.user = [.member("user"), .claim("sub")]
    return AppPreset(name: "OFF", backend: backend, policy: .off)
  }

  /// The ticketing app: the token's `exp` says how long it is valid, tokens of other services, no logout
  /// endpoint, and three Spanish texts of its own (TIK).
  package static func tik(_ baseURL: URL) -> AppPreset {
    var backend = HTTPBackend(baseURL: baseURL)
    backend.login = "api/auth/login"
    backend.social = "api/auth/social-login"
    backend.refresh = .post("api/auth/refresh", refreshToken: .member("refresh_token"))
    backend.profile = .get(
      "api/auth/me", accessToken: .bearer)
    backend.response.errorCode = ["error.code", "code"]
    backend.response.accessToken = ["token", "access_token"]
    backend.response.lifetime = [.claim("exp")]
    backend.response.user = [.member("user"), .claim("sub")]
    return AppPreset(name: "TIK", backend: backend, policy: .tik, words: .tik)
  }

  /// The project-management app: camel case, a refresh token that rotates, registering signs in (API).
  package static func api(_ baseURL: URL) -> AppPreset {
    AppPreset(name: "API", backend: .camelCaseJSON(baseURL), policy: .api)
  }

  /// A server of OAuth 2.0 that takes passwords.
  package static func oauth(
    token: URL, revocation: URL? = nil, client: ClientAuthentication = .none, scope: String? = nil
  ) -> AppPreset {
    AppPreset(
      name: "OAuth 2.0",
      backend: .oauth(
        token: token, revocation: revocation, client: client, scope: scope,
        allowsPasswordGrant: true),
      policy: .oauth)
  }
}

extension SessionWords {
  /// The three Spanish texts of the ticketing app (TIK).
  fileprivate static let tik: SessionWords = {
    var words = SessionWords()
    for message in [
      SessionMessage.sessionExpired, .endedByService, .loggedOut, .signInRefused,
    ] {
      words[message, .spanish] = "Sesión expirada. Por favor, inicia sesión nuevamente."
    }
    words[.strangeAnswer, .spanish] = "Respuesta inválida del servidor."
    words[.unreadableAnswer, .spanish] = "Error al procesar datos del servidor."
    return words
  }()
}
