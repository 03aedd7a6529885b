/// Whether a cause ends the session, and how: ``verdict(on:)`` answers it for all causes.
///
/// | cause | the session ends |
/// | --- | --- |
/// | the user is inactive or deleted | always |
/// | the refresh token is rejected, or is another user's | by `policy.ending.onRejection` |
/// | … while another process's request may be the reason | not yet: tried again |
/// | the refresh token is missing, and the access token has expired | by `policy.ending.onRejection` |
/// | the refresh token is missing, and the access token is valid | not yet: tried again at its expiry |
/// | the server failed as often as the policy allows | by `policy.ending.onExhaustion` |
/// | … with a 200 that cannot be read, the first in a row | not yet: tried again soon |
/// | the server needs the user, and the access token is valid | not yet: tried again at its expiry |
/// | … but its lifetime is unknown | not yet: tried again after the longest delay |
/// | … and the access token has expired | as a server that failed |
/// | the server asked for a repetition (`temporarily_unavailable`, `slow_down`, …) | never |
/// | the key to which the tokens are bound is lost | by `policy.ending.onRejection` |
/// | the network failed | never |
/// | the token expired and cannot be refreshed | by `policy.ending.onRejection` |
/// | a call or the profile request has a rejected token without a known lifetime | by `policy.ending.onRefusedToken` |
/// | the session was unused or lasted for too long | by `policy.ending.onRejection` |
/// | a switch of the context failed | never |
/// | the stored items do not match the journal | by `policy.ending.onRejection` |
/// | a session of a quarantined journal had expired | by `policy.ending.onRejection` |
/// | a login replaces items of a newer version | always, and its user stays |
/// | a login replaces a session whose token has ended and is not renewed | always, and its user stays |
///
/// - Requirement: REF-6, POL-5, POL-7, POL-10, RES-1
struct SessionEnding: Hashable, Sendable {
  /// What may end a session.
  enum Cause: Hashable, Sendable {
    /// A refresh failed, after earlier failures; `jitter` (0…65535) spreads the next attempts.
    case refreshFailed(RequestFailure, after: SessionState.RefreshFailures, jitter: UInt16)
    /// A switch of the context failed: its response concerns the new context only.
    case switchFailed(RequestFailure)
    /// The profile of the user could not be read.
    case profileFailed(RequestFailure)
    /// A token that cannot be refreshed should be.
    case notRefreshable(RefreshTrigger, TokenMetadata)
    /// The session was not used for too long.
    case unused
    /// The session has reached its end.
    case tooOld
    /// The stored items do not match the journal.
    case disagreement(ExpiryReason)
    /// A session that continues from another journal had expired there.
    case orphaned(ExpiryReason)
    /// A login replaces items that only a newer version can read.
    case replaced
    /// A login replaces a session whose token has ended and that no server renews.
    case notRenewed
  }

  /// What the cause results in.
  enum Verdict: Hashable, Sendable {
    /// The session goes on; `retryAfter` is the delay before another attempt in milliseconds, `nil`
    /// for none.
    case goesOn(retryAfter: Int64?)
    /// The session expires.
    case expires(ExpiryReason, SessionPolicy.End)
    /// The user is logged out.
    case logsOut(LogoutReason)
  }

  let policy: PolicyFigures
  /// When the current token expires, on the clock that never jumps.
  let tokenDeadline: Int64
  /// Until when another process's request may be the reason of a rejection; `nil` if none is.
  ///
  /// That process may be suspended with the only token that the server still accepts
  /// (`watch-the-journal-before-taking-over-a-request`).
  let doubtEnd: Int64?
  /// The present time, on the clock that never jumps.
  let uptime: Int64

  private var isTokenGood: Bool { uptime < tokenDeadline }

  /// Returns whether the session ends.
  func verdict(on cause: Cause) -> Verdict {
    switch cause {
    case .refreshFailed(let failure, let earlier, let jitter):
      return verdict(on: failure, after: earlier, jitter: jitter)
    case .switchFailed:
      return .goesOn(retryAfter: nil)
    case .profileFailed(let failure):
      return accountEnd(failure) ?? .goesOn(retryAfter: nil)
    case .notRefreshable(let trigger, let token):
      guard isTokenGood else { return .expires(.tokenExpired, policy.onRejection) }
      // A rejection is the only sign that such a token is invalid (POL-7). It has no end of its own, and
      // each call would be rejected again.
      // Not every rejected token: one with a known lifetime ends by itself, and a single endpoint
      // may answer 401 for other reasons. A lifetime of ten years is how an unknown one is stored,
      // so the journal needed no new field, and a stated one of ten years is treated alike. A
      // `refresh()` by the app ends nothing: it throws.
      let isRefused =
        trigger == .unauthorized && !token.isLifetimeKnown && policy.onRefusedToken == .end
      return isRefused
        ? .expires(.endedByServer, policy.onRejection) : .goesOn(retryAfter: nil)
    case .unused:
      return .expires(.inactivity, policy.onRejection)
    case .tooOld:
      return .expires(.lifetimeEnded, policy.onRejection)
    case .disagreement(let reason), .orphaned(let reason):
      return .expires(reason, policy.onRejection)
    case .replaced:
      return .expires(.secretsNewer, .keep)
    case .notRenewed:
      return .expires(.attemptsExhausted, .keep)
    }
  }

