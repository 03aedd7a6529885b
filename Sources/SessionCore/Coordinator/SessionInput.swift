/// An input of the coordinator: something that happened.
///
/// Numbers replace handles and callers.
package enum SessionInput: Hashable, Sendable {
  /// The journal was folded and the stored items were read.
  indirect case opened(StoredItemsReport)
  /// The stored items were read again.
  indirect case secretsRead(StoredItemsReport)
  /// A caller wants to log in.
  case login(Caller, LoginMethod)
  /// The user who is signed in logs in again.
  ///
  /// - Requirement: LOG-16
  case reauthenticate(Caller, LoginMethod)
  /// A caller needs a newer token, under a condition.
  case refresh(Caller, RefreshTrigger, RefreshNeed)
  /// A caller wants to switch to another context.
  case switchContext(Caller)
  /// A caller wants to log out.
  case logout(Caller, LogoutScope = .deviceAndServer)
  /// A caller reports that the stored items can be read now.
  ///
  /// - Requirement: LOG-5
  case unlock(Caller)
  /// The app locks the session.
  ///
  /// - Requirement: ACC-2
  case lock(Caller)
  /// A caller asks whether the user must be checked, and checks them then.
  case beginUnlock(Caller)
  /// The check with this number failed, or passed.
  case checkFailed(UInt64)
  case checkPassed(Caller, UInt64)
  /// The app entered the foreground.
  ///
  /// - Requirement: REF-2
  case foreground(Caller)
  /// The session was used at this uptime; not every use is reported.
  ///
  /// - Requirement: POL-5
  case used(Int64)
  /// When any process last used the session, in this system's uptime; `nil` if that cannot be read
  /// yet.
  case useRead(Int64?)
  /// A caller no longer waits.
  case cancelled(Caller)
  /// The app has shown the last failed login.
  case clearError
  /// The app closes the session object; the journal keeps the session.
  case close(Caller)
  /// The response to a request has a token.
  indirect case answered(RequestNumber, ResponseMetadata)
  /// The response to a registration: the account exists, but no user is logged in.
  ///
  /// - Requirement: LOG-5
  case accountCreated(RequestNumber)
  /// A sign-in with an identity provider failed without a response of the backend.
  ///
  /// - Requirement: WEB-4
  case notSignedIn(RequestNumber, WebSignInProblem)
  /// The profile of this user was requested; the failure is `nil` if that succeeded.
  ///
  /// `token` is the one that the request carried; `nil` if the response is not about a token.
  ///
  /// - Requirement: LOG-6
  case profileRead(Identifier, RequestFailure?, token: Generation? = nil)
  /// The response to a call says that the server needs the user.
  ///
  /// - Requirement: STA-9
  indirect case userNeeded(SessionNote.UserNeeded)
  /// The host has cleared its local data.
  ///
  /// - Requirement: SYN-5
  case cleared
  /// Operations of the secret store failed, or succeed again.
  ///
  /// - Requirement: STO-5
  case stored([StorageReport])
  /// A request failed. `jitter` is a random number for the delay of the next attempt.
  case failed(RequestNumber, RequestFailure, jitter: UInt16)
  /// A revocation ended.
  case revoked(Generation, RevocationOutcome, status: UInt16)
  /// A wipe ended.
  case wiped(WipeEnding)
  /// The journal was read: the records that others appended.
  ///
  /// `isHolderGone`: the process that sent the open request is proven gone.
  case observed([SessionRecord], isHolderGone: Bool)
  /// The journal could not be read: it is unknown what others appended.
  case unobserved
  /// Another process's token of this generation was read from the store.
  case reloaded(Generation, Reload)
  /// A timer has fired.
  case fired(SessionTimer)
  /// The last commit is durable; its first record has this sequence.
  case committed(firstSequence: UInt64)
  /// Nothing was written: others appended these records first.
  case conflicted([SessionRecord])
  /// The shell is about to send the first byte of a request.
  ///
  /// It has passed on what others appended until now. ``SessionCoordinator/mayLeave(_:)`` says
  /// whether it may send.
  ///
  /// - Requirement: REF-11
  case leaving(RequestNumber)
  /// Nothing was journaled.
  ///
  /// - `isLasting`: the same batch can never be journaled.
  /// - `isStored`: the token item holds the token that the batch announces.
  case commitFailed(isLasting: Bool, cause: StorageCause = .failed, isStored: Bool = false)
  /// Nothing was written: a newer token is stored than the journal knows, and this event announces
  /// it.
  indirect case superseded(SessionEvent)
  /// Nothing was written: the refresh token cannot be read until the user has authenticated to the
  /// device.
  ///
  /// - Requirement: STO-2
  case presenceNeeded

  /// How a wipe ended.
  package enum WipeEnding: Hashable, Sendable {
    /// Everything was removed.
    case done
    /// An item could not be removed.
    case failed
    /// Nothing was removed: others appended these records first.
    case overtaken([SessionRecord])
  }

  /// The result of reading another process's token.
  package enum Reload: Hashable, Sendable {
    /// The token is stored.
    ///
    /// `sessionEnd` is the latest end of the session that a response stated. `deadline` is the
    /// token's expiry on the clock that never jumps. Both are nil if unknown.
    ///
    /// - Requirement: POL-10
    case found(sessionEnd: Timestamp? = nil, deadline: Int64? = nil)
    /// No token is stored, or one of another generation.
    case other
    /// Unknown: the stored items cannot be read yet.
    case unread
  }

  /// Whether the input is the end of a commit.
  var endsCommit: Bool {
    switch self {
    case .committed, .conflicted, .commitFailed, .superseded, .presenceNeeded: true
    case .opened, .secretsRead, .login, .refresh, .switchContext, .logout, .cancelled, .clearError,
      .close, .answered, .failed, .revoked, .wiped, .observed, .unobserved, .reloaded, .fired,
      .unlock, .foreground, .used, .useRead, .accountCreated, .notSignedIn, .profileRead, .cleared,
      .stored, .leaving, .reauthenticate, .userNeeded, .lock, .beginUnlock, .checkFailed,
      .checkPassed:
      false
    }
  }

  /// Whether the input is the end of a read of the journal.
  var endsLook: Bool {
    switch self {
    case .observed, .unobserved: true
    default: false
    }
  }

  /// The caller of a command; `nil` for other inputs.
  var caller: Caller? {
    switch self {
    case .login(let caller, _), .reauthenticate(let caller, _), .refresh(let caller, _, _),
      .switchContext(let caller), .logout(let caller, _), .close(let caller), .unlock(let caller),
      .foreground(let caller), .lock(let caller), .beginUnlock(let caller),
      .checkPassed(let caller, _):
      caller
    default: nil
    }
  }
}

