package import Foundation
@_spi(Internals) package import SessionCore
package import SessionHTTP
package import SessionKit
package import SessionMessages

/// The settings of an app that the requirements name: its backend, its policy and its texts.
package struct AppPreset: Sendable {
  /// A display name; it is printed, and never compared.
  package var name: String
  /// The protocol of the app's server.
  package var backend: HTTPBackend
  /// The app's policy.
  package var policy: SessionPolicy
  /// The app's own texts.
  package var words: SessionWords

  /// Creates the settings of an app.
  package init(
    name: String, backend: HTTPBackend, policy: SessionPolicy, words: SessionWords = .standard
  ) {
    (self.name, self.backend, self.policy, self.words) = (name, backend, policy, words)
  }
}

extension SessionConfiguration {
  /// Creates the configuration of an app; without `transport` it uses the backend's own.
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
  /// The settings of the school app (EDU): snake case, contexts, a refresh token that does not
  /// rotate.
  package static func edu(
    _ baseURL: URL, environment: SessionPolicy = .production
  ) -> AppPreset {
    var backend = HTTPBackend.snakeCaseJSON(baseURL)
    backend.response.furtherMembers = ["full_name", "school_id"]
    return AppPreset(name: "EDU", backend: backend, policy: .edu(environment))
  }

  /// The settings of an app with Azure AD B2C at the address of a user flow (B2C).
  package static func b2c(_ userFlow: URL, clientID: String, scope: String) -> AppPreset {
    AppPreset(
      name: "B2C", backend: .azureADB2C(userFlow, clientID: clientID, scope: scope), policy: .b2c)
  }

  /// The settings of the offline-first app (OFF).
  ///
  /// It requests a profile after a login and at launch. Its registration only creates the account.
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

  /// The settings of the ticketing app (TIK).
  ///
  /// The token's `exp` decides its lifetime. Tokens can come from other services. There is no
  /// logout endpoint. The app has three Spanish texts of its own. Its document names neither the member of
  /// the token in a response nor the body of a social login.
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

  /// The settings of the project-management app (API).
  ///
  /// It uses camel case and a refresh token that rotates. Its registration logs the user in.
  package static func api(_ baseURL: URL) -> AppPreset {
    AppPreset(name: "API", backend: .camelCaseJSON(baseURL), policy: .api)
  }

  /// The settings of an app with an OAuth 2.0 server that accepts passwords.
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
    // The document has one text for everything that requires a new login. These four do.
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
