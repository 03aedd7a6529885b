/// A record that explains a session's history but does not change its state.
@_spi(Internals) public enum SessionNote: Hashable, Sendable {
  /// A process opened the journal.
  case opened(Opened)
  /// A process closed the journal properly.
  case closed
  /// Opening cut an unacknowledged tail off the file and kept a copy.
  case tailCut(TailCut)
  /// An intent: a request that may replace the token is about to be sent.
  case requestSent(RequestSent)
  /// The end of such a request, if no event ends it.
  case requestEnded(RequestEnded)
  /// The next event in this batch was missing: its token was stored before a crash.
  ///
  /// - Requirement: REF-7
  case tokenRecovered(Generation)
  /// An intent: the token of a logout is still to be revoked at the server.
  ///
  /// - Requirement: OUT-1
  case revocationPending(Generation)
  /// The outcome of a revocation.
  case revocationSettled(RevocationSettled)
  /// Stored secrets were wiped that belong to no journaled session.
  case secretsWiped(WipeCause)
  /// A stored item could not be decoded; its bytes were kept aside.
  case itemUnreadable(SecretItem)
  /// This journal continues another one.
  ///
  /// - Requirement: RES-5, RES-6
  case continued(Continued)
  /// The device's civil time minus the server's, in milliseconds.
  ///
  /// Noted when it has changed by more than a threshold.
  ///
  /// - Requirement: REF-8
  case clockSkew(Int64)
  /// The app has cleared its local data after a logout.
  ///
  /// - Requirement: SYN-5
  case localDataCleared
  /// The session was at another place until now. The records before are a copy of those there.
  ///
  /// - Requirement: ACC-3
  case moved
  /// The secret store failed: the first of consecutive failures.
  ///
  /// - Requirement: STO-5
  case storageFailed(StorageFailed)
  /// An operation of the secret store succeeded again after a failure.
  ///
  /// - Requirement: STO-5
  case storageRecovered(StorageRecovered)
  /// The journal was closed before the response to a request could be stored.
  ///
  /// - Requirement: REF-11
  case answerDropped(AnswerDropped)
  /// The response to this request held a token that is not used: another process's token came
  /// first.
  case answerUnused(UInt64)
  /// The device's clock measured the lifetime of this token, or the end of its session.
  ///
  /// The response had no `Date`, and the app allows it.
  ///
  /// - Requirement: REF-8
  case deviceClockUsed(Generation)
  /// The server goes on only with the user.
  ///
  /// - Requirement: STA-9
  case userNeeded(UserNeeded)
  /// The server keeps a refresh token for this long after it was issued.
  ///
  /// It is noted with the first token, and with each one for which the time is another.
  ///
  /// - Requirement: REF-16
  case refreshTokenLife(RefreshTokenLife)
  /// No caller receives a token until ``unlocked``; the session goes on.
  ///
  /// - Requirement: ACC-2
  case locked(LockReason)
  /// The user has proven their presence: callers receive tokens again.
  case unlocked
  /// The server bound the session's tokens to a key.
  ///
  /// It is noted with the first token, and with each one for which the key is another.
  ///
  /// - Requirement: INT-9
  case tokensBound(TokensBound)

  /// The payload of `opened`.
  public struct Opened: Hashable, Sendable {
    /// The process number.
    public let process: UInt32
    /// The boot of the system; `nil` if the system does not tell.
    public let boot: Identifier?
    /// The time of the clock that never jumps when this was written, in milliseconds.
    public let uptime: Int64
    /// The version of the app; `nil` if the app did not give one.
    public let app: AppVersion?
    /// The identity of the opening; `nil` in journals of versions that did not write it.
    public let identity: ProcessIdentity?
    /// The kind of system; `nil` in journals of versions that did not write it.
    public let platform: Platform?
    /// The policy of the opening; `nil` in journals of versions that did not write it.
    public let policy: RecordedPolicy?

    /// Creates an opening.
    ///
    /// A platform or a policy without an identity is left out: each version that writes one writes an
    /// identity.
    @inlinable
    public init(
      process: UInt32, boot: Identifier?, uptime: Int64, app: AppVersion? = nil,
      identity: ProcessIdentity? = nil, platform: Platform? = nil, policy: RecordedPolicy? = nil
    ) {
      self.process = process
      self.boot = boot
      self.uptime = uptime
      self.app = app
      self.identity = identity
      self.policy = identity == nil ? nil : policy
      // Beside a policy, 255 means no platform (`Specs/EventCodec.md`).
      let isAbsent = identity == nil || self.policy != nil && platform?.rawValue == .max
      self.platform = isAbsent ? nil : platform
    }

    /// Returns the note as it is written at this uptime.
    package func written(at uptime: Int64) -> Opened {
      Opened(
        process: process, boot: boot, uptime: uptime, app: app, identity: identity,
        platform: platform, policy: policy)
    }
  }

