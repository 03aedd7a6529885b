import SessionCore

/// Who the user is and how they stand, by the server's profile endpoint (LOG-6).
extension SessionEngine {
  /// What the server says of the user who is about to be signed in; `nil` where it is not asked.
  func profile(for answer: TokenAnswer) async -> Result<Wire.Standing, Failed>? {
    let isAsked = answer.user == nil || configuration.policy.profileCheck != .whenUnknown
    guard isAsked, let request = configuration.wire.profile(access: answer.access) else {
      return nil
    }
    return await profile(by: request)
  }

  private func profile(by request: HTTPRequest) async -> Result<Wire.Standing, Failed> {
    let wire = configuration.wire
    return await exchange(request) { (response) throws(AnswerFailure) in
      try wire.readStanding(response)
    }
  }

  /// Asks how the user who is signed in stands.
  func askProfile(of user: Identifier, _ generation: Generation) {
    guard let token, token.generation == generation,
      let request = configuration.wire.profile(access: token.access)
    else { return }
    spawn { engine in
      switch await engine.profile(by: request) {
      case .success(let found):
        if found.failure == nil { engine.keep(found.user, of: user) }
        // Asked with this session's own token, whatever the profile calls its user.
        engine.feed(.profileRead(user, found.failure))
      case .failure(let failed):
        engine.feed(.profileRead(user, failed.failure))
      }
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

extension UserProfile {
  /// The same user with what `other` says, where both are of one user.
  func completed(by other: UserProfile) -> UserProfile {
    guard other.id == id else { return self }
    return UserProfile(
      id: id, email: other.email ?? email, firstName: other.firstName ?? firstName,
      lastName: other.lastName ?? lastName)
  }
}
