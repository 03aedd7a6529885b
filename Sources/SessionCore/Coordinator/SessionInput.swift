/// Something that happened, told to the coordinator; IDs stand for handles and callers.
package enum SessionInput: Hashable, Sendable {
  /// The journal was folded and the stored items were looked at.
  case opened(StoredItemsReport)
  /// The stored items were looked at again.
  case secretsRead(StoredItemsReport)
  /// A caller wants to sign in.
  case login(Caller, LoginMethod)
  /// A caller wants a newer token, where it has need of one.
  case refresh(Caller, RefreshTrigger, RefreshNeed)
  /// A caller wants to act in another context.
  case switchContext(Caller)
  /// A caller wants to log out.
  case logout(Caller, LogoutScope = .deviceAndServer)
  /// A caller says that the stored items can be read now.
  ///
  /// - Requirement: LOG-5
  case unlock(Caller)
  /// The app came back to the foreground.
  ///
  /// - Requirement: REF-2
  case foreground(Caller)
  /// The session was used at this uptime, which is not told of each use.
  ///
  /// - Requirement: POL-5
  case used(Int64)
  /// When the session was used last by any process, in this system's uptime; `nil` where that cannot be
  /// told yet.
  case useRead(Int64?)
  /// A caller no longer waits.
  case cancelled(Caller)
  /// The app has shown the last failed sign-in.
  case clearError
  /// The app closes the session object; the session itself goes on in the journal.
  case close(Caller)
  /// A request was answered with a token.
  case answered(RequestNumber, ResponseMetadata)
  /// A registration was answered: there is an account, and nobody is signed in by that.
  ///
  /// - Requirement: LOG-5
  case accountCreated(RequestNumber)
  /// A sign-in with an identity provider came to nothing, which is no answer of the backend.
  ///
  /// - Requirement: WEB-4
  case notSignedIn(RequestNumber, WebSignInProblem)
  /// The profile of this user was asked for; where it failed, how.
  ///
  /// - Requirement: LOG-6
  case profileRead(Identifier, RequestFailure?)
  /// The host has cleared its local data.
  ///
  /// - Requirement: SYN-5
  case cleared
  /// The secret store failed, or does again what it did not.
  ///
  /// - Requirement: STO-5
  case stored([StorageReport])
  /// A request failed. `jitter` is a random number for the delay of the next attempt.
  case failed(RequestNumber, RequestFailure, jitter: UInt16)
  /// Telling the server of a logout ended.
  case revoked(Generation, RevocationOutcome, status: UInt16)
  /// A wipe ended.
  case wiped(WipeEnding)
  /// The journal was looked at: what others appended, and whether the process that sent the request
  /// still open in it is certainly gone.
  case observed([SessionRecord], isHolderGone: Bool)
  /// The journal could not be looked at: it is not known what others appended.
  case unobserved
  /// Another process's token, of this generation, was looked for where it should be stored.
  case reloaded(Generation, Reload)
  /// A timer's time has come.
  case fired(SessionTimer)
  /// The last commit is durable; its first record has this sequence.
  case committed(firstSequence: UInt64)
  /// Nothing was written: others had appended these records first.
  case conflicted([SessionRecord])
  /// The shell is about to send the first byte of a request, and has told what others appended until
  /// now: ``SessionCoordinator/mayLeave(_:)`` says whether it goes.
  ///
  /// - Requirement: REF-11
  case leaving(RequestNumber)
  /// Nothing was journaled.
  ///
  /// `isLasting`: the same batch can never be journaled. `isStored`: the token item holds the token
  /// of the answer that the batch announces.
  case commitFailed(isLasting: Bool, cause: StorageCause = .failed, isStored: Bool = false)
  /// Nothing was written: a newer token is stored than the commit knew of, and this event announces it.
  case superseded(SessionEvent)
  /// Nothing was written: the refresh token is kept apart and cannot be read until the user has shown who
  /// they are.
  ///
  /// - Requirement: STO-2
  case presenceNeeded

  /// How a wipe ended.
  package enum WipeEnding: Hashable, Sendable {
    /// Everything that was to go is gone.
    case done
    /// An item could not be removed.
    case failed
    /// Nothing was removed: others had appended these records first.
    case overtaken([SessionRecord])
  }

  /// What was found where another process's token should be stored.
  package enum Reload: Hashable, Sendable {
    /// That token; with when the session ends at the latest by a response, and when the token dies on
    /// the clock that never jumps, where that is known.
    ///
    /// - Requirement: POL-10
    case found(sessionEnd: Timestamp? = nil, deadline: Int64? = nil)
    /// None, or one of another generation.
    case other
    /// It is not known: the stored items cannot be read yet.
    case unread
  }

  /// Whether the input is how a commit ended.
  var endsCommit: Bool {
    switch self {
    case .committed, .conflicted, .commitFailed, .superseded, .presenceNeeded: true
    case .opened, .secretsRead, .login, .refresh, .switchContext, .logout, .cancelled, .clearError,
      .close, .answered, .failed, .revoked, .wiped, .observed, .unobserved, .reloaded, .fired,
      .unlock, .foreground, .used, .useRead, .accountCreated, .notSignedIn, .profileRead, .cleared,
      .stored, .leaving:
      false
    }
  }

  /// Whether the input is how a look at the journal ended.
  var endsLook: Bool {
    switch self {
    case .observed, .unobserved: true
    default: false
    }
  }

  /// Who asks, where it is a question.
  var caller: Caller? {
    switch self {
    case .login(let caller, _), .refresh(let caller, _, _), .switchContext(let caller),
      .logout(let caller, _), .close(let caller), .unlock(let caller), .foreground(let caller):
      caller
    default: nil
    }
  }
}

