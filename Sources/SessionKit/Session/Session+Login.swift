public import SessionCore

// All logins follow the same rules: they are limited, journaled, refused and undone in one way. The
// `login` event names the method.
extension Session {
  /// Logs a user in, or creates an account.
  ///
  /// When it returns ``LoginResult/loggedIn(_:)``, the tokens are stored, the `login` event is
  /// durable, and the next refresh is scheduled. ``LoginResult/accountCreated`` means that a
  /// registration has succeeded and its response had no tokens.
  ///
  /// After an error nothing is stored or appended, with one exception. After `accountUnavailable`
  /// with a `reason`, the login and its end are in the journal, because the response named the
  /// user. The errors include:
  ///
  /// - `invalidInput` if a user name, a password or another service's token is malformed. Nothing
  ///   was sent.
  /// - `alreadyLoggedIn` for a registration if a session has expired, since that session belongs to
  ///   another user.
  /// - `alreadyLoggedIn` if a user is logged in. If the token has ended and a server failed to renew it
  ///   more than once, the same user can log in again.
  /// - `refused` if the backend has no request for this credential. Nothing was sent.
  ///
  /// A refresh token is sent once. If the response is lost, the server may have consumed the token.
  /// Nothing is stored then. If the server accepts each token only once, another one is needed.
  ///
  /// - Requirement: LOG-1, LOG-2, LOG-3, LOG-4, LOG-5, LOG-14, LOG-15, LOG-6
  @discardableResult
  public func login(_ credential: Credential) async throws(SessionError) -> LoginResult {
    try check(credential)
    return try await login(.credential(credential), credential.method)
  }

  /// Lets the signed-in user authenticate again, without a logout: a step-up, a consent, a second factor.
  ///
  /// The session goes on with the new tokens, and its state stays `authenticated`. When this returns, they are
  /// stored, and a `refreshSucceeded` with the trigger `reauthentication` is durable. A `contextSwitched` follows
  /// if the response names another context or other permissions. While the user is asked, calls go on
  /// and the token is refreshed.
  ///
  /// If it throws, the session goes on with its former tokens, except after `storage` for a response that is
  /// kept and stored later. Tokens of another user are refused and revoked. It succeeds if the server issues
  /// tokens: whether the user was asked is the server's decision. The errors include those of
  /// ``login(_:)-(Credential)``, and
  ///
  /// - `invalidResponse` if the response names another user, or no user.
  /// - `notLoggedIn`, `expired` or `loggedOut` if no user is signed in, or the session ended meanwhile.
  /// - `busy` if a login is under way.
  /// - `alreadyLoggedIn` for a registration.
  ///
  /// The former tokens are not revoked: at many servers that would end the new ones too. At such a server a login
  /// that is cancelled or refused may also end the session, since its tokens are revoked.
  ///
  /// - Requirement: LOG-16
  public func reauthenticate(_ credential: Credential) async throws(SessionError) {
    try check(credential)
    try await engine.reauthenticate(credential.method, .credential(credential))
  }

  /// Takes over the tokens of an app's old session layer, once.
  ///
  /// Returns `true` if the session now has the tokens. Returns `false`, and does nothing, if this
  /// journal has had a token before: an ended session does not come back through old tokens. In
  /// both cases the old layer's copy can be removed, so the app may make this call at each launch
  /// until then.
  ///
  /// This sends no request. A token that has expired is refreshed after the call. After a crash
  /// during the call, the session is either signed in or unchanged. If this throws, the old layer
  /// keeps its tokens. It throws `invalidResponse` if
  ///
  /// - neither the tokens nor their claims name the user.
  /// - the user's name is an e-mail address, which a journal never holds.
  /// - a token is empty, or has characters that cannot be sent.
  ///
  /// - Requirement: LOG-9, STO-3
  @discardableResult
  public func adopt(_ tokens: AdoptedTokens) async throws(SessionError) -> Bool {
    let reply = try await engine.logIn(.adoption) { [engine] () throws(SessionError) in
      .adopt(try tokens.answer(for: engine.traits, at: engine.configuration.clock.now().time))
    }
    return reply != .notAdopted
  }

  /// Continues a stored session whose items can be read now, after the user has proven their
  /// presence.
  ///
  /// ``SecretStore`` can require this proof.
  ///
  /// A session whose items are locked is `loading` and tries to read them each second. This method
  /// tries at once. It is no login and appends nothing, because the session was the user's all the
  /// time. Returns the state. Throws `locked` if the items still cannot be read. A session that the app
  /// has locked stays so: ``unlock(isolation:after:)`` unlocks that.
  ///
  /// - Requirement: LOG-5
  @discardableResult
  public func unlock() async throws(SessionError) -> SessionState {
    _ = try await engine.ask { .unlock($0) }
    return state
  }

