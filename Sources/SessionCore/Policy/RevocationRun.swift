/// The steps of one revocation, and its outcome for the refresh token.
///
/// ```
///            ┌──────── refreshed ────────┐
///            ▼                           │
///  next ─▶ send(n) ── 401 to a token ─▶ refresh ── refused ─▶ end(alreadyInvalid)
///            │ done                      │ no answer
///            ▼                           ▼
///  next … end(revoked)                 end(failed)
/// ```
///
/// A request is authenticated by the access token or it is not. If it is, a 401 is about the access
/// token and proves nothing about the refresh token. So the token is refreshed first if it has expired,
/// and refreshed once if it is refused. The value has no clock, no I/O and no secret.
///
/// - Requirement: OUT-5
package struct RevocationRun: Hashable, Sendable {
  /// What to do next.
  package enum Step: Hashable, Sendable {
    /// Get a new access token with the refresh token of this revocation.
    case refresh
    /// Send the request with this index.
    case send(Int)
    /// Nothing more: this is the outcome.
    case end(RevocationOutcome, status: UInt16)
  }

  /// How one request ended.
  package enum Reply: Hashable, Sendable {
    /// The server confirmed the revocation.
    case done
    /// The server rejected the token to be revoked: it is already invalid.
    case refused(status: UInt16)
    /// The server rejected the access token that authenticates the request.
    case unauthorized(status: UInt16)
    /// The server was not reached, or responded otherwise.
    case failed(status: UInt16)
  }

  /// How a refresh ended.
  package enum Refresh: Hashable, Sendable {
    /// There is a new access token.
    case done
    /// The server rejected the refresh token.
    ///
    /// `isInDoubt`: an earlier refresh for this revocation got no response. The server may have
    /// replaced the refresh token.
    case refused(status: UInt16, isInDoubt: Bool)
    /// The server was not reached, or responded otherwise.
    case failed(status: UInt16)
  }

  /// What is known about the tokens.
  package struct Tokens: Hashable, Sendable {
    /// Whether the access token has expired.
    package var isExpired: Bool
    /// Whether there is a refresh token, and an endpoint for it.
    package var canRefresh: Bool
    /// Whether the session had a refresh token that can no longer be read.
    package var isRefreshTokenLost: Bool

    /// Creates a description of the tokens.
    package init(isExpired: Bool, canRefresh: Bool, isRefreshTokenLost: Bool = false) {
      self.isExpired = isExpired
      self.canRefresh = canRefresh
      self.isRefreshTokenLost = isRefreshTokenLost
    }
  }

  private var tokens: Tokens
  /// For each request, whether the access token authenticates it.
  private let needsAccess: [Bool]
  /// The requests that the server has confirmed, now or in an earlier run.
  private var done: Set<Int>
  private var hasRefreshed = false
  /// The status of the response that called the token invalid.
  private var refusedStatus: UInt16?
  private var outcome: Step?

  /// Creates a run of these requests, of which `done` are already confirmed.
  package init(needsAccess: [Bool], done: Set<Int> = [], tokens: Tokens) {
    (self.needsAccess, self.done, self.tokens) = (needsAccess, done, tokens)
  }

  /// The next step.
  package var next: Step {
    if let outcome { return outcome }
    guard let index = needsAccess.indices.first(where: { !done.contains($0) }) else {
      guard let refusedStatus else {
        return .end(needsAccess.isEmpty ? .notOffered : .revoked, status: 0)
      }
      return .end(.alreadyInvalid, status: refusedStatus)
    }
    let isDue = needsAccess[index] && tokens.isExpired && tokens.canRefresh && !hasRefreshed
    return isDue ? .refresh : .send(index)
  }

  /// Whether nothing is left to do.
  package var hasEnded: Bool {
    if case .end = next { true } else { false }
  }

  /// How long a server may go on refusing a revocation before it is given up, in milliseconds: 30 days.
  private static let patience: Int64 = 30 * 86_400_000

  /// Whether the status says that the server does not accept the request, so that a repetition may never
  /// succeed.
  ///
  /// 408, 425 and 429 ask for a repetition (RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4).
  package static func isRefusal(_ status: UInt16) -> Bool {
    400...499 ~= status && ![408, 425, 429].contains(status)
  }

  /// Returns whether a revocation that the server has refused since then is given up.
  package static func isGivenUp(refusedSince start: Timestamp, at now: Timestamp) -> Bool {
    now.milliseconds(since: start) >= patience
  }

  /// Whether the request with this index must not be sent again.
  package func confirms(_ index: Int) -> Bool { done.contains(index) }

  /// Records how the request with this index ended.
  package mutating func replied(_ reply: Reply, to index: Int) {
    switch reply {
    case .done: done.insert(index)
    case .refused(let status):
      done.insert(index)
      refusedStatus = status
    case .failed(let status): outcome = .end(.failed, status: status)
    case .unauthorized(let status):
      // A 401 once counted as done: the journal said *revoked* for a logout that had waited for a
      // network, and the refresh token stayed valid.
      if hasRefreshed {
        // A new access token is rejected too: that proves nothing about the refresh token.
        outcome = .end(.failed, status: status)
      } else if tokens.canRefresh {
        tokens.isExpired = true
      } else {
        // Without a refresh token, the access token was the only token.
        let isKnown = !tokens.isRefreshTokenLost
        outcome = .end(isKnown ? .alreadyInvalid : .abandoned, status: status)
      }
    }
  }

  /// Records how the refresh ended.
  package mutating func refreshed(_ refresh: Refresh) {
    hasRefreshed = true
    switch refresh {
    case .done: tokens.isExpired = false
    case .failed(let status): outcome = .end(.failed, status: status)
    case .refused(let status, let isInDoubt):
      // A lost response may have contained another refresh token, which is still valid.
      outcome = .end(isInDoubt ? .abandoned : .alreadyInvalid, status: status)
    }
  }
}
