/// Which input is decided now, and which inputs wait.
///
/// ```
///               begin(commit)                committed, conflicted, commitFailed, superseded
///            ┌────────────────▶ committing ─────────────────────────────────────┐
///  deciding ─┤                                                                  ├─▶ deciding
///   ▲        └────────────────▶ reading ────────────────────────────────────────┘      │
///   │           begin(read)                  observed, unobserved                      │
///   └──────────────────────────── the inputs that waited, in order ────────────────────┘
/// ```
///
/// A batch is decided on the fold of everything before it. So nothing else is decided until the batch is
/// durable or refused. A read of the journal comes before a decision that depends on what others appended.
struct InputSequencer: Hashable, Sendable {
  private enum State: Hashable, Sendable {
    /// Exits: `committing`, `reading`.
    case deciding
    /// Exits: `deciding`, when the batch is durable, refused or decided again.
    case committing(PendingCommit)
    /// Exits: `deciding`, when the journal was read, or could not be read.
    case reading(ReadBarrier)
  }

  private var state = State.deciding
  private var waiting = InputQueue()

  /// Whether an input can be decided now.
  var isDeciding: Bool {
    if case .deciding = state { true } else { false }
  }

  /// The commit that was requested and has not ended.
  var commit: PendingCommit? {
    if case .committing(let commit) = state { commit } else { nil }
  }

  /// The read of the journal that was requested and has not ended.
  var read: ReadBarrier? {
    if case .reading(let read) = state { read } else { nil }
  }

  /// Returns whether an input is decided now; if not, it waits.
  mutating func admits(_ input: SessionInput) -> Bool {
    let isAdmitted =
      switch state {
      case .deciding: true
      case .committing: input.endsCommit
      case .reading: input.endsLook
      }
    if !isAdmitted { waiting.append(input) }
    return isAdmitted
  }

  mutating func begin(_ commit: PendingCommit) { state = .committing(commit) }

  mutating func begin(_ read: ReadBarrier) { state = .reading(read) }

  /// Ends the commit; returns `nil` if there was none.
  mutating func endCommit() -> PendingCommit? {
    guard let commit else { return nil }
    state = .deciding
    return commit
  }

  /// Ends the read; returns `nil` if there was none.
  mutating func endRead() -> ReadBarrier? {
    guard let read else { return nil }
    state = .deciding
    return read
  }

  /// Returns the input that waited longest, if it can be decided now.
  mutating func next() -> SessionInput? {
    isDeciding ? waiting.takeFirst() : nil
  }
}

/// A read of the journal that was requested and has not ended.
struct ReadBarrier: Hashable, Sendable {
  /// The command that is decided afterwards; `nil` if the read is for another process's request.
  let question: SessionInput?
  /// When it was requested, on the clock that never jumps, in milliseconds.
  let asked: Int64
}

/// A queue of waiting inputs; removing the first one moves no other.
private struct InputQueue: Hashable, Sendable {
  private var inputs: [SessionInput] = []
  private var start = 0

  mutating func append(_ input: SessionInput) {
    inputs.append(input)
  }

  mutating func takeFirst() -> SessionInput? {
    guard start < inputs.count else { return nil }
    let first = inputs[start]
    start += 1
    if start == inputs.count {
      inputs.removeAll(keepingCapacity: true)
      start = 0
    }
    return first
  }
}

/// A commit that was requested and has not ended.
///
/// Its purpose is kept. If other processes appended first, the purpose is decided again.
struct PendingCommit: Hashable, Sendable {
  indirect enum Purpose: Hashable, Sendable {
    case restore(StoredItemsReport)
    case send
    case settle(TokenRequest.ReceivedResponse)
    /// To end the session that the response to a login replaces; the response is settled afterwards.
    case replace(TokenRequest.ReceivedResponse)
    case fail(RequestFailure, jitter: UInt16, delay: Int64?)
    /// To end the session; the reason is `nil` if it is logged out without an expiry.
    case expire(ExpiryReason?)
    case logout(Caller, LogoutScope)
    case profileEndsSession(Identifier, RequestFailure, token: Generation?)
    case note
    /// To note that a call needs the user.
    case need(SessionNote.UserNeeded)
    /// To note a lock; the app has asked for it unless the caller is `nil`.
    case lock(Caller?)
    /// To unlock after the check with this number.
    case unlock(Caller, UInt64)
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
      case .fail(let failure, _, _), .profileEndsSession(_, let failure, _): return failure
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