  /// The end of a user who is inactive or deleted; `nil` for other failures.
  private func accountEnd(_ failure: RequestFailure) -> Verdict? {
    switch failure.kind {
    case .userInactive: .expires(.userInactive, .keep)
    case .userDeleted: .logsOut(.userDeleted)
    default: nil
    }
  }

  private func verdict(
    on failure: RequestFailure, after failures: SessionState.RefreshFailures, jitter: UInt16
  ) -> Verdict {
    if let end = accountEnd(failure) { return end }
    if failure.kind == .proofKeyLost { return .expires(.proofKeyLost, policy.onRejection) }
    let backoff = max(
      Self.shortestDelay, policy.retryDelay(failures: failures.total &+ 1, jitter: jitter))
    if failure.kind == .noRefreshToken || failure.kind == .userNeeded, isTokenGood {
      // The current token is valid until it expires. Until then, only the user can help (STA-9).
      return .goesOn(retryAfter: max(Self.shortestDelay, tokenDeadline - uptime))
    }
    if failure.kind.isFinal {
      // It may be rejected because the server responded to a process whose request we presumed
      // lost (REF-3). If that process journals its token in time, the session goes on.
      if let doubtEnd, uptime < doubtEnd {
        return .goesOn(retryAfter: max(Self.shortestDelay, min(backoff, doubtEnd - uptime)))
      }
      return .expires(.refreshRejected, policy.onRejection)
    }
    let answered = failures.answered &+ (failure.kind.isAnswered ? 1 : 0)
    let isUnreadable = failure.kind == .unreadable
    if failure.exhaustsAlone || isUnreadable, answered >= policy.maximumAttempts {
      let verdict = exhausted(retryAfter: failure.retryAfterMilliseconds ?? 0)
      // A 200 that cannot be read may have been cut on its way, after the server rotated the token.
      // A long pause would outlast the time in which it still accepts the old one. So the pause only
      // grows, and a second such response in a row is needed to end the session (REF-6).
      let isRepeated = failures.last?.kind == .unreadable && verdict.retryAfter == nil
      if !isUnreadable || isRepeated { return verdict }
    }
    // The server may have rotated the token and its response is lost. So the first retry is
    // immediate, while the server may still accept the old token (REF-7). Later ones wait, since a server
    // may take a rotated token that is used again for a stolen one (RFC 9700, section 4.14.2).
    if failure.kind == .noReply, failures.last?.kind != .noReply { return .goesOn(retryAfter: 0) }
    return .goesOn(retryAfter: max(backoff, failure.retryAfterMilliseconds ?? 0))
  }

  private func exhausted(retryAfter requested: Int64) -> Verdict {
    switch policy.onExhaustion {
    case .stay:
      return .goesOn(retryAfter: max(Self.shortestDelay, policy.longestRetryDelay, requested))
    case .endAfterExpiry where isTokenGood:
      // Tried again when the token expires at the latest: that attempt decides.
      let left = min(policy.longestRetryDelay, tokenDeadline.subtractingSaturating(uptime))
      return .goesOn(retryAfter: max(Self.shortestDelay, left, requested))
    case .end(let end), .endAfterExpiry(let end):
      return .expires(.attemptsExhausted, end)
    }
  }

  /// The least delay before another attempt, in milliseconds, for any policy.
  ///
  /// Without a network, an attempt may fail at once.
  private static let shortestDelay: Int64 = 100
}

extension SessionEnding.Verdict {
  /// The events that end the session; empty if it goes on.
  ///
  /// - Requirement: REF-6
  var events: [SessionRecord.Content] {
    switch self {
    case .goesOn: []
    case .expires(let reason, .keep): [Self.expired(reason)]
    case .expires(let reason, .clear): [Self.expired(reason), Self.loggedOut(.policy)]
    case .logsOut(let reason): [Self.loggedOut(reason)]
    }
  }

