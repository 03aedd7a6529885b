@_spi(Internals) import SessionCore
import Synchronization

/// Tokens that do not come from the backend.
///
/// An external login is the request of a login, and calls of the token source are refresh and
/// logout.
///
/// - Requirement: WEB-6
extension SessionEngine {
  /// Runs an external login, which is the request of this number.
  func run(_ login: any ExternalLogin, _ number: RequestNumber) async {
    let ending = await login.run(externalLoginHost)
    // Releases the login, and with it the app's view.
    provider.release(login)
    switch ending {
    case .signedIn(var answer, let method):
      answer.method = method
      await landed(number, answer)
    case .failed(let problem):
      requests.end(number)
      feed(.notSignedIn(number, problem))
    }
  }

  /// What an external login gets from the session, at the time when it starts.
  private var externalLoginHost: ExternalLoginHost {
    let (configuration, traits) = (configuration, traits)
    var expired: SessionState.Expired?
    if case .expired(let session) = coordinator.state { expired = session }
    var context = context()
    context.proof = traits.proof
    return ExternalLoginHost(
      expired: expired, requestTimeout: policy.requestTimeout, context: context,
      isUnwelcome: { [weak self] user in await self?.isUnwelcome(user) ?? true },
      map: { (tokens) throws(WebSignInProblem) in
        try tokens.answer(
          for: traits, isOwned: configuration.tokenSource != nil,
          at: configuration.clock.now().time)
      },
      giveBack: { [weak self] tokens in self?.giveBack(tokens) },
      now: { configuration.clock.now() },
      wait: { limit in
        let end = configuration.clock.now().uptime.addingSaturating(limit)
        do { try await configuration.clock.sleep(untilUptime: end) } catch { return false }
        return true
      },
      spawn: runtime.spawn)
  }

  /// Returns whether tokens of this user must not sign in silently.
  ///
  /// They must not if an expired session belongs to another user. They must not either if the user
  /// has logged out and the token source has not removed the account yet.
  private func isUnwelcome(_ user: Identifier) -> Bool {
    if case .expired(let expired) = coordinator.state, expired.user != user { return true }
    return provider.pendingRemovals.contains(user)
  }

  /// Asks the token source for newer tokens, as the refresh.
  func renew(_ number: RequestNumber, from source: any TokenSource) {
    let (configuration, user) = (configuration, expectedUser)
    let lifetime = coordinator.state.token?.lifetimeMilliseconds
    let before = user.map {
      IdentityPredecessor(user: $0, access: credentials.token?.access, lifetime: lifetime)
    }
    let task = start { engine in
      guard await engine.mayLeave(number) else { return }
      let result = await engine.bounded(by: engine.policy.requestTimeout) {
        () async throws(BackendError) -> IdentityTokens in
        try await source.acquireSilently(user?.id)
      }
      switch result {
      case .success(let tokens)?:
        do throws(WebSignInProblem) {
          var answer = try tokens.answer(
            for: engine.traits, after: before, isOwned: true,
            at: configuration.clock.now().time)
          // No user signed in for this response, so the account is not removed if the response is
          // not used.
          answer.method = .silent
          engine.received(number, .success(answer))
        } catch {
          engine.received(number, .failure(.unreadable(error)))
        }
      case .failure(let error)?:
        engine.received(number, .failure(engine.failed(error)))
      case nil: engine.received(number, .failure(.noReplyInTime))
      }
    }
    requests.begin(number, task)
  }

  /// Has the token source remove the account, as the logout at the server.
  func remove(_ user: Identifier?, of generation: Generation, from source: any TokenSource) {
    // A user who has signed in again needs the account.
    guard let user, coordinator.state.user != user else {
      return feed(.revoked(generation, .abandoned, status: 0))
    }
    // A sign-in is running, and its user may be the same one. That user needs the account too.
    guard !coordinator.isSigningIn else { return feed(.revoked(generation, .failed, status: 0)) }
    let limit = policy.revocationTimeout
    provider.removal = start { engine in
      let result = await engine.bounded(by: limit) { try await source.removeAccount(user) }
      switch result {
      case .success?: engine.feed(.revoked(generation, .revoked, status: 0))
      case .failure?, nil: engine.feed(.revoked(generation, .failed, status: 0))
      }
    }
  }

