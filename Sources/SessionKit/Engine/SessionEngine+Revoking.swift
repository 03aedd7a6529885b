@_spi(Internals) import SessionCore
import SessionJournal

/// Revocation: informs the server that a session is over.
///
/// - Requirement: OUT-1, OUT-5
extension SessionEngine {
  func revoke(_ generation: Generation) {
    let kept: StoredRevocations.Entry?
    do throws(SecretStoreError) {
      if let entry = revocations.unstored[generation] {
        kept = entry
      } else if let token = revocations.tokens[generation] {
        kept = StoredRevocations.Entry(
          token, of: provider.pendingRemovals.user(of: generation) ?? credentials.profile?.id,
          isAccount: configuration.tokenSource != nil)
      } else {
        kept = try vault.revocations().last { $0.token == generation }
      }
    } catch {
      feed(.revoked(generation, .failed, status: 0))
      return
    }
    guard let kept else {
      feed(.revoked(generation, .abandoned, status: 0))
      return
    }
    if let source = configuration.tokenSource {
      return remove(kept.account, of: generation, from: source)
    }
    // A process without the provider, such as an extension, leaves the removal to a process that
    // has it.
    guard !kept.isOwned else { return feed(.revoked(generation, .failed, status: 0)) }
    revocations.beginRun()
    start { engine in
      let (outcome, status) = await engine.tell(kept, as: .pending)
      engine.feed(.revoked(generation, outcome, status: status))
      engine.revocations.endRun()
    }
  }

  /// The kind of a revocation.
  ///
  /// It decides which steps are allowed.
  enum Revocation {
    /// Tokens of a logout in this journal.
    ///
    /// Progress is stored before it is used.
    case pending
    /// Tokens of a logout in a journal that is gone.
    ///
    /// The server is informed once.
    case stray
    /// Tokens that no session keeps.
    ///
    /// The server is informed once, and they are never refreshed.
    case unwanted
  }

  /// Revokes tokens at the server.
  ///
  /// If the server needs a valid access token, it is refreshed first.
  ///
  /// The refresh uses the refresh token of this revocation and does not affect any session. Like
  /// every request, it is limited by the revocation timeout.
  ///
  /// RFC 7009 lets a client revoke a token in the body of a request. Many servers know only a logout by a
  /// valid access token. Without the refresh, a logout whose access token has expired would leave the refresh
  /// token valid (`refresh-before-revoking`).
  func tell(
    _ kept: StoredRevocations.Entry, as revocation: Revocation
  ) async -> (RevocationOutcome, status: UInt16) {
    var entry = kept
    let clock = configuration.clock
    let canRefresh =
      revocation != .unwanted && entry.refresh != nil && traits.refreshesTokens
    var run = RevocationRun(
      needsAccess: [true],
      tokens: RevocationRun.Tokens(
        isExpired: false, canRefresh: canRefresh, isRefreshTokenLost: entry.isRefreshLost == true))
    let progress = RevocationProgress(entry.done ?? [])
    var hasRefreshed = false
    while true {
      switch run.next {
      case .end(let outcome, let status):
        guard revocation == .pending, outcome == .failed, RevocationRun.isRefusal(status) else {
          return (outcome, status)
        }
        let now = clock.now().time
        if let start = entry.refusedSince {
          let start = Timestamp(milliseconds: start)
          return (
            RevocationRun.isGivenUp(refusedSince: start, at: now) ? .abandoned : .failed, status
          )
        }
        await noteRefusal(of: entry, at: now)
        return (.failed, status)
      // A later process continues with what is stored.
      case .refresh where revocation == .pending && revocations.isStopped,
        .send where revocation == .pending && revocations.isStopped:
        return (.failed, 0)
      case .refresh:
        hasRefreshed = true
        run.refreshed(await refresh(&entry, as: revocation))
      case .send(let index):
        // Uses the tokens as they are now, since a refresh may have replaced them.
        let isExpired = entry.hasExpired(at: clock.now(), boot: clock.boot)
        let result = await revoke(
          entry, progress, needsRefresh: canRefresh && !hasRefreshed && isExpired, as: revocation)
        if !progress.confirmed.isEmpty { entry.done = progress.confirmed }
        switch result {
        case .success: run.replied(.done, to: index)
        case .failure(let error):
          let status = failed(error).failure.status
          switch error.code {
          // Without the key no request can be authenticated any more.
          case .proofKeyLost: return (.abandoned, 0)
          case .unsupported: return (entry.isRefreshLost == true ? .abandoned : .notOffered, 0)
          case .accessTokenRefused: run.replied(.unauthorized(status: status), to: index)
          case .alreadyInvalid: run.replied(.refused(status: status), to: index)
          default: run.replied(.failed(status: status), to: index)
          }
        }
      }
    }
  }

