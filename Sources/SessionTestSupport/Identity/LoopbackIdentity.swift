import Foundation
package import SessionTestKit

/// An identity provider like Azure AD B2C, for tests: pages, redirects, cookies, codes and tokens.
///
/// It is a value, without sockets, clock or randomness. Equal seeds and equal requests result in
/// equal answers.
package struct LoopbackIdentity: Sendable {
  /// A user who may sign in.
  package struct User: Hashable, Sendable {
    package var id: String
    package var name: String
    package var password: String

    package init(id: String, name: String, password: String) {
      (self.id, self.name, self.password) = (id, name, password)
    }
  }

  /// The fault of the next redirect to the app.
  package enum Refusal: Hashable, Sendable {
    /// The redirect has this error, and this description if there is one.
    case error(String, description: String?)
    /// The redirect has a malformed query.
    case malformed
  }

  /// An authorization code that was issued.
  package struct AuthorizationCode: Hashable, Sendable {
    package let user: User
    package let challenge: String
    package let nonce: String
    package let redirect: String
    /// The number of times that it was redeemed.
    package var uses = 0
  }

  /// An authorization request that is in progress.
  struct Asked: Sendable {
    let challenge: String
    let nonce: String
    let state: String
    let redirect: String
    let isInFragment: Bool
    var user: User?
  }

  /// The path of the user flow.
  package static let path = "/tenant/b2c_1_signin"
  /// The name of the cookie of a session at the provider.
  package static let cookie = "provider_session"

  package var users: [User]
  package var clientID = "app-1"
  package var redirect = "app://auth"
  /// The issuer, if the provider can be discovered; it is the address of ``path``.
  package var issuer: String?
  /// Claims that replace those of the identity tokens.
  package var claims: [String: WireValue] = [:]
  /// The fault of the next redirect to the app; it is used once.
  package var refusal: Refusal?
  /// The issued codes, by their text.
  package internal(set) var codes: [String: AuthorizationCode] = [:]
  /// The users who are signed in at the provider, by cookie.
  package internal(set) var sessions: [String: User] = [:]
  /// Descriptions of requests that no correct client sends.
  package internal(set) var violations: [String] = []
  /// The number of sign-ins with a wrong name or password.
  package internal(set) var wrongPasswords = 0
  /// The users of the valid refresh tokens, by the token's text.
  package internal(set) var refreshTokens: [String: User] = [:]
  /// The requests, such as `POST /token`, in order.
  package internal(set) var log: [String] = []
  var asked: [String: Asked] = [:]
  var random: ByteStream

  package init(users: [User], seed: UInt64 = 1) {
    self.users = users
    random = ByteStream(seed: seed)
  }

  /// Answers a request; `now` is in milliseconds since 1970.
  package mutating func answer(_ request: ReceivedRequest, now: Int64) -> SentResponse {
    guard request.path.hasPrefix(LoopbackIdentity.path + "/") else {
      return SentResponse(status: 404)
    }
    let place = String(request.path.dropFirst(LoopbackIdentity.path.count + 1))
    log.append("\(request.method) /\(place.split(separator: "/").last ?? "")")
    let query = WebForm(request.query ?? "")
    switch (request.method, place) {
    case ("GET", ".well-known/openid-configuration"): return metadata()
    case ("GET", "oauth2/v2.0/authorize"): return authorize(query, request)
    case ("POST", "signin"): return signIn(WebForm(request.body))
    case ("GET", "confirmed"): return confirmed(query)
    case ("GET", "forgotten"):
      return refuse(
        query, "access_denied", "AADB2C90118: The user has forgotten their password.")
    case ("GET", "cancelled"):
      return refuse(
        query, "access_denied", "AADB2C90091: The user has cancelled entering information.")
    case ("POST", "oauth2/v2.0/token"): return token(WebForm(request.body), now: now)
    case ("GET", "oauth2/v2.0/logout"): return logout(query, request)
    default: return SentResponse(status: 404)
    }
  }

  /// Returns the provider's metadata (OpenID Connect Discovery 1.0 §4.2).
  private func metadata() -> SentResponse {
    guard let issuer else { return SentResponse(status: 404) }
    return BackendAnswer.success([
      "issuer": .string(issuer),
      "authorization_endpoint": .string(issuer + "/oauth2/v2.0/authorize"),
      "token_endpoint": .string(issuer + "/oauth2/v2.0/token"),
      "end_session_endpoint": .string(issuer + "/oauth2/v2.0/logout"),
      "id_token_signing_alg_values_supported": ["RS256"], "response_types_supported": ["code"],
      "authorization_response_iss_parameter_supported": true,
    ]).response
  }

  // MARK: Pages

  private mutating func authorize(_ query: WebForm, _ request: ReceivedRequest) -> SentResponse {
    // The user must not be sent to an address that is not the app's.
    guard query["client_id"] == clientID, query["redirect_uri"] == redirect else {
      return violated("another client or redirect")
    }
    guard query["response_type"] == "code", query["code_challenge_method"] == "S256",
      let challenge = query["code_challenge"], challenge.count == 43,
      let state = query["state"], !state.isEmpty, let nonce = query["nonce"], !nonce.isEmpty
    else { return violated("an authorization request without code, challenge, state or nonce") }
    let number = name("tx")
    asked[number] = Asked(
      challenge: challenge, nonce: nonce, state: state, redirect: redirect,
      isInFragment: query["response_mode"] == "fragment")
    if let refusal {
      self.refusal = nil
      return redirected(by: refusal, number)
    }
    // A user with a cookie is signed in without a page, unless the app asks for a login.
    if query["prompt"] != "login", let user = user(of: request) {
      asked[number]?.user = user
      return sendBack(number)
    }
    if query["prompt"] == "none" {
      return refuse(number, "interaction_required", "AADB2C90077: User does not have a session.")
    }
    return page(number, "Sign in")
  }

  private func page(_ number: String, _ title: String) -> SentResponse {
    let path = LoopbackIdentity.path
    return .page(
      WebPage(
        title: title,
        form: WebPage.Form(action: "\(path)/signin", hidden: WebForm(["tx": number])),
        links: [
          "forgot": "\(path)/forgotten?tx=\(number)", "cancel": "\(path)/cancelled?tx=\(number)",
        ]))
  }

  private mutating func signIn(_ form: WebForm) -> SentResponse {
    guard let number = form["tx"], asked[number] != nil else { return violated("no transaction") }
    guard
      let user = users.first(where: {
        $0.name == form["username"] && $0.password == form["password"]
      })
    else {
      wrongPasswords += 1
      return page(number, "Wrong user name or password")
    }
    asked[number]?.user = user
    let session = name("session")
    sessions[session] = user
    return .redirect(
      to: "\(LoopbackIdentity.path)/confirmed?tx=\(number)",
      cookie: "\(LoopbackIdentity.cookie)=\(session); Path=/; HttpOnly; SameSite=Lax")
  }

  private mutating func confirmed(_ query: WebForm) -> SentResponse {
    guard let number = query["tx"], asked[number]?.user != nil else {
      return violated("confirmed without a sign-in")
    }
    if let refusal {
      self.refusal = nil
      return redirected(by: refusal, number)
    }
    return sendBack(number)
  }

  /// Redirects to the app with a code.
  private mutating func sendBack(_ number: String) -> SentResponse {
    guard let request = asked.removeValue(forKey: number), let user = request.user else {
      return violated("no transaction")
    }
    let code = name("code")
    codes[code] = AuthorizationCode(
      user: user, challenge: request.challenge, nonce: request.nonce, redirect: request.redirect)
    return back(request, WebForm(["code": code]))
  }

  private func back(_ request: Asked, _ form: WebForm) -> SentResponse {
    let text = form.adding("state", request.state).adding("iss", issuer).text
    return .redirect(to: request.redirect + (request.isInFragment ? "#" : "?") + text)
  }

  private mutating func refuse(
    _ query: WebForm, _ error: String, _ description: String?
  ) -> SentResponse {
    refuse(query["tx"] ?? "", error, description)
  }

  private mutating func refuse(
    _ number: String, _ error: String, _ description: String?
  ) -> SentResponse {
    guard let request = asked.removeValue(forKey: number) else { return violated("no transaction") }
    return back(request, WebForm(["error": error]).adding("error_description", description))
  }

  private mutating func redirected(by refusal: Refusal, _ number: String) -> SentResponse {
    switch refusal {
    case .error(let error, let description): return refuse(number, error, description)
    case .malformed:
      asked[number] = nil
      return .redirect(to: redirect + "?error=%zz&state=%")
    }
  }

  // MARK: Sessions

  private func user(of request: ReceivedRequest) -> User? {
    cookie(of: request).flatMap { sessions[$0] }
  }

  private func cookie(of request: ReceivedRequest) -> String? {
    let pairs = request.fields.values(of: "cookie").flatMap { $0.split(separator: ";") }
    let mark = LoopbackIdentity.cookie + "="
    return pairs.lazy.map { $0.trimmingCharacters(in: .whitespaces) }
      .first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
  }

  private mutating func logout(_ query: WebForm, _ request: ReceivedRequest) -> SentResponse {
    if let session = cookie(of: request), let user = sessions.removeValue(forKey: session) {
      refreshTokens = refreshTokens.filter { $0.value != user }
    }
    if query["id_token_hint"] != nil { log.append("with a hint") }
    let after = query["state"].map { "app://out?state=\($0)" } ?? redirect + "?logout=done"
    return .redirect(
      to: after, cookie: "\(LoopbackIdentity.cookie)=; Path=/; Max-Age=0")
  }

  // MARK: Tokens

  private mutating func token(_ form: WebForm, now: Int64) -> SentResponse {
    guard form["client_id"] == clientID else { return dead("unauthorized_client", "client") }
    switch form["grant_type"] {
    case "authorization_code":
      guard let text = form["code"], let code = codes[text] else {
        return dead("invalid_grant", "an unknown code")
      }
      codes[text]?.uses += 1
      guard code.uses == 0 else { return dead("invalid_grant", "a code twice") }
      guard form["redirect_uri"] == code.redirect else {
        return dead("invalid_grant", "another redirect")
      }
      guard CodeGrant.challenge(of: form["code_verifier"] ?? "") == code.challenge else {
        return dead("invalid_grant", "another verifier")
      }
      return tokens(of: code.user, nonce: code.nonce, now: now)
    case "refresh_token":
      guard let token = form["refresh_token"],
        let user = refreshTokens.removeValue(forKey: token)
      else { return refused("invalid_grant", "AADB2C90080: The provided grant has expired.") }
      return tokens(of: user, nonce: nil, now: now)
    default: return dead("unsupported_grant_type", "another grant")
    }
  }

  private mutating func tokens(of user: User, nonce: String?, now: Int64) -> SentResponse {
    var claims: [String: WireValue] = [
      "oid": .string(user.id), "sub": .string(user.id), "aud": .string(clientID),
      "iat": .int(Int(now / 1000)), "exp": .int(Int(now / 1000 + 3600)), "jti": .string(name("id")),
      "emails": [.string(user.name)],
    ]
    if let nonce { claims["nonce"] = .string(nonce) }
    claims["iss"] = issuer.map { .string($0) }
    claims.merge(self.claims) { $1 }
    let refresh = name("refresh")
    refreshTokens[refresh] = user
    let answer: WireValue = [
      "access_token": .string(name("access")), "refresh_token": .string(refresh),
      "id_token": .string(LoopbackToken.make(claims: claims)), "token_type": "Bearer",
      "expires_in": 3600,
    ]
    return BackendAnswer.success(answer).response
  }

  private mutating func dead(_ error: String, _ what: String) -> SentResponse {
    violations.append(what)
    return refused(error, what)
  }

  private func refused(_ error: String, _ description: String) -> SentResponse {
    BackendAnswer(
      status: 400, body: ["error": .string(error), "error_description": .string(description)]
    ).response
  }

  private mutating func violated(_ what: String) -> SentResponse {
    violations.append(what)
    return SentResponse(status: 400)
  }

  private mutating func name(_ kind: String) -> String {
    "\(kind)~" + LoopbackToken.base64URL(random.take(18))
  }
}

// It contains codes and tokens.
extension LoopbackIdentity: CustomStringConvertible, CustomReflectable {
  package var description: String { "an identity provider of \(users.count) users" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension SentResponse {
  /// Returns an answer with a page.
  static func page(_ page: WebPage) -> SentResponse {
    SentResponse(
      status: 200, fields: [HTTPField("Content-Type", "text/html; charset=utf-8")],
      body: Array(page.html.utf8))
  }

  static func redirect(to address: String, cookie: String? = nil) -> SentResponse {
    var fields = [HTTPField("Location", address), HTTPField("Cache-Control", "no-store")]
    if let cookie { fields.append(HTTPField("Set-Cookie", cookie)) }
    return SentResponse(status: 302, fields: fields)
  }
}
