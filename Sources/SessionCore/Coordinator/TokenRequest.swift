/// The single request that may change the token; there is never a second one.
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
  /// The token with which the request is made; for a login, the last one there was.
  let base: Generation
  /// The sequence of its `requestSent`; 0 until that is durable.
  var note: UInt64 = 0
  /// The response, if it has arrived but could not be journaled yet; the caller has been notified.
  var unsettled: ReceivedResponse?
  /// Why that response could not be stored.
  var obstacle: StorageObstacle?
  /// How often storing that response has failed since a caller asked to close.
  var failuresAtClose = 0
  /// Whether it is sent only after another read of the journal.
  ///
  /// It supersedes a request whose process is not proven gone.
  ///
  /// - Requirement: REF-10
  var isHeldBack = false
  /// Whether the shell was allowed to send it.
  ///
  /// - Requirement: REF-11
  var hasLeft = false

  /// A response and its arrival, from which the token's lifetime counts.
  ///
  /// - Requirement: REF-8
  struct ReceivedResponse: Hashable, Sendable {
    let number: RequestNumber
    let facts: ResponseMetadata
    let moment: ClockReading

    /// When its token expires, on the clock that never jumps.
    var deadline: Int64 { moment.uptime.addingSaturating(facts.lifetime) }

    /// The latest end of the session that the response states, on the clock that never jumps; `nil`
    /// for none.
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

  /// Whether its intent is durable, but nothing of it was sent.
  var isUnsent: Bool { note != 0 && !hasLeft }

  /// Whether its response or its failure has arrived.
  var isAnswered = false

  /// Whether it was sent and has no response yet.
  var isOnTheWire: Bool { hasLeft && !isAnswered }

  /// The caller for which it was started, unless that has had its reply; `nil` for a refresh.
  var owner: Caller? {
    guard unsettled == nil else { return nil }
    return switch purpose {
    case .login(let caller, _), .switchContext(let caller): caller
    case .refresh: nil
    }
  }
}

/// A commit that was requested and has not ended, with its purpose, so that it can be decided anew.
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
    /// To note failures of the secret store.
    case storage
    case revoked(Generation, RevocationOutcome, status: UInt16)
    /// To note the ends of requests that no event records.
    case endings
    case close(Caller)
    /// To announce a token that was found in the store when `Purpose` was to be journaled.
    case recover(Purpose)

    /// Whether the process that sent the open request is known to be gone.
    var knowsHolderIsGone: Bool {
      guard case .restore(let facts) = self else { return false }
      return facts.isHolderGone
    }

    /// The purpose before a stored token had to be announced.
    var asked: Purpose {
      if case .recover(let purpose) = self { purpose.asked } else { self }
    }

    /// The failure that the batch journals; `nil` if it journals none.
    var failure: RequestFailure? {
      switch self {
      case .fail(let failure, _, _), .profileEndsSession(_, let failure): return failure
      default: return nil
      }
    }
  }

  let purpose: Purpose
  let contents: [SessionRecord.Content]
  /// When it was requested.
  let moment: ClockReading
  /// The request that was under way then.
  let request: RequestNumber?

  var time: Timestamp { moment.time }

  /// The token whose revocation the batch opens; `nil` for none.
  var pendingRevocation: Generation? {
    for case .note(.revocationPending(let generation)) in contents { return generation }
    return nil
  }
}

extension PendingCommit {
  /// Whether the batch says that the outcome of this request is unknown.
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

/// Why a response could not be stored.
struct StorageObstacle: Hashable, Sendable {
  let cause: StorageCause
  /// Whether the token item holds the response's token, so that only its event is missing.
  let isStored: Bool
}