  /// Has the backend revoke the tokens once.
  ///
  /// What the server confirms before the end is stored.
  private func revoke(
    _ entry: StoredRevocations.Entry, _ progress: RevocationProgress, needsRefresh: Bool,
    as revocation: Revocation
  ) async -> Result<Void, BackendError> {
    let tokens = RevocableTokens(
      access: entry.secrets.access, refresh: entry.secrets.refresh.map(RefreshToken.init),
      needsRefresh: needsRefresh, progress: progress
    ) { [weak self] names in
      guard revocation == .pending else { return }
      var entry = entry
      entry.done = names
      await self?.keep(entry)
    }
    var context = context(limit: policy.revocationTimeout)
    context.boundKey = entry.boundKey.map { Identifier($0) }
    revocations.beginRequest()
    defer { revocations.endRequest() }
    return await exchange(context) { (backend, context) async throws(BackendError) in
      try await backend.revoke(tokens, in: context)
    }
  }

  /// Waits until no revocation is under way, at most for the revocation timeout.
  ///
  /// Afterwards none begins a further request.
  ///
  /// A process that lives for a second could otherwise never end a revocation that needs several
  /// requests.
  func endRevocations() async {
    guard revocations.isRunning, lost == nil else { return revocations.stop() }
    let clock = configuration.clock
    let end = clock.now().uptime.addingSaturating(policy.revocationTimeout)
    let limit = start { engine in
      do {
        try await clock.sleep(untilUptime: end)
        engine.revocations.endRunWaits()
      } catch {
        // The revocations have ended before the limit.
      }
    }
    await withCheckedContinuation { revocations.awaitRuns($0) }
    limit.cancel()
    revocations.stop()
  }

  /// Waits for the requests of revocations that are under way.
  ///
  /// The response to a refresh may hold the only token that the server accepts from then on. Each
  /// request is bounded by the revocation timeout.
  func revocationRequestsEnded() async {
    guard revocations.isRequesting else { return }
    await withCheckedContinuation { revocations.awaitRequests($0) }
  }

  /// Gets a new access token for a revocation, and stores it before it is used.
  ///
  /// The intent to ask is stored first, so that a later process knows that a response may be lost.
  /// No other process asks meanwhile, so none sends the refresh token a second time.
  private func refresh(
    _ entry: inout StoredRevocations.Entry, as revocation: Revocation
  ) async -> RevocationRun.Refresh {
    let clock = configuration.clock
    guard let refresh = entry.secrets.refresh else { return .failed(status: 0) }
    // A request of the session itself may be on its way with the same refresh token.
    await requests.last(changing: entry.token)?.value
    var wasInDoubt = entry.isInDoubt == true
    if revocation == .pending {
      guard let doubt = await claim(&entry) else { return .failed(status: 0) }
      wasInDoubt = doubt
    }
    var context = context(limit: policy.revocationTimeout)
    context.access = entry.secrets.access
    // No suspension since the claim: a close cannot have passed its wait for these requests.
    revocations.beginRequest()
    defer { revocations.endRequest() }
    let result = await request(context) { (backend, context) async throws(BackendError) in
      try await backend.refresh(RefreshToken(refresh), in: context)
        .checked(isRefresh: true, in: context)
    }
    switch result {
    case .success(let answer):
      entry.take(answer, at: clock.now(), boot: clock.boot)
      if revocation == .pending { await keep(entry) }
      return .done
    case .failure(let failed):
      entry.refreshingUntil = nil
      let kind = failed.failure.kind
      let isKnown = kind != .noReply && kind != .unreadable
      entry.isInDoubt = wasInDoubt || !isKnown ? true : nil
      if revocation == .pending { await keep(entry) }
      switch kind {
      case .rejected, .userInactive, .userDeleted:
        return .refused(status: failed.failure.status, isInDoubt: wasInDoubt)
      default: return .failed(status: failed.failure.status)
      }
    }
  }

