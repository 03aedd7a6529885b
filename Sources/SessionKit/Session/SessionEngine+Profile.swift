@_spi(Internals) import SessionCore

/// Who the user is and how they stand, by the server's profile endpoint.
///
/// - Requirement: LOG-6
extension SessionEngine {
  /// What the server says of the user who is about to be signed in; `nil` if it is not asked.
  func profile(for answer: TokenResponse) async -> Result<ProfileResponse, Failed>? {
    guard answer.user == nil || policy.profileCheck != .whenUnknown else {
      return nil
    }
    let end = configuration.clock.now().time.advanced(by: answer.lifetime)
    let token = AccessToken(answer.access, generation: .none, expiresAt: end)
    return await profile(using: token, of: answer.user?.id)
  }

  /// What it says, with its status left out if a newer one is known; `nil` if it has no profile.
  ///
  /// - Requirement: SYN-4
  private func profile(
    using token: AccessToken, of user: Identifier?
  ) async -> Result<ProfileResponse, Failed>? {
    let result = await request { (backend) async throws(BackendError) in
      try await backend.profile(using: token)
    }
    var found: ProfileResponse
    switch result {
    case .success(nil): return nil
    case .success(let response?): found = response
    case .failure(let failed): return failed.isNotOffered ? nil : .failure(failed)
    }
    guard !found.user.id.isAddress else { return .failure(.address) }
    guard configuration.keepsStatusTimes else { return .success(found) }
    let user = user ?? found.user.id
    let known = await configuration.lastKnownStatus(of: user)
    switch StatusFreshness.of(found.changedAt, known: known, now: found.serverTime) {
    case .unsaid, .same: break
    case .newer(let time):
      found.change = StatusChange(user: user, changedAt: time, known: known)
    case .stale:
      found.failure = nil
      found.isStale = true
    }
    return .success(found)
  }

  /// Asks how the user who is signed in stands.
  func askProfile(of user: Identifier, _ generation: Generation) {
    guard let token, token.generation == generation else { return }
    let shown = AccessToken(
      token.access, generation: generation, expiresAt: token.expiresAt)
    spawn { engine in _ = await engine.askProfile(of: user, using: shown) }
  }

  /// The same, with this token; what the server says of the user counts.
  ///
  /// `nil` if it has no profile.
  private func askProfile(
    of user: Identifier, using token: AccessToken
  ) async -> Result<ProfileResponse, Failed>? {
    let result = await profile(using: token, of: user)
    switch result {
    case .success(let found)?:
      if found.failure == nil, !found.isStale { keep(found.user, of: user) }
      owe(found)
      // Asked with this session's own token, whatever the profile calls its user.
      feed(.profileRead(user, found.failure))
      tellStatus()
    case .failure(let failed)?:
      feed(.profileRead(user, failed.failure))
    case nil: break
    }
    return result
  }

  /// Asks how the user stands, with the current token; `nil` if the server refuses that token.
  func accountStatus() async throws(SessionError) -> AccountStatus? {
    guard let token, let user = coordinator.state.user else { throw .secretsUnavailable }
    let shown = AccessToken(
      token.access, generation: token.generation, expiresAt: token.expiresAt)
    switch await askProfile(of: user, using: shown) {
    case nil: throw .notOffered("there is no endpoint for the profile")
    case .success(let found)?:
      guard !found.isStale else { return .outdated }
      return AccountStatus(found.failure?.kind) ?? .active
    case .failure(let failed)?:
      if let status = AccountStatus(failed.failure.kind) { return status }
      guard failed.failure.kind != .rejected else { return nil }
      throw SessionError(failed.failure, detail: failed.detail, isSignIn: false)
    }
  }

  /// What a call of this session was told of the user's account.
  func told(_ failure: RequestFailure, of owner: CallPlan.Owner) {
    guard case .authenticated(let session) = coordinator.state, session.user == owner.user,
      session.since == owner.since
    else { return }
    feed(.profileRead(owner.user, failure))
  }

  /// A change of a user's status is to be told, as soon as the session is that user's; of one who is
  /// deleted nothing is left that could be synced.
  func owe(_ found: ProfileResponse) {
    pendingStatusChange = found.failure?.kind == .userDeleted ? nil : found.change
  }

  /// Tells the hosts of a change of the status of the session's user, one after the other.
  func tellStatus() {
    guard let change = pendingStatusChange, coordinator.state.user == change.user else { return }
    pendingStatusChange = nil
    let (before, configuration) = (statusTask, configuration)
    statusTask = runtime.spawn {
      await before?.value
      await configuration.accountStatusChanged(change)
    }
  }

  /// Shows and stores what is known of the user now.
  private func keep(_ found: UserProfile, of user: Identifier) {
    guard found.id == user, coordinator.state.user == user else { return }
    let known = profile?.completed(by: found) ?? found
    guard known != profile else { return }
    profile = known
    changeUserItem { $0.with(known) }
    show()
  }
}

extension SessionEngine.Failed {
  /// The profile names the user by what no journal may hold.
  ///
  /// - Requirement: STO-3
  fileprivate static let address = SessionEngine.Failed(
    failure: RequestFailure(kind: .unreadable),
    detail: "the user's id is \(Identifier.addressProblem)")
}

extension UserProfile {
  /// The same user with what `other` says, where both are of one user.
  func completed(by other: UserProfile) -> UserProfile {
    guard other.id == id else { return self }
    return UserProfile(
      id: id, email: other.email ?? email, firstName: other.firstName ?? firstName,
      lastName: other.lastName ?? lastName, further: further.merging(other.further) { $1 })
  }
}
