@_spi(Internals) import SessionCore

/// The vocabulary of scenario files.
package enum ScenarioVocabulary {
  package static let header = [
    "scenario", "proves", "app", "policy", "start", "user", "known", "changes",
  ]
  package static let steps = [
    "at", "until", "clock", "network", "secrets", "journal", "do", "request", "answer", "lost",
    "silent", "page", "token",
    "event", "note", "state", "shows", "result", "stored", "pending", "cleared",
    "received", "kill", "power", "change", "waiting", "givenUp", "news",
  ]
  package static let apps: [String: [String]] = [
    "EDU": ["environment"], "B2C": ["client", "scope", "tokens"], "OFF": [], "TIK": [], "API": [],
    "OAuth": ["client", "scope", "revocation"],
  ]
  package static let owners = ["session", "provider"]
  package static let environments = ["development", "staging", "production"]
  package static let policy = [
    "refreshThreshold", "maximumAttempts", "firstRetryDelay", "longestRetryDelay",
    "requestTimeout", "overtakenGrace", "launchRefresh", "onRejection", "onExhaustion",
    "inactivityLimit", "profileCheck", "signInsPerMinute",
    "straySecrets", "refreshesBeforeExpiry",
  ]
  package static let commands = [
    "open", "close", "login", "register", "social", "unlock", "foreground", "use", "refresh",
    "refreshIfNeeded", "switch", "logout", "clearError", "call", "adopt", "page", "silently",
    "redirect", "add", "drain", "sync", "discard",
  ]
  package static let acts = ["types", "forgets", "cancels", "leaves"]
  package static let links = ["forgot", "cancel"]
  package static let log = ["attempts", "firstDelay", "lease", "limit"]
  package static let items = ["token", "user", "context", "revocation", "nothing"]

  package static let events: [String: [String]] = Dictionary(
    uniqueKeysWithValues: SessionEvent.Kind.allCases.map { kind in
      let fields = ScenarioFields(.blank(kind), at: Timestamp(milliseconds: 0))
      return (kind.description, fields.words.map(\.name))
    })
  package static let notes: [String: [String]] = Dictionary(
    uniqueKeysWithValues: SessionNote.Kind.allCases.map { kind in
      (kind.description, ScenarioFields(.blank(kind)).words.map(\.name))
    })
  package static let states: [String: [String]] = [
    "unauthenticated": [],
    "authenticated": ["user", "method", "token", "role", "school", "failures", "answered", "last"],
    "expired": ["user", "role", "school", "reason"],
  ]
  package static let shows = [
    "token", "expired", "refreshable", "activity", "page", "waiters", "email", "permissions",
    "storage", "gate", "role", "lastEnd",
  ]
  package static let changes: [String: [String]] = [
    "added": ["key", "user", "what"],
    "sent": ["key"],
    "acknowledged": ["key"],
    "postponed": ["key", "counted", "retry", "reason"],
    "givenUp": ["key", "cause", "reason"],
    "discarded": ["key", "cause"],
    "scopeChecked": ["scope", "changed"],
    "addedBy": ["token"],
    "leaving": ["wait"],
    "signInEnded": ["token"],
    "retried": ["key"],
  ]
  package static let results = [
    "token", "outcome", "user", "role", "state", "status", "waiting", "sent", "givenUp", "ending",
    "wait",
  ]
  package static let errorDetails = [
    "status", "code", "retryAfter", "count", "problem", "english", "spanish", "portuguese",
  ]
  package static let errors = [
    "invalidCredential", "notSignedIn", "alreadySignedIn", "otherUsersSession", "overtaken",
    "signInUnderWay", "webSignIn", "secretsUnavailable", "needsPresence", "secretsOfAnotherSession",
    "secretsOwnerUnreadable",
    "pendingChanges", "clearingLocalData", "noRefreshToken",
    "invalidRequest",
    "codeRefused", "invalidCredentials", "unauthorized", "forbidden", "userInactive", "userDeleted",
    "notFound",
    "conflict", "alreadyDeleted", "accountLocked", "rateLimited", "server", "databaseUnavailable",
    "unexpectedStatus", "refreshRefused", "unreadableAnswer", "intercepted", "gatewayFailed",
    "noConnection",
    "noReply", "userNeeded", "expired", "proofKeyLost",
    "loggedOut", "notStoredYet", "answerDropped", "journal", "notOffered", "wrongAddress",
    "appRefused",
    "unusableJournal", "eventsCompacted", "secrets", "closed", "cancelled",
    "sessionExpired", "othersChanges", "full", "contentTooLong", "unknownKey", "drainUnderWay",
    "notAChangeLog", "newerVersion", "unusable", "notKnown", "keyInUse", "givenUp", "loggingOut",
    "signInEnded", "unusableCall", "responseTooLarge", "responseTooSlow", "tooManyAttempts",
    "notTrusted",
  ]
}
