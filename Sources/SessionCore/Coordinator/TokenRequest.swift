/// The one request on the wire that may change the token; there is never a second.
///
/// - Requirement: REF-3, CTX-2
struct TokenRequest: Hashable, Sendable {
  enum Purpose: Hashable, Sendable {
    case login(Caller, LoginMethod)
    case refresh(RefreshTrigger, attempt: UInt32)
    case switchContext(Caller)
  }

  let number: RequestNumber
  let purpose: Purpose
  /// The token that the request is made with; the last one there was, for a login.
  let base: Generation
  /// The sequence of its `requestSent`; 0 until that is durable.
  var note: UInt64 = 0
  /// The answer, if it has arrived and could not be journaled yet; its owner was told so.
  var unsettled: ReceivedResponse?
  /// What kept that answer from being stored.
  var obstacle: StorageObstacle?
  /// How often storing that answer has failed since a caller asked to close.
  var failuresAtClose = 0
  /// Whether it leaves only after one more read of the journal: its intent took the place of a
  /// request whose process is not proven gone.
  ///
  /// - Requirement: REF-10
  var isHeldBack = false
  /// Whether the shell was told that it may leave.
  ///
  /// - Requirement: REF-11
  var hasLeft = false

  /// An answer and when it came: a token's life is counted from there.
  ///
  /// - Requirement: REF-8
  struct ReceivedResponse: Hashable, Sendable {
    let number: RequestNumber
    let facts: ResponseMetadata
    let moment: ClockReading

    /// When its token dies, on the clock that never jumps.
    var deadline: Int64 { moment.uptime.addingSaturating(facts.lifetime) }

    /// When the session ends at the latest, on the clock that never jumps, where the answer says so.
    ///
    /// - Requirement: POL-10
    var sessionEnd: Int64? { facts.sessionLifetime.map(moment.uptime.addingSaturating) }
  }

  var isRefresh: Bool {
    guard case .refresh = purpose else { return false }
    return true
  }

  var isLogin: Bool {
    guard case .login = purpose else { return false }
    return true
  }

  func isLogin(of caller: Caller) -> Bool {
    guard case .login(caller, _) = purpose else { return false }
    return true
  }

  /// Whether its intent is durable and nothing of it was sent.
  var isUnsent: Bool { note != 0 && !hasLeft }

  /// Whether its response, or its failure, has come.
  var isAnswered = false

  /// Whether it was sent and not answered.
  var isOnTheWire: Bool { hasLeft && !isAnswered }

  /// The caller that it was started for, where there is one that was not told yet.
  var owner: Caller? {
    guard unsettled == nil else { return nil }
    return switch purpose {
    case .login(let caller, _), .switchContext(let caller): caller
    case .refresh: nil
    }
  }
}

/// A commit that was asked for and has not ended: what it is for, so that it can be decided anew.
struct PendingCommit: Hashable, Sendable {
  indirect enum Purpose: Hashable, Sendable {
    case restore(StoredItemsReport)
    case send
    case settle(TokenRequest.ReceivedResponse)
    case fail(RequestFailure, jitter: UInt16, delay: Int64?)
    case expire(ExpiryReason)
    case logout(Caller, LogoutScope)
    case profileEndsSession(Identifier, RequestFailure)
    case note
    /// To note what the secret store did not do.
    case storage
    case revoked(Generation, RevocationOutcome, status: UInt16)
    /// To note the ends of requests that no event tells.
    case endings
    case close(Caller)
    /// To announce a token that was found stored when this was to be journaled.
    case recover(Purpose)

    /// Whether the process that sent the open request is known to be gone.
    var knowsHolderIsGone: Bool {
      guard case .restore(let facts) = self else { return false }
      return facts.isHolderGone
    }

    /// What was to be journaled before a stored token had to be announced.
    var asked: Purpose {
      if case .recover(let purpose) = self { purpose.asked } else { self }
    }

    /// The failure that it journals, where it journals one.
    var failure: RequestFailure? {
      switch self {
      case .fail(let failure, _, _), .profileEndsSession(_, let failure): return failure
      default: return nil
      }
    }
  }

  let purpose: Purpose
  let contents: [SessionRecord.Content]
  /// When it was asked for.
  let moment: ClockReading
  /// The request that was on the wire then.
  let request: RequestNumber?

  var time: Timestamp { moment.time }

  /// The token whose revocation the batch opens, where it opens one.
  var pendingRevocation: Generation? {
    for case .note(.revocationPending(let generation)) in contents { return generation }
    return nil
  }
}

extension PendingCommit {
  /// Whether the batch says of this request that nobody knows what became of it.
  func loses(_ request: OpenIntents.Request) -> Bool {
    contents.contains { content in
      switch content {
      case .event(.refreshFailed(let failed)):
        failed.request == request.sequence && failed.failure.kind == .noReply
      case .note(.requestEnded(let ended)):
        ended.request == request.sequence && ended.failure.kind == .noReply
      default: false
      }
    }
  }
}

/// What kept an answer from being stored.
struct StorageObstacle: Hashable, Sendable {
  let cause: StorageCause
  /// Whether the token item holds the answer's token: then only its event is missing.
  let isStored: Bool
}

/// How long something about another process's request holds.
struct Lease: Hashable, Sendable {
  /// The sequence of its note.
  let request: UInt64
  /// On the clock that never jumps, in milliseconds.
  let end: Int64
}

/// The pause after a refresh that a server answered with a failure.
///
/// A failure of the network makes none, and does not shorten one that a server asked for. Requests that ended
/// their process twice in a row make one, too.
///
/// - Requirement: REF-14
struct Backoff: Hashable, Sendable {
  /// What callers receive during the pause.
  let failure: RequestFailure
  /// On the clock that never jumps, in milliseconds.
  let end: Int64
  /// Whether it also holds for an app that comes to the foreground.
  var isForAll = false
}

/// A look at the journal that was asked for and has not ended.
struct ReadBarrier: Hashable, Sendable {
  /// What is answered after it; `nil` where the look is for another process's request.
  let question: SessionInput?
  /// When it was asked for, on the clock that never jumps, in milliseconds.
  let asked: Int64
}

/// A logout on its way: the event is durable, the rest is still to be done.
struct PendingLogout: Hashable, Sendable {
  /// Who waits for it, unless the wait was cancelled.
  var caller: Caller?
  /// The token to be revoked; `nil` where there is none.
  let generation: Generation?
  /// Whether every stored item could be removed.
  var isWiped = true
  /// Whether the wipe has ended and the server is being told.
  var isTelling = false
}