/// Who waits for a reply: a number that the shell chose.
package struct Caller: Hashable, Sendable {
  /// The number.
  package let number: UInt64

  /// A caller.
  package init(_ number: UInt64) { self.number = number }
}

/// A request on the wire: a number that the coordinator chose.
package struct RequestNumber: Hashable, Sendable {
  /// The number.
  package let number: UInt64

  /// A request.
  package init(_ number: UInt64) { self.number = number }
}

/// The times that the coordinator waits for; one of each at most.
package enum SessionTimer: Hashable, Sendable, CaseIterable {
  /// The token is due for a refresh, or a failed one for another attempt.
  case refresh
  /// A token that cannot be refreshed dies.
  case expiry
  /// It is time to see whether another process's request has ended.
  case lease
  /// The stored items, unreadable before, are looked at again.
  ///
  /// - Requirement: RES-3
  case restore
  /// A commit that failed is tried again.
  ///
  /// - Requirement: RES-6
  case commit
  /// Stored items that could not be removed are removed again.
  case wipe
  /// The server is told again of a logout that it could not be told of.
  ///
  /// - Requirement: OUT-1
  case revocation
  /// The session was unused for as long as the policy allows.
  ///
  /// - Requirement: POL-5
  case inactivity
  /// The session has lasted for as long as the policy or the backend allows.
  ///
  /// - Requirement: POL-10
  case lifetime
}