  /// The payload of `tailCut`.
  public struct TailCut: Hashable, Sendable {
    /// The number of bytes that were cut.
    public let bytes: UInt64
    /// Whether they may have been acknowledged (undetermined), or certainly were not (torn).
    public let isUndetermined: Bool

    /// Creates a cut.
    @inlinable
    public init(bytes: UInt64, isUndetermined: Bool) {
      self.bytes = bytes
      self.isUndetermined = isUndetermined
    }
  }

  /// The payload of `requestSent`: the lease under which the request is made.
  ///
  /// - Requirement: REF-3
  public struct RequestSent: Hashable, Sendable {
    /// The kind of the request.
    public let kind: RequestKind
    /// The token with which it is made.
    public let generation: Generation
    /// What started a refresh; `manual` for a switch.
    public let trigger: RefreshTrigger
    /// The number of the attempt since the last success, from 1.
    public let attempt: UInt32
    /// The process that sends it.
    public let process: UInt32
    /// The time until which other processes wait for its end.
    public let deadline: Timestamp
    /// The opening that sends it; `nil` in journals of versions that did not write it.
    public let identity: ProcessIdentity?

    /// Creates a request.
    @inlinable
    public init(
      kind: RequestKind, generation: Generation, trigger: RefreshTrigger, attempt: UInt32,
      process: UInt32, deadline: Timestamp, identity: ProcessIdentity? = nil
    ) {
      self.kind = kind
      self.generation = generation
      self.trigger = trigger
      self.attempt = attempt
      self.process = process
      self.deadline = deadline
      self.identity = identity
    }
  }

  /// The payload of `requestEnded`.
  public struct RequestEnded: Hashable, Sendable {
    /// The sequence of its `requestSent`.
    public let request: UInt64
    /// How the request failed.
    public let failure: RequestFailure

    /// Creates the end of a request.
    @inlinable
    public init(request: UInt64, failure: RequestFailure) {
      self.request = request
      self.failure = failure
    }
  }

  /// The payload of `answerDropped`.
  public struct AnswerDropped: Hashable, Sendable {
    /// The sequence of its `requestSent`.
    public let request: UInt64
    /// Why the response could not be stored.
    public let cause: StorageCause

    /// Creates the payload for a response that was lost on this device.
    @inlinable
    public init(request: UInt64, cause: StorageCause) {
      self.request = request
      self.cause = cause
    }
  }

  /// The payload of `revocationSettled`.
  public struct RevocationSettled: Hashable, Sendable {
    /// The token that was to be revoked.
    public let generation: Generation
    /// The outcome.
    public let outcome: RevocationOutcome
    /// The HTTP status; 0 without a response.
    public let status: UInt16

    /// Creates the outcome of a revocation.
    @inlinable
    public init(generation: Generation, outcome: RevocationOutcome, status: UInt16) {
      self.generation = generation
      self.outcome = outcome
      self.status = status
    }
  }

  /// The payload of `userNeeded`.
  public struct UserNeeded: Hashable, Sendable {
    /// The token that was refreshed, or with which the call was made.
    public let generation: Generation
    /// Whether a call was refused, and not a refresh.
    public let isOfCall: Bool
    /// How the server refused.
    public let failure: RequestFailure
    /// What it asked for; `nil` if it named nothing.
    public let demand: AuthenticationDemand?

    /// Creates a need.
    @inlinable
    public init(
      generation: Generation, isOfCall: Bool, failure: RequestFailure,
      demand: AuthenticationDemand? = nil
    ) {
      self.generation = generation
      self.isOfCall = isOfCall
      self.failure = failure
      self.demand = demand
    }
  }

  /// The payload of `refreshTokenLife`.
  public struct RefreshTokenLife: Hashable, Sendable {
    /// The token whose response said so.
    public let generation: Generation
    /// How long its refresh token is accepted, in milliseconds from the token's issue.
    public let milliseconds: Int64

    /// Creates the lifetime of a refresh token.
    @inlinable
    public init(generation: Generation, milliseconds: Int64) {
      self.generation = generation
      self.milliseconds = milliseconds
    }
  }

  /// The payload of `tokensBound`.
  public struct TokensBound: Hashable, Sendable {
    /// The token whose response said so.
    public let generation: Generation
    /// The thumbprint of the public key (RFC 7638), in base64url.
    public let thumbprint: Identifier

    /// Creates the binding of a token to a key.
    @inlinable
    public init(generation: Generation, thumbprint: Identifier) {
      self.generation = generation
      self.thumbprint = thumbprint
    }
  }

  /// The payload of `continued`.
  public struct Continued: Hashable, Sendable {
    /// The other journal's identifier; `nil` if it could not be read.
    public let journal: Identifier?
    /// The sequence of its last record that could be read; 0 for none.
    public let sequence: UInt64
    /// Why this journal continues it.
    public let cause: SessionCore.ContinuationCause

