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