  /// Stores that this process asks for a new access token.
  ///
  /// Waits if another process asks already.
  ///
  /// Returns whether an earlier request got no response. Returns `nil` in these cases:
  ///
  /// - The claim cannot be stored.
  /// - The revocation has other tokens by now.
  /// - The revocation is not pending any more.
  private func claim(_ entry: inout StoredRevocations.Entry) async -> Bool? {
    let (clock, limit) = (configuration.clock, policy.revocationTimeout)
    let refresh = entry.refresh
    // The second time, the other process has ended its request, or it was gone before.
    for _ in 0..<2 {
      let now = clock.now()
      entry.refreshingUntil = now.time.advanced(by: limit).milliseconds
      entry.isInDoubt = true
      let claimed = entry
      let claim = await changeRevocations { vault throws(SessionError) -> Claim in
        let stored: StoredRevocations.Entry?
        do throws(SecretStoreError) {
          stored = try vault.revocations().last { $0.token == claimed.token }
        } catch {
          throw .secrets(error)
        }
        // Otherwise another process has revoked the tokens, or has other tokens by now.
        guard revocations.holds(claimed.token) || stored?.refresh == refresh else { return .ended }
        if let until = stored?.refreshingUntil {
          let left = Timestamp(milliseconds: until).milliseconds(since: now.time)
          // If the time left is longer than one request can take, a clock was set.
          if left > 0, left <= limit { return .held(for: left) }
        }
        try vault.update(claimed)
        return .taken(isInDoubt: stored?.isInDoubt == true)
      }
      switch claim {
      case .taken(let isInDoubt): return isInDoubt
      case .ended, nil: return nil
      case .held(let wait):
        do { try await clock.sleep(untilUptime: now.uptime.addingSaturating(wait)) } catch {
          return nil
        }
      }
    }
    return nil
  }

  /// Stores when the server first refused a revocation, and leaves its other values as they are by now.
  private func noteRefusal(of entry: StoredRevocations.Entry, at now: Timestamp) async {
    _ = await changeRevocations { vault throws(SessionError) in
      var stored: StoredRevocations.Entry?
      do throws(SecretStoreError) {
        stored = try vault.revocations().last { $0.token == entry.token }
      } catch {
        throw .secrets(error)
      }
      // Another process may have settled it. If it could not be stored, there is no entry to wait in.
      guard var stored, stored.refusedSince == nil else { return }
      stored.refusedSince = now.milliseconds
      try vault.update(stored)
    }
  }

  /// Stores the progress of a revocation.
  ///
  /// If that is not possible, keeps it in memory.
  private func keep(_ entry: StoredRevocations.Entry) async {
    let isKept =
      await changeRevocations { vault throws(SessionError) in try vault.update(entry) } != nil
    revocations.unstored[entry.token] = isKept ? nil : entry
    if isKept { revocations.tokens[entry.token] = nil }
  }

  /// Changes the stored revocations under the journal's lock.
  ///
  /// Returns `nil` if that is not possible. The item then stays as it is stored, and the caller tries
  /// the change again.
  private func changeRevocations<Value: Sendable>(
    _ change: (StoredCredentials) throws(SessionError) -> Value
  ) async -> Value? {
    do throws(JournalError) {
      let (others, value) = try await locked { foreign -> ([SessionRecord], Value?) in
        let others = unknown(foreign)
        do throws(SessionError) {
          return (others, try change(vault))
        } catch {
          return (others, nil)
        }
      }
      deliver(others)
      return value
    } catch {
      loseJournal(by: error)
      return nil
    }
  }

  /// Revokes tokens that no session keeps, once.
  func giveBack(_ access: Secret, _ refresh: Secret?) {
    start { engine in
      _ = await engine.tell(StoredRevocations.Entry(access, refresh), as: .unwanted)
    }
  }
}

/// The result of a claim to ask for a new access token for a revocation.
private enum Claim: Sendable {
  /// This process asks; `isInDoubt` if an earlier request got no response.
  case taken(isInDoubt: Bool)
  /// Another process asks, for this many milliseconds at most.
  case held(for: Int64)
  /// The revocation is not pending any more, or it has other tokens.
  case ended
}