/// A caller that waits for a reply: a number that the shell chose.
package struct Caller: Hashable, Sendable {
  /// The number.
  package let number: UInt64

  /// Creates a caller.
  package init(_ number: UInt64) { self.number = number }
}

/// A request to the backend: a number that the coordinator chose.
package struct RequestNumber: Hashable, Sendable {
  /// The number.
  package let number: UInt64

  /// Creates a request number.
  package init(_ number: UInt64) { self.number = number }
}

/// The timers of the coordinator; at most one of each is set.
package enum SessionTimer: Hashable, Sendable, CaseIterable {
  /// A refresh is due, or another attempt after a failed one.
  case refresh
  /// A token that cannot be refreshed expires.
  case expiry
  /// It is time to check whether another process's request has ended.
  case lease
  /// The stored items, which were unreadable, are read again.
  ///
  /// - Requirement: RES-3
  case restore
  /// A failed commit is tried again.
  ///
  /// - Requirement: RES-6
  case commit
  /// The removal of stored items is tried again.
  case wipe
  /// A failed revocation is tried again.
  ///
  /// - Requirement: OUT-1
  case revocation
  /// The session was unused for as long as the policy allows, until it is locked or ends.
  ///
  /// - Requirement: POL-5
  case inactivity
  /// The session has lasted as long as the policy or the backend allows.
  ///
  /// - Requirement: POL-10
  case lifetime
}