  private func check(_ credential: Credential) throws(SessionError) {
    switch credential {
    case .password(let userName, let password), .registration(let userName, let password, _):
      let problem = engine.policy.credentials.problem(
        userName: userName, password: password.plaintext)
      if let problem { throw .invalidCredential(problem) }
    case .provider(let name, let token):
      guard !name.allSatisfy(\.isWhitespace), !token.plaintext.isEmpty else {
        throw .invalidCredential(.emptyProviderToken)
      }
    case .refreshToken(let token):
      guard token.isToken else {
        throw .unreadableAnswer(
          "a token is empty or contains a character that no token may contain")
      }
    case .custom: break
    }
  }

  func login(
    _ payload: SessionEngine.CommandPayload, _ method: LoginMethod
  ) async throws(SessionError) -> LoginResult {
    let reply = try await engine.logIn(method) { payload }
    return reply == .accountCreated ? .accountCreated : .loggedIn(currentUser)
  }
}

extension Session {
  /// Signs in with an external login.
  ///
  /// It is limited, journaled, refused and undone like every other login.
  ///
  /// If this throws, the external login may still run. The caller cancels it and waits for its end.
  package func login(
    by external: any ExternalLogin, _ method: LoginMethod
  ) async throws(SessionError) -> LoginResult {
    try await login(.external(external), method)
  }

  /// Lets the signed-in user authenticate again with an external login, as ``login(by:_:)`` does.
  package func reauthenticate(
    by external: any ExternalLogin, _ method: LoginMethod
  ) async throws(SessionError) {
    try await engine.reauthenticate(method, .external(external))
  }

  /// The external login that runs or that runs next; `nil` if there is none.
  package var externalLogin: (any ExternalLogin)? {
    get async { await engine.provider.login }
  }
}

/// Tokens of an app's old session layer, which the session takes over once.
///
/// Descriptions do not show the tokens.
///
/// - Requirement: LOG-9
public struct AdoptedTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, if there is one.
  public var refresh: Secret?
  /// The time for which the access token is still valid.
  ///
  /// If it is `nil`, the token's `exp` claim decides.
  ///
  /// If `exp` is missing too, the backend's default lifetime counts. If the backend has no default,
  /// the token counts as expired and is refreshed at once.
  public var lifetime: Duration?
  /// The user.
  ///
  /// If it is `nil`, the access token's `sub` claim names the user.
  public var user: UserProfile?
  /// The context in which the user acts.
  ///
  /// If it is `nil`, the claims of the access token name it.
  public var context: ActiveContext?

  /// Creates a value with tokens of an old session layer.
  public init(
    access: Secret, refresh: Secret? = nil, lifetime: Duration? = nil, user: UserProfile? = nil,
    context: ActiveContext? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
    self.user = user
    self.context = context
  }

  private static func milliseconds(_ lifetime: Duration) -> Int64 {
    min(lifetime.wholeMilliseconds, TokenMetadata.unknownLifetime)
  }

  /// Returns the tokens as the response to a login.
  ///
  /// The claims of the tokens are hints. They are never verified.
  func answer(for traits: BackendTraits, at now: Timestamp) throws(SessionError) -> TokenResponse {
    guard access.isToken, refresh?.isToken ?? true else {
      throw .unreadableAnswer("a token is empty or contains a character that no token may contain")
    }
    let claims = TokenPayload.hints(access)
    let subject = claims?.identifierHint(at: ["sub"])
    let user = user ?? subject.map { UserProfile(id: $0, email: claims?.hint(at: [["email"]])) }
    if let id = user?.id, id.isAddress || id.description.isEmpty {
      throw .unreadableAnswer(
        "the user's id is \(id.isAddress ? Identifier.addressProblem : "empty"); use another id")
    }
    let end = claims?.time("exp").map { $0.milliseconds(since: now) }
    return TokenResponse(
      access: access, refresh: traits.refreshesTokens ? refresh : nil,
      lifetime: lifetime.map(Self.milliseconds) ?? end ?? traits.assumedLifetime ?? 0,
      tokenID: claims?.identifierHint(at: ["jti"]).flatMap { $0.isAddress ? nil : $0 },
      user: user, context: context, tokenContext: claims.flatMap(traits.context))
  }
}

extension AdoptedTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How a login succeeded.
///
/// - Requirement: LOG-5, LOG-14
public enum LoginResult: Hashable, Sendable {
  /// A user is signed in, and the `login` event is durable.
  ///
  /// The profile is `nil` if it is not known.
  case loggedIn(UserProfile?)
  /// The account exists now, but no user is signed in, for example until the e-mail address is
  /// confirmed.
  case accountCreated

  /// The user who is signed in; `nil` after ``accountCreated``, and if the profile is not known.
  public var user: UserProfile? {
    switch self {
    case .loggedIn(let user): user
    case .accountCreated: nil
    }
  }
}