  /// Why the session expires; `nil` if it does not.
  fileprivate var expiry: ExpiryReason? {
    if case .expires(let reason, _) = self { reason } else { nil }
  }

  /// The delay before another attempt, in milliseconds; `nil` for none.
  var retryAfter: Int64? {
    if case .goesOn(let delay) = self { delay } else { nil }
  }

  private static func expired(_ reason: ExpiryReason) -> SessionRecord.Content {
    .event(.sessionExpired(SessionEvent.SessionExpired(reason: reason)))
  }

  private static func loggedOut(_ reason: LogoutReason) -> SessionRecord.Content {
    .event(.logout(SessionEvent.Logout(reason: reason)))
  }
}

extension SessionCoordinator {
  /// Decides whether something ends the session.
  func ending(by cause: SessionEnding.Cause, at now: ClockReading) -> SessionEnding.Verdict {
    // A token of unknown lifetime may end any day, and the server must be asked again then.
    let last = now.uptime.addingSaturating(policy.longestRetryDelay)
    let deadline =
      state.token?.isLifetimeKnown == false ? min(last, tokenDeadline) : tokenDeadline
    return SessionEnding(
      policy: policy, tokenDeadline: fold.kind == .authenticated ? deadline : .min,
      doubtEnd: peers.doubtEnd, uptime: now.uptime
    ).verdict(on: cause)
  }

  /// Ends the session if the cause does; another process's newer token would be found first.
  mutating func end(by cause: SessionEnding.Cause, at now: ClockReading) -> [SessionEffect] {
    guard stopped == nil, fold.kind == .authenticated else { return [] }
    let verdict = ending(by: cause, at: now)
    guard !verdict.events.isEmpty else { return [] }
    return commit(verdict.events, for: .expire(verdict.expiry), at: now, doubting: true)
  }
}

/// Why a session ended, as far as known.
///
/// - Requirement: LOG-13
package struct EndCause: Hashable, Sendable {
  /// Why it expired; `nil` if it did not expire, or if that is unknown.
  package var expiry: ExpiryReason?
  /// Why it was logged out; `nil` if it only expired, or if that is unknown.
  package var logout: LogoutReason?
  /// The failure that caused the end, with the server's status and code; `nil` if none is known.
  package var failure: RequestFailure?

  /// Creates a cause.
  package init(
    expiry: ExpiryReason? = nil, logout: LogoutReason? = nil, failure: RequestFailure? = nil
  ) {
    (self.expiry, self.logout, self.failure) = (expiry, logout, failure)
  }

  /// Takes in an event; `failure` is its cause, unless that is a failed refresh.
  mutating func take(_ event: SessionEvent, _ failure: RequestFailure?) {
    switch event {
    case .login, .refreshSucceeded: self = EndCause()
    case .refreshFailed(let refresh): self = EndCause(failure: refresh.failure)
    case .contextSwitched: break
    case .sessionExpired(let expired):
      (expiry, logout, self.failure) = (expired.reason, nil, failure ?? self.failure)
      if !expired.reason.followsFailure { self.failure = nil }
    case .logout(let logout):
      self.logout = logout.reason
      if logout.reason == .userDeleted { self.failure = failure ?? self.failure }
      if logout.reason == .user, expiry == nil { self.failure = nil }
    }
  }
}

extension ExpiryReason {
  /// Whether a failed request caused the expiry.
  fileprivate var followsFailure: Bool {
    self == .refreshRejected || self == .attemptsExhausted || self == .userInactive
      || self == .endedByServer
  }
}

extension EndCause: CustomStringConvertible {
  /// The cause as text, without missing parts: `refreshRejected: rejected 401 TOKEN_REUSED; logout
  /// by policy`.
  package var description: String {
    var text = expiry?.description ?? ""
    if let failure { text += (text.isEmpty ? "" : ": ") + failure.description }
    if let logout { text += (text.isEmpty ? "" : "; ") + "logout by \(logout)" }
    return text
  }
}

extension SessionCoordinator {
  /// Remembers an event that may end the session, and its cause.
  mutating func noteEnd(_ event: SessionEvent, by failure: RequestFailure?) {
    lastEnd.take(event, failure)
  }

  /// Why the session has ended; empty if this process does not know.
  package var endCause: EndCause {
    if lastEnd.expiry != nil || lastEnd.logout != nil { return lastEnd }
    guard case .expired(let session) = state else { return EndCause() }
    return EndCause(expiry: session.reason)
  }
}