/// The content of a response without its secrets, which the shell holds under the request's number.
package struct ResponseMetadata: Hashable, Sendable {
  /// The token's lifetime in milliseconds, from the arrival of the response.
  package var lifetime: Int64
  /// The milliseconds until the session ends at the latest, from the arrival: 0 to ten years.
  ///
  /// `nil` if the response does not say.
  ///
  /// - Requirement: POL-10
  package var sessionLifetime: Int64? {
    didSet { sessionLifetime = sessionLifetime.map(TokenMetadata.boundedSessionLifetime) }
  }
  /// How long the server keeps the refresh token, in milliseconds from the arrival; `nil` if unknown.
  ///
  /// - Requirement: REF-16
  package var refreshTokenLife: Int64?
  /// The thumbprint of the key to which the server bound the token; `nil` if it is a bearer token.
  ///
  /// - Requirement: INT-9
  package var boundKey: Identifier?
  /// The token's own identifier; `nil` if it has none.
  package var tokenID: Identifier?
  /// Whether the response has a refresh token.
  package var hasRefreshToken: Bool
  /// Whether an identity provider owns the tokens and renews them, without a refresh token that is
  /// visible here.
  ///
  /// - Requirement: WEB-6
  package var isRenewedByProvider = false
  /// The method of the login, if only the response shows it; otherwise the requested method holds.
  package var method: LoginMethod?
  /// The user that the response names; `nil` if it names none.
  package var user: Identifier?
  /// The source that named that user, if it is the source that named the session's user.
  ///
  /// - Requirement: LOG-12
  package var namedBy: NamingSource?
  /// The context in the response.
  package var context: ActiveContext?
  /// The context in the token's own claims.
  ///
  /// - Requirement: STA-5
  package var tokenContext: ActiveContext?
  /// The time of the server's clock; `nil` if the response has none.
  ///
  /// - Requirement: REF-8
  package var serverTime: Timestamp?
  /// Whether the device's clock measured a lifetime, since the response has no time.
  package var isMeasuredByDevice = false
  /// How the profile request of a login failed; `nil` if it did not fail or was not made.
  ///
  /// - Requirement: LOG-6
  package var profileFailure: RequestFailure?

  /// Whether a newer token can be obtained.
  var isRefreshable: Bool { hasRefreshToken || isRenewedByProvider }

  /// Creates the metadata of a response.
  package init(
    lifetime: Int64, tokenID: Identifier? = nil, hasRefreshToken: Bool, user: Identifier? = nil,
    context: ActiveContext? = nil, tokenContext: ActiveContext? = nil,
    serverTime: Timestamp? = nil
  ) {
    self.lifetime = max(0, lifetime)
    self.tokenID = tokenID
    self.hasRefreshToken = hasRefreshToken
    self.user = user
    self.context = context
    self.tokenContext = tokenContext
    self.serverTime = serverTime
  }
}

