@_spi(Internals) import SessionCore

/// Logins: the command of a caller, its request, and the response to it.
///
/// No user logs in to data that the hosts still remove. So a login waits for them before its
/// command, before its request, and before its response counts: each time, another process's logout
/// may have been seen.
///
/// - Requirement: LOG-10, SYN-5
extension SessionEngine {
  /// Logs a user in with the result of `payload`, as soon as the hosts have cleared their data.
  ///
  /// A host that failed before tries again.
  func logIn(
    _ method: LoginMethod, _ payload: @Sendable () throws(SessionError) -> CommandPayload
  ) async throws(SessionError) -> Reply {
    try await awaitDataClearing()
    if needsDataClearing {
      perform(hosts.clearing.tryAgain())
      try await awaitDataClearing()
    }
    let payload = try payload()
    return try await ask(wish: payload) { .login($0, method) }
  }

  /// Logs the signed-in user in again with `payload`.
  ///
  /// - Requirement: LOG-16
  func reauthenticate(
    _ method: LoginMethod, _ payload: CommandPayload
  ) async throws(SessionError) {
    _ = try await ask(wish: payload) { .reauthenticate($0, method) }
  }

  /// Performs the request of a login.
  func sendLogin(_ number: RequestNumber, of caller: Caller) {
    guard let payload = callers.payload(of: caller) else {
      return received(number, .failure(.callerIsGone))
    }
    var external: (any ExternalLogin)?
    if case .external(let login) = payload { external = login }
    let before = external.flatMap { provider.begin($0, on: runtime) }
    let task = start { [external] engine in
      if external != nil {
        // The view of an earlier login may still be closing, and its account may still be being
        // removed.
        await before?.value
        await engine.provider.removal?.value
      }
      do throws(Failed) {
        if engine.isClearing {
          try await engine.awaitDataClearingOfLogin()
          guard engine.callers.payload(of: caller) != nil else { throw .callerIsGone }
        }
      } catch {
        external?.cancel()
        if let external { engine.provider.release(external) }
        return engine.received(number, .failure(error))
      }
      switch payload {
      case .credential(let credential): await engine.send(credential, number)
      case .external(let login): await engine.run(login, number)
      // There is no request to send: the tokens were given by the caller.
      case .adopt(let tokens): engine.received(number, .success(tokens))
      case .context: break
      }
    }
    requests.begin(number, task)
  }

  private func send(_ credential: Credential, _ number: RequestNumber) async {
    var context = context()
    if coordinator.reauthenticates(by: number) { context.expected = expectedUser }
    let result = await request(context) { (backend, context) async throws(BackendError) in
      var response = try await backend.login(credential, in: context)
      guard credential.mayCreateAccount || !response.isAccountOnly else {
        throw BackendError(.invalidResponse, message: "the backend returned no token")
      }
      if case .refreshToken(let token) = credential, response.refresh ?? token == token {
        // The server has not replaced the refresh token (REF-5).
        (response.refresh, response.isRefreshTokenOfCaller) = (token, true)
      }
      return try response.checked(isSpent: false, of: context.expected)
    }
    // The request was withdrawn while the app prepared it. The coordinator knows that.
    guard requests.isRunning(number) else { return }
    guard case .success(let answer) = result, !answer.isAccountOnly else {
      return received(number, result)
    }
    await landed(number, answer)
  }

  /// Handles the response to a login.
  ///
  /// If the policy requires it, the server is asked for the profile first.
  func landed(_ number: RequestNumber, _ answer: TokenResponse) async {
    var answer = answer
    // The identity token of another user, although another source names this one (§12.2).
    if coordinator.reauthenticates(by: number), let subject = answer.identitySubject,
      let before = expectedUser?.identitySubject, before != subject
    {
      answer.take(.another(by: .identityToken))
    }
    warnOfBearer(answer, signsIn: true)
    if let problem = answer.identityProblem {
      requests.end(number)
      giveBack(answer)
      return feed(.notSignedIn(number, .identityToken(problem)))
    }
    do throws(Failed) {
      if traits.needsRefreshToken, let path = missingRefreshToken(in: answer) {
        throw .missing(path)
      }
      let profile = await profile(for: answer)
      try await awaitDataClearingOfLogin()
      guard let profile else {
        guard answer.user != nil else { throw .nameless }
        return received(number, .success(answer))
      }
      received(number, answer, profile)
    } catch {
      giveBack(answer)
      received(number, .failure(error))
    }
  }

  private func awaitDataClearingOfLogin() async throws(Failed) {
    do throws(SessionError) { try await awaitDataClearing() } catch { throw .notCleared(error) }
  }

  /// Returns the path at which the response to a sign-in lacks a refresh token.
  ///
  /// `nil` if it has one, or if nothing could refresh with it.
  ///
  /// - Requirement: LOG-11
  func missingRefreshToken(in answer: TokenResponse) -> String? {
    let traits = traits
    let isExpected = traits.refreshesTokens && configuration.tokenSource == nil
    return isExpected && answer.refresh == nil ? traits.refreshTokenPath : nil
  }

  /// Handles the response to a login together with the server's profile response.
  ///
  /// - Requirement: LOG-6
  private func received(
    _ number: RequestNumber, _ answer: TokenResponse, _ profile: Result<ProfileResponse, Failed>
  ) {
    requests.end(number)
    var answer = answer
    var facts = ResponseMetadata(answer)
    var detail: String?
    switch profile {
    case .success(let found):
      if let named = answer.user {
        answer.user = named.completed(by: found.user)
      } else {
        answer.user = found.user
        answer.origin = UserOrigin(
          source: UserOrigin.profile, value: found.user.id.description)
      }
      facts = ResponseMetadata(answer)
      // The request used this token, so the response counts even if it names the user
      // differently.
      facts.profileFailure = found.failure
    case .failure(let failed):
      facts.profileFailure = failed.failure
      detail = failed.detail
    }
    answered(number, answer, facts, detail: detail)
  }
}

extension SessionEngine.Failed {
  /// Returns the failure that the wait for a host, which clears its data, ended with this error.
  ///
  /// No user is signed in.
  fileprivate static func notCleared(_ problem: SessionError) -> SessionEngine.Failed {
    let detail =
      problem == .clearingLocalData
      ? "the app is still clearing the previous user's data"
      : "the session was closed before the app had cleared its data"
    return SessionEngine.Failed(
      failure: RequestFailure(kind: .noConnection), detail: detail)
  }

  /// Returns the failure that the response to a sign-in has no refresh token at its path.
  fileprivate static func missing(_ path: String) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .unreadable),
      detail: "\(path) is missing, but the backend has a refresh endpoint")
  }

  /// The response to a sign-in does not name the user, and the backend has no profile.
  fileprivate static let nameless = SessionEngine.Failed(
    failure: RequestFailure(kind: .unreadable), detail: "the response does not identify the user")
}