    /// Creates a link to another journal.
    @inlinable
    public init(journal: Identifier?, sequence: UInt64, cause: SessionCore.ContinuationCause) {
      self.journal = journal
      self.sequence = sequence
      self.cause = cause
    }
  }

  /// Why a new journal continues another one.
  package typealias ContinuationCause = SessionCore.ContinuationCause

  /// Why secrets were wiped that belong to no session.
  public struct WipeCause: OpenEnum {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The journal has no session: a crash came between the logout and its wipe.
    public static let signedOut = WipeCause(rawValue: 0)
    /// They belong to another journal.
    ///
    /// - Requirement: RES-5
    public static let otherJournal = WipeCause(rawValue: 1)
    /// They cannot be decoded, and no user is logged in.
    public static let unreadable = WipeCause(rawValue: 2)

    /// The name of each byte, from 0.
    public static let words = ["signedOut", "otherJournal", "unreadable"]
  }

  /// The type of a note, without its payload.
  ///
  /// Bit 7 of the byte says that a reader may skip it.
  public enum Kind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// A process opened the journal.
    case opened = 0x81
    /// A process closed the journal properly.
    case closed = 0x82
    /// An unacknowledged tail was cut off.
    case tailCut = 0x83
    /// A request is about to be sent.
    case requestSent = 0x84
    /// A request ended without an event.
    case requestEnded = 0x85
    /// The next event was missing and is appended now.
    case tokenRecovered = 0x86
    /// The token of a logout is still to be revoked.
    case revocationPending = 0x87
    /// The outcome of a revocation.
    case revocationSettled = 0x88
    /// Secrets that belong to no session were wiped.
    case secretsWiped = 0x89
    /// A stored item could not be decoded.
    case itemUnreadable = 0x8A
    /// This journal continues another one.
    case continued = 0x8B
    /// The device's civil time minus the server's.
    case clockSkew = 0x8C
    /// The app has cleared its local data after a logout.
    case localDataCleared = 0x8F
    /// The secret store failed.
    case storageFailed = 0x90
    /// An operation of the secret store succeeded again after a failure.
    case storageRecovered = 0x91
    /// A response could not be stored before the journal was closed.
    case answerDropped = 0x92
    /// A response held a token that came too late.
    case answerUnused = 0x93
    /// The device's clock measured a lifetime.
    case deviceClockUsed = 0x95
    /// The server goes on only with the user.
    case userNeeded = 0x96
    /// How long the server keeps a refresh token.
    case refreshTokenLife = 0x99
    /// No caller receives a token.
    case locked = 0x9A
    /// Callers receive tokens again.
    case unlocked = 0x9B
    /// The tokens are bound to a key.
    case tokensBound = 0x9C
    /// The session was at another place until now.
    case moved = 0x9D

    /// The name, as in the code and in the journal's tools.
    public var description: String {
      switch self {
      case .opened: "opened"
      case .closed: "closed"
      case .tailCut: "tailCut"
      case .requestSent: "requestSent"
      case .requestEnded: "requestEnded"
      case .tokenRecovered: "tokenRecovered"
      case .revocationPending: "revocationPending"
      case .revocationSettled: "revocationSettled"
      case .secretsWiped: "secretsWiped"
      case .itemUnreadable: "itemUnreadable"
      case .continued: "continued"
      case .clockSkew: "clockSkew"
      case .localDataCleared: "localDataCleared"
      case .storageFailed: "storageFailed"
      case .storageRecovered: "storageRecovered"
      case .answerDropped: "answerDropped"
      case .answerUnused: "answerUnused"
      case .deviceClockUsed: "deviceClockUsed"
      case .userNeeded: "userNeeded"
      case .refreshTokenLife: "refreshTokenLife"
      case .locked: "locked"
      case .unlocked: "unlocked"
      case .tokensBound: "tokensBound"
      case .moved: "moved"
      }
    }
  }

  /// The type of the note.
  public var kind: Kind {
    switch self {
    case .opened: .opened
    case .closed: .closed
    case .tailCut: .tailCut
    case .requestSent: .requestSent
    case .requestEnded: .requestEnded
    case .tokenRecovered: .tokenRecovered
    case .revocationPending: .revocationPending
    case .revocationSettled: .revocationSettled
    case .secretsWiped: .secretsWiped
    case .itemUnreadable: .itemUnreadable
    case .continued: .continued
    case .clockSkew: .clockSkew
    case .localDataCleared: .localDataCleared
    case .storageFailed: .storageFailed
    case .storageRecovered: .storageRecovered
    case .answerDropped: .answerDropped
    case .answerUnused: .answerUnused
    case .deviceClockUsed: .deviceClockUsed
    case .userNeeded: .userNeeded
    case .refreshTokenLife: .refreshTokenLife
    case .locked: .locked
    case .unlocked: .unlocked
    case .tokensBound: .tokensBound
    case .moved: .moved
    }
  }
}
