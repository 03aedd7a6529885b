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
    /// Nothing more: the outcome is this.
    case end(RevocationOutcome, status: UInt16)
  }

  /// How one request ended.
  package enum Reply: Hashable, Sendable {
    /// The server confirmed it.
    case done
    /// The server refused the very token that was to be revoked: it is good for nothing already.
    case refused(status: UInt16)
    /// The server refused the access token that authenticates the request.
    case unauthorized(status: UInt16)
    /// It was not reached, or answered otherwise.
    case failed(status: UInt16)
  }

  /// How a refresh ended.
  package enum Refresh: Hashable, Sendable {
    /// A new access token is here.
    case done
    /// The server refused the refresh token. It is in doubt if an earlier refresh for this revocation got
    /// no answer: the server may have replaced the refresh token.
    case refused(status: UInt16, isInDoubt: Bool)
    /// It was not reached, or answered otherwise.
    case failed(status: UInt16)
  }

  /// What is known of the tokens.
  package struct Tokens: Hashable, Sendable {
    /// Whether the access token has expired.
    package var isExpired: Bool
    /// Whether there is a refresh token, and an endpoint for it.
    package var canRefresh: Bool
    /// Whether the session had a refresh token that cannot be read any more.
    package var isRefreshTokenLost: Bool

    /// What is known.
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
  /// The status of a request whose token was good for nothing already.
  private var refusedStatus: UInt16?
  private var outcome: Step?

  /// The run of these requests, of which some are done.
  package init(needsAccess: [Bool], done: Set<Int> = [], tokens: Tokens) {
    (self.needsAccess, self.done, self.tokens) = (needsAccess, done, tokens)
  }

  /// What to do next.
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

  /// Whether the request with this index is not to be sent again.
  package func confirms(_ index: Int) -> Bool { done.contains(index) }

  /// Takes in how the request with this index ended.
  package mutating func replied(_ reply: Reply, to index: Int) {
    switch reply {
    case .done: done.insert(index)
    case .refused(let status):
      done.insert(index)
      refusedStatus = status
    case .failed(let status): outcome = .end(.failed, status: status)
    case .unauthorized(let status):
      if hasRefreshed {
        // A new access token is refused as well: that says nothing of the refresh token.
        outcome = .end(.failed, status: status)
      } else if tokens.canRefresh {
        tokens.isExpired = true
      } else {
        // Without a refresh token, the access token was all there was.
        let isKnown = !tokens.isRefreshTokenLost
        outcome = .end(isKnown ? .alreadyInvalid : .abandoned, status: status)
      }
    }
  }

  /// Takes in how the refresh ended.
  package mutating func refreshed(_ refresh: Refresh) {
    hasRefreshed = true
    switch refresh {
    case .done: tokens.isExpired = false
    case .failed(let status): outcome = .end(.failed, status: status)
    case .refused(let status, let isInDoubt):
      // An answer that was lost may have brought another refresh token, which lives on.
      outcome = .end(isInDoubt ? .abandoned : .alreadyInvalid, status: status)
    }
  }
}