/// What an answer said, without its secrets: the shell holds those under the request's number.
package struct ResponseMetadata: Hashable, Sendable {
  /// Milliseconds that the token lives, counted from the answer's arrival.
  package var lifetime: Int64
  /// Milliseconds after which the session ends at the latest, counted from the answer's arrival, where
  /// the answer says so: 0 to ten years.
  ///
  /// - Requirement: POL-10
  package var sessionLifetime: Int64? {
    didSet { sessionLifetime = sessionLifetime.map(TokenMetadata.boundedSessionLifetime) }
  }
  /// The token's own identifier, where it has one.
  package var tokenID: Identifier?
  /// Whether the answer held a refresh token.
  package var hasRefreshToken: Bool
  /// Whether an identity provider owns the tokens and brings newer ones, without a refresh token that is
  /// seen here.
  ///
  /// - Requirement: WEB-6
  package var isRenewedByProvider = false
  /// In which way it was signed in, where that turned out with the answer; else as it was asked for.
  package var method: LoginMethod?
  /// The user, if the response names one; of another user, only that it is another one counts.
  package var user: Identifier?
  /// Which source named that user, if it is the source that named the session's user.
  ///
  /// - Requirement: LOG-12
  package var namedBy: NamingSource?
  /// The context that the answer states.
  package var context: ActiveContext?
  /// The context that the token's own claims state.
  ///
  /// - Requirement: STA-5
  package var tokenContext: ActiveContext?
  /// What the server's clock said, where it did.
  ///
  /// - Requirement: REF-8
  package var serverTime: Timestamp?
  /// How asking for the profile failed, where it was asked for with a login and did.
  ///
  /// - Requirement: LOG-6
  package var profileFailure: RequestFailure?

  /// Whether there is a way to a newer token.
  var isRefreshable: Bool { hasRefreshToken || isRenewedByProvider }

  /// Facts of an answer.
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

/// What the shell found in the stored items.
///
/// - Requirement: RES-1
package struct StoredItemsReport: Hashable, Sendable {
  /// The condition of one item.
  package enum Item: Hashable, Sendable {
    /// There is none.
    case absent
    /// There is one that cannot be read as what it should be; its bytes were kept aside.
    case unreadable
    /// There is one that belongs to another journal.
    ///
    /// - Requirement: RES-5
    case otherJournal
    /// There is one, of this journal.
    case present
    /// There is one that a newer version wrote: it is not read, and only a sign-in or a logout removes
    /// it.
    ///
    /// - Requirement: RES-8
    case newerVersion
  }

  /// What is known of another journal that the items belong to.
  package enum Owner: Hashable, Sendable {
    /// There is none to be asked for.
    case none
    /// Its journal was not found.
    case missing
    /// Its journal cannot be read.
    case unreadable
  }

  /// What is found where nothing is stored.
  package static let nothing = StoredItemsReport()

  /// The items cannot be read *yet*: locked or refused, which is not "none".
  ///
  /// - Requirement: RES-3
  package var isLocked = false
  /// The token item.
  package var token = Item.absent
  /// The stored token's generation, where the item is present.
  package var generation = Generation.none
  /// When the stored token dies, on the clock that never jumps; `nil` where it was stored in another
  /// start of the system, whose clock that was.
  ///
  /// - Requirement: REF-8
  package var deadline: Int64?
  /// When the session ends at the latest, by a response, on the civil clock that also says when the stored
  /// token dies.
  ///
  /// - Requirement: POL-10
  package var sessionEnd: Timestamp?
  /// The event that announces the stored token.
  ///
  /// - Requirement: REF-7
  package var announcement: SessionEvent?
  /// The user item.
  package var user = Item.absent
  /// The context item.
  package var context = Item.absent
  /// The session of another journal that the items, or that journal's records, still tell of.
  ///
  /// - Requirement: RES-5
  package var stray: OrphanedSession?
  /// The tokens whose revocation has what it needs, oldest first.
  package var revocations: [Generation] = []
  /// What is known of another journal that the items belong to.
  ///
  /// - Requirement: RES-7
  package var owner = Owner.none
  /// Whether what revocations need is of a newer version or of another backend: it stays as it is.
  package var hasUnreadRevocations = false
  /// What the shell wants noted of the opening.
  package var notes: [SessionNote] = []
  /// The process that opens.
  package var process: UInt32 = 0
  /// Which opening of the journal this is.
  package var identity: ProcessIdentity?
  /// Whether the process that sent the request still open in the journal is certainly gone.
  package var isHolderGone = false
  /// When the opening began, before it waited for any lock; `nil` for a later look at the items.
  package var began: Timestamp?
  /// Milliseconds since any process used the session last, where that is known.
  ///
  /// - Requirement: POL-5
  package var idle: Int64?
  /// Whether the host wants to be told when its local data is to be cleared.
  ///
  /// - Requirement: SYN-5
  package var hostClears = false
  /// Whether an identity provider owns the tokens, and keeps an account for the user.
  ///
  /// - Requirement: WEB-6
  package var hasProvider = false
  /// What the codes of the backend mean, by the configuration.
  ///
  /// - Requirement: POL-8
  package var errorCodes: [String: ErrorMeaning] = [:]
  /// Why the last session was closed for good, where the host did not say that it has cleared its local
  /// data since.
  package var owedClearing: LogoutReason?
  /// How many requests in a row ended their process before this opening.
  package var endedProcesses: UInt32 = 0

  /// Nothing stored.
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
