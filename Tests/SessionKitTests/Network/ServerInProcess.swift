import SessionKit

/// A backend without HTTP: a server within the process, with rotating tokens and failures that a
/// test chooses.
actor ServerInProcess: AuthBackend {
  /// How a request ends.
  enum Fate {
    /// The server acts on the request, and its response is lost.
    case loses
    /// The caller gets these tokens instead of the server's response.
    case brings(TokenResponse)
    /// The request is never answered.
    case hangs
  }

  /// What a refresh token is still good for after it was replaced.
  enum Grace: CaseIterable {
    /// It gets the pair that replaced it again (django-oauth-toolkit).
    case samePair
    /// It gets one more pair (Doorkeeper).
    case anotherPair
    /// It stays good (tiled).
    case everyTokenLives
  }

  nonisolated let identity: BackendIdentity
  nonisolated let errorCodes: [String: ErrorMeaning] = ["renewal-reused": .refreshTokenReused]

  private var count = 0
  private var refreshToken: String?
  private var accessToken: String?
  private var fates: [Fate] = []
  private var grace: Grace?
  private var replaced: [String: TokenResponse] = [:]
  private var revocationErrors: [BackendError] = []
  /// The requests that arrived, oldest first.
  private(set) var requests: [String] = []
  /// What the session said of the last refresh.
  private(set) var context: RequestContext?

  init(_ identity: BackendIdentity = BackendIdentity("test.accounts")) {
    self.identity = identity
  }

  /// Sets the fates of the next token requests.
  func next(_ fates: Fate...) { self.fates += fates }

  /// Sets the errors of the next revocations.
  func failRevocations(_ errors: BackendError...) { revocationErrors += errors }

  func set(_ grace: Grace) { self.grace = grace }

  func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    requests.append("login")
    switch credential {
    case .password(_, let password):
      guard password.plaintext == "correct-horse-9" else { throw BackendError(.rejected) }
      return try await answer { issue(user: "u-1", role: "teacher") }
    case .registration: return .accountCreated
    case .refreshToken(let token):
      guard token.plaintext == refreshToken else { throw BackendError(.rejected) }
      return try await answer { issue(user: "u-1") }
    case .custom(type: "one-time code", let fields):
      guard fields["code"]?.plaintext == "123456" else { throw BackendError(.rejected) }
      return try await answer { issue(user: "u-1", role: "teacher") }
    case .provider, .custom: throw .unsupported("this server knows no other services")
    }
  }

  func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    requests.append("refresh \(token.plaintext)")
    self.context = context
    return try await answer { () throws(BackendError) in
      if token.plaintext != refreshToken {
        guard let grace, let pair = replaced[token.plaintext] else {
          throw BackendError(.rejected, serverCode: "renewal-reused")
        }
        if grace == .samePair { return pair }
      }
      let pair = issue()
      // Only tiled lets a token live beyond the pair that replaced it.
      if grace != .everyTokenLives { replaced = [:] }
      replaced[token.plaintext] = pair
      return pair
    }
  }

  func switchContext(
    _ target: ContextTarget, using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    requests.append("switch \(token.plaintext)")
    return try await answer { issue(role: target.role.description) }
  }

  func profile(
    using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> ProfileResponse? {
    requests.append("profile \(token.plaintext)")
    return ProfileResponse(user: UserProfile(id: "u-1", firstName: "Ana"), status: .active)
  }

  func revoke(_ tokens: RevocableTokens, in context: RequestContext) async throws(BackendError) {
    if !tokens.confirmed.contains("revoke") {
      requests.append("revoke \(tokens.access.plaintext)")
      await tokens.confirm("revoke")
    }
    requests.append("sign out")
    guard revocationErrors.isEmpty else { throw revocationErrors.removeFirst() }
    (accessToken, refreshToken) = (nil, nil)
  }

  private func answer(
    _ act: () throws(BackendError) -> TokenResponse
  ) async throws(BackendError) -> TokenResponse {
    guard !fates.isEmpty else { return try act() }
    switch fates.removeFirst() {
    case .brings(let response): return response
    case .loses:
      _ = try act()
      throw .noResponse("the line was cut", mayHaveActed: true)
    case .hangs:
      // The session does not wait for this request, cancelled or not.
      do { try await Task.sleep(for: .seconds(3_600)) } catch {}
      throw .noResponse("the caller gave up", mayHaveActed: true)
    }
  }

  private func issue(user: Identifier? = nil, role: String? = nil) -> TokenResponse {
    count += 1
    (accessToken, refreshToken) = ("access-\(count)", "refresh-\(count)")
    let context = role.map {
      ActiveContext(role: ActiveContext.Named(id: Identifier($0), name: $0))
    }
    return TokenResponse(
      access: Secret("access-\(count)"), refresh: Secret("refresh-\(count)"),
      lifetime: .seconds(3_600),
      user: user.map { UserProfile(id: $0, email: "ana@school.test") }, context: context)
  }
}