  /// Revokes the tokens of a user's sign-in for which no caller waits.
  nonisolated func giveBack(_ tokens: IdentityTokens) {
    spawn { engine in
      let isOwned = engine.configuration.tokenSource != nil
      do throws(WebSignInProblem) {
        engine.giveBack(
          try tokens.answer(
            for: engine.traits, isOwned: isOwned, at: engine.configuration.clock.now().time))
      } catch {
        // Tokens without a user or a lifetime log no user in, but the server accepts them.
        guard tokens.access.isToken, tokens.refresh?.isToken ?? true else { return }
        engine.giveBack(tokens.access, isOwned ? nil : tokens.refresh)
      }
    }
  }

  /// Revokes the tokens of a response.
  func giveBack(_ answer: TokenResponse) {
    // The session must not revoke tokens that existed before it asked for them.
    guard answer.method != .silent, !answer.isRefreshTokenOfCaller else { return }
    forget(answer.user?.id)
    giveBack(answer.access, answer.refresh)
  }

  /// Has the token source remove an account, unless it is the session's own.
  func forget(_ user: Identifier?) {
    guard let source = configuration.tokenSource, let user, coordinator.state.user != user
    else { return }
    let limit = policy.revocationTimeout
    start { engine in
      _ = await engine.bounded(by: limit) { try await source.removeAccount(user) }
    }
  }

  /// Returns the result of a call of the token source or the backend, limited to a number of
  /// milliseconds.
  ///
  /// Returns `nil` if the call does not end in time. It is then cancelled, and its result is not
  /// awaited.
  func bounded<Value: Sendable, Failure: Error>(
    by limit: Int64, _ work: @escaping @Sendable () async throws(Failure) -> Value
  ) async -> Result<Value, Failure>? {
    let clock = configuration.clock
    let end = clock.now().uptime.addingSaturating(limit)
    let race = Race<Result<Value, Failure>?>()
    let task = runtime.spawn {
      do throws(Failure) { race.end(.success(try await work())) } catch {
        race.end(.failure(error))
      }
    }
    let timer = runtime.spawn {
      do { try await clock.sleep(untilUptime: end) } catch { return }
      race.end(nil)
    }
    defer {
      task.cancel()
      timer.cancel()
    }
    return await race.first()
  }
}

extension SessionEngine.Failed {
  fileprivate static let noReplyInTime = SessionEngine.Failed(
    failure: RequestFailure(kind: .noReply), detail: "the identity provider did not answer in time")

  /// Returns the failure that the tokens of the source cannot be read.
  fileprivate static func unreadable(_ problem: WebSignInProblem) -> SessionEngine.Failed {
    SessionEngine.Failed(
      failure: RequestFailure(kind: .unreadable),
      detail: "the tokens of the identity provider cannot be used (\(problem))")
  }
}

/// What runs for a provider of tokens: external logins, and removals of accounts.
struct ProviderBridge: Sendable {
  /// The users whose accounts the token source still has to remove.
  let pendingRemovals = PendingAccountRemovals()
  /// The last removal of an account by the token source, limited in time.
  var removal: Task<Void, Never>?
  /// The last external login, until it has ended.
  private(set) var login: (any ExternalLogin)?
  /// Ends when that login and all earlier ones have ended completely.
  private var loginsBefore: Task<Void, Never>?

  /// Begins a login, and returns the task that ends with all earlier ones.
  ///
  /// A login waits for all earlier ones, also for those whose successor was cancelled.
  mutating func begin(
    _ login: any ExternalLogin, on runtime: SessionRuntime
  ) -> Task<Void, Never>? {
    let before = loginsBefore
    self.login = login
    loginsBefore = runtime.spawn {
      await before?.value
      await login.waitUntilEnded()
    }
    return before
  }

  /// Releases a login that has ended, and with it the app's view.
  mutating func release(_ ended: any ExternalLogin) {
    if login === ended { login = nil }
  }
}

/// The users whose accounts a provider still has to remove.
///
/// Until it has, none of them is signed in silently.
///
/// - Requirement: OUT-1, WEB-6
final class PendingAccountRemovals: Sendable {
  private let users = Mutex<[Generation: Identifier]>([:])

  /// Records the user whose account is removed with the session of a token.
  func insert(_ user: Identifier, for generation: Generation) {
    users.withLock { $0[generation] = user }
  }

  /// Removes the entry of that session, because nothing is pending any more.
  func remove(_ generation: Generation) {
    users.withLock { $0[generation] = nil }
  }

  /// Returns the user whose account is removed with the session of a token.
  func user(of generation: Generation) -> Identifier? {
    users.withLock { $0[generation] }
  }

  /// Returns whether the removal of this user's account is pending.
  func contains(_ user: Identifier) -> Bool {
    users.withLock { $0.values.contains(user) }
  }
}