/// The stored items, as the shell found them.
///
/// - Requirement: RES-1
package struct StoredItemsReport: Hashable, Sendable {
  /// The condition of one item.
  package enum Item: Hashable, Sendable {
    /// The item does not exist.
    case absent
    /// The item cannot be decoded; its bytes were kept aside.
    case unreadable
    /// The item belongs to another journal.
    ///
    /// - Requirement: RES-5
    case otherJournal
    /// The item exists and belongs to this journal.
    case present
    /// A newer version wrote the item: it is not read. Only a login or a logout removes it.
    ///
    /// - Requirement: RES-8
    case newerVersion
  }

  /// What is known about another journal to which the items belong.
  package enum Owner: Hashable, Sendable {
    /// There is no such journal.
    case none
    /// The journal was not found.
    case missing
    /// The journal cannot be read.
    case unreadable
  }

  /// The report of an empty store.
  package static let nothing = StoredItemsReport()

  /// Whether the items cannot be read *yet*: the store is locked or refuses, which does not mean
  /// "none".
  ///
  /// - Requirement: RES-3
  package var isLocked = false
  /// The token item.
  package var token = Item.absent
  /// The stored token's generation, if the item is present.
  package var generation = Generation.none
  /// The state before the last login, if that is the last event and nothing shows that it succeeded.
  ///
  /// - Requirement: LOG-10
  package var beforeUnprovenLogin: SessionState.Kind?
  /// When the stored token expires, on the clock that never jumps.
  ///
  /// `nil` if it was stored before the last boot, since that clock starts at zero with each boot.
  ///
  /// - Requirement: REF-8
  package var deadline: Int64?
  /// The latest end of the session that a response stated, in civil time.
  ///
  /// - Requirement: POL-10
  package var sessionEnd: Timestamp?
  /// The event that announces the stored token.
  ///
  /// - Requirement: REF-7
  package var announcement: SessionEvent?
  /// The kind of that event, if the event itself cannot be read; `nil` if it can, or for an unknown kind.
  package var unreadAnnouncement: SessionEvent.Kind?
  /// Whether the key to which the stored token is bound is gone, or is another one.
  ///
  /// - Requirement: INT-9
  package var isProofKeyLost = false
  /// The user item.
  package var user = Item.absent
  /// The context item.
  package var context = Item.absent
  /// What is known about the session of another journal, from the items or from that journal's
  /// records.
  ///
  /// - Requirement: RES-5
  package var stray: OrphanedSession?
  /// The tokens for whose revocation the secrets are stored, oldest first.
  package var revocations: [Generation] = []
  /// What is known about another journal to which the items belong.
  ///
  /// - Requirement: RES-7
  package var owner = Owner.none
  /// How long the journal of the items is missed, in milliseconds.
  ///
  /// It is 0 at the opening that misses it first, and `nil` if no journal is missed.
  ///
  /// - Requirement: RES-7
  package var missedFor: Int64?
  /// The journal that wrote the items, if it continues this one; `nil` for this journal's own items.
  ///
  /// - Requirement: RES-7
  package var successor: Identifier?
  /// Whether the secrets of revocations belong to a newer version or another backend; they are
  /// kept.
  package var hasUnreadRevocations = false
  /// The notes of the opening that the shell adds.
  package var notes: [SessionNote] = []
  /// Whether the device's clock was set since the last opening that is noted.
  package var isClockSet = false
  /// The process of this opening.
  package var process: UInt32 = 0
  /// The identity of this opening of the journal.
  package var identity: ProcessIdentity?
  /// Whether the process that sent the open request is proven gone.
  package var isHolderGone = false
  /// Whether a living process may have stored the journal's token, which is not found here.
  ///
  /// Its opening is older than the token.
  package var isStorerAlive = false
  /// When the opening began, before it waited for a lock; `nil` for a later read of the items.
  package var began: Timestamp?
  /// The milliseconds since any process last used the session; `nil` if unknown.
  ///
  /// - Requirement: POL-5
  package var idle: Int64?
  /// Whether the host must be notified when its local data is to be cleared.
  ///
  /// - Requirement: SYN-5
  package var hostClears = false
  /// Whether an identity provider owns the tokens and keeps an account for the user.
  ///
  /// - Requirement: WEB-6
  package var hasProvider = false
  /// The meanings of the backend's error codes, by the configuration.
  ///
  /// - Requirement: POL-8
  package var errorCodes: [String: ErrorMeaning] = [:]
  /// Why the last session was closed permanently, if the host has not cleared its local data since.
  package var owedClearing: LogoutReason?
  /// How many consecutive requests ended their process before this opening.
  package var endedProcesses: UInt32 = 0

  /// Creates the report of an empty store.
  package init() {}

  /// The item that names another owner.
  var ownedItem: SecretItem { token == .absent ? .user : .token }

  func item(_ item: SecretItem) -> Item {
    switch item {
    case .token: token
    case .user: user
    case .context: context
    default: .absent
    }
  }
}
