/// The cause of a session's end, of a session's problem, or of a record: the catalogue of
/// `Specs/Why.md`.
package enum Cause: String, CaseIterable, Sendable {
  // Ends of a session.
  case userLogout = "user-logout"
  case userLogoutAfterExpiry = "user-logout-after-expiry"
  case accountDeleted = "account-deleted"
  case accountInactive = "account-inactive"
  case lostReply = "lost-reply"
  case answerNotStored = "answer-not-stored"
  case killedInRefresh = "killed-in-refresh"
  case suspendedInRefresh = "suspended-in-refresh"
  case usedElsewhere = "used-elsewhere"
  case familyRevoked = "family-revoked"
  case revokedElsewhere = "revoked-elsewhere"
  case refreshTokenExpired = "refresh-token-expired"
  case unknownToServer = "unknown-to-server"
  case refused = "refused"
  case otherUser = "other-user"
  case noRefreshToken = "no-refresh-token"
  case serverFailing = "server-failing"
  case rateLimited = "rate-limited"
  case refreshingTooOften = "refreshing-too-often"
  case answersUnreadable = "answers-unreadable"
  case appRefused = "app-refused"
  case endpointMissing = "endpoint-missing"
  case attemptsExhausted = "attempts-exhausted"
  case tokenExpired = "token-expired"
  case expiredOnArrival = "expired-on-arrival"
  case clockForward = "clock-forward"
  case secretsMissing = "secrets-missing"
  case secretUnreadable = "secret-unreadable"
  case secretsAhead = "secrets-ahead"
  case secretsOutdated = "secrets-outdated"
  case secretsNewer = "secrets-newer"
  case inactive = "inactive"
  case lifetimeOver = "lifetime-over"
  case endedByServer = "ended-by-server"
  case unexplained = "unexplained"

  // A session that has not ended, or none.
  case stillOffline = "still-offline"
  case stillIntercepted = "still-intercepted"
  case stillServerFailing = "still-server-failing"
  case stillSecretsLocked = "still-secrets-locked"
  case stillRequestOpen = "still-request-open"
  case stillSignedIn = "still-signed-in"
  case neverSignedIn = "never-signed-in"
  case endedBefore = "ended-before"
  case journalReplaced = "journal-replaced"

  // One record.
  case switchRefused = "switch-refused"
  case switchLost = "switch-lost"
  case notRevoked = "not-revoked"
  case revocationDone = "revocation-done"
  case takenOver = "taken-over"
  case refreshFailed = "refresh-failed"
  case tokenRecovered = "token-recovered"
  case tailCut = "tail-cut"
  case itemUnreadable = "item-unreadable"
  case storageFailed = "storage-failed"
  case leftoversWiped = "leftovers-wiped"
  case journalContinued = "journal-continued"

  /// The subject of an explanation.
  package enum Class: String, CaseIterable, Sendable {
    /// An end of a session.
    case end = "end"
    /// A session that has not ended, or no session.
    case still = "still"
    /// One record.
    case event = "event"
  }

  package var `class`: Class {
    switch self {
    case .userLogout, .userLogoutAfterExpiry, .accountDeleted, .accountInactive, .lostReply,
      .answerNotStored, .killedInRefresh, .suspendedInRefresh, .usedElsewhere, .familyRevoked,
      .revokedElsewhere,
      .refreshTokenExpired, .unknownToServer, .refused, .otherUser, .noRefreshToken,
      .serverFailing, .rateLimited, .refreshingTooOften, .answersUnreadable, .appRefused,
      .endpointMissing, .attemptsExhausted, .tokenExpired, .expiredOnArrival, .clockForward,
      .secretsMissing, .secretUnreadable, .secretsAhead, .secretsOutdated, .secretsNewer, .inactive,
      .lifetimeOver, .endedByServer, .unexplained:
      .end
    case .stillOffline, .stillIntercepted, .stillServerFailing, .stillSecretsLocked,
      .stillRequestOpen, .stillSignedIn, .neverSignedIn, .endedBefore, .journalReplaced:
      .still
    case .switchRefused, .switchLost, .notRevoked, .revocationDone, .takenOver, .refreshFailed,
      .tokenRecovered,
      .tailCut, .itemUnreadable, .storageFailed, .leftoversWiped, .journalContinued:
      .event
    }
  }
}
