@_spi(Internals) import SessionCore

/// Requests to the server's profile endpoint: who the user is, and the status of the account.
///
/// - Requirement: LOG-6
extension SessionEngine {
  /// Returns the profile of the user who is about to be signed in; `nil` if the server is not
  /// asked.
  func profile(for answer: TokenResponse) async -> Result<ProfileResponse, Failed>? {
    guard answer.user == nil || policy.profileCheck != .whenUnknown else {
      return nil
    }
    let end = configuration.clock.now().time.advanced(by: answer.lifetime)
    var token = AccessToken(answer.access, generation: .none, expiresAt: end)
    token.boundKey = answer.boundKey
    return await profile(using: token, of: answer.user?.id)
  }

  /// Returns the profile; `nil` if the backend has none.
  ///
  /// Its status is left out if a newer one is known.
  ///
  /// - Requirement: SYN-4
  private func profile(
    using token: AccessToken, of user: Identifier?
  ) async -> Result<ProfileResponse, Failed>? {
    let order = hosts.statusNotices.asked()
    let result = await request(context()) { (backend, context) async throws(BackendError) in
      try await backend.profile(using: token, in: context)
    }
    var found: ProfileResponse
    switch result {
    case .success(nil): return nil
    case .success(let response?): found = response
    case .failure(let failed):
      guard !failed.isNotOffered else { return nil }
      // A status that says by its code that the account is inactive or deleted is judged alike.
      guard failed.failure.kind.isOfAccount, let user else { return .failure(failed) }
      found = ProfileResponse(
        user: UserProfile(id: user), failure: failed.failure, changedAt: nil, serverTime: nil)
    }
    guard !found.user.id.isAddress else { return .failure(.address) }
    let user = user ?? found.user.id
    // Without a host that keeps times, only the order of the requests says which response is newer.
    let keepsTimes = configuration.keepsStatusTimes
    if !keepsTimes { found.changedAt = nil }
    let known = keepsTimes ? await configuration.lastKnownStatus(of: user) : nil
    // After the suspension, so that two profiles at the same time are judged one after the other.
    let verdict = hosts.statusNotices.judge(
      found.failure, changedAt: found.changedAt, of: user, known: known,
      serverTime: found.serverTime, order: order)
    (found.failure, found.isStale) = (verdict.failure, verdict.isStale)
    return .success(found)
  }

  /// Asks for the status of the user who is signed in.
  func askProfile(of user: Identifier, _ generation: Generation) {
    guard let token = credentials.token, token.generation == generation else { return }
    let shown = token.accessToken
    start { engine in _ = await engine.askProfile(of: user, using: shown) }
  }

  /// Asks for the profile with this token.
  ///
  /// The response counts for the session.
  ///
  /// Returns `nil` if the backend has no profile.
  private func askProfile(
    of user: Identifier, using token: AccessToken
  ) async -> Result<ProfileResponse, Failed>? {
    let result = await profile(using: token, of: user)
    switch result {
    case .success(let found)?:
      if found.failure == nil, !found.isStale { await keep(found.user, of: user) }
      // The request used this session's own token, so the response counts even if it names the user
      // differently.
      feed(.profileRead(user, found.failure))
      tellStatus(of: coordinator.state.user)
    case .failure(let failed)?:
      feed(.profileRead(user, failed.failure, token: token.generation))
    case nil: break
    }
    return result
  }

  /// Asks for the account's status with the current token.
  ///
  /// Returns `nil` if the server refuses that token.
  func accountStatus() async throws(SessionError) -> AccountStatus? {
    guard let token = credentials.token, let user = coordinator.state.user else {
      throw .secretsUnavailable
    }
    switch await askProfile(of: user, using: token.accessToken) {
    case nil: throw .notOffered("the backend has no endpoint for the profile")
    case .success(let found)?:
      guard !found.isStale else { return .outdated }
      return AccountStatus(found.failure?.kind) ?? .active
    case .failure(let failed)?:
      if let status = AccountStatus(failed.failure.kind) { return status }
      guard failed.failure.kind != .rejected else { return nil }
      throw SessionError(failed.failure, detail: failed.detail, isSignIn: false)
    }
  }

  /// Applies the status of the account that the response to a call of this session stated.
  func told(_ failure: RequestFailure, of owner: CallPlan.Owner) {
    guard case .authenticated(let session) = coordinator.state, session.user == owner.user,
      session.since == owner.since
    else { return }
    feed(.profileRead(owner.user, failure))
  }

  /// Notes that a call needs the user, and returns the need as the app sees it.
  func needsUser(_ needed: SessionNote.UserNeeded) -> UserNeed {
    feed(.userNeeded(needed))
    let now = configuration.clock.now()
    let first = coordinator.fold.intents.need.flatMap { $0.needed == needed ? $0 : nil }
    return UserNeed(
      first ?? OpenNeed(needed, since: now.time),
      tokenStillWorks: coordinator.isTokenGood(at: now.uptime))
  }

  /// Notifies the hosts of a change of the status of the session's user, one change after the
  /// other.
  func tellStatus(of user: Identifier?) {
    guard let change = hosts.statusNotices.next(for: user) else { return }
    let configuration = configuration
    hosts.startNotice(on: runtime) { await configuration.accountStatusChanged(change) }
  }

  /// Shows and stores what is now known of the user.
  private func keep(_ found: UserProfile, of user: Identifier) async {
    guard found.id == user, coordinator.state.user == user else { return }
    let known = credentials.profile?.completed(by: found) ?? found
    guard known != credentials.profile else { return }
    credentials.profile = known
    await changeUserItem { $0.with(known) }
    show()
  }
}

extension SessionEngine.Failed {
  /// The profile names the user by an e-mail address, which no journal may hold.
  ///
  /// - Requirement: STO-3
  fileprivate static let address = SessionEngine.Failed(
    failure: RequestFailure(kind: .unreadable),
    detail: "the user's id is \(Identifier.addressProblem)")
}

extension UserProfile {
  /// Returns the profile completed with the values of `other`, if both are of the same user.
  func completed(by other: UserProfile) -> UserProfile {
    guard other.id == id else { return self }
    return UserProfile(
      id: id, email: other.email ?? email, firstName: other.firstName ?? firstName,
      lastName: other.lastName ?? lastName, further: further.merging(other.further) { $1 })
  }
}
