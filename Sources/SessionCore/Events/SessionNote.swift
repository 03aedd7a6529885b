/// A journaled remark that explains and changes nothing: the fold passes over it, `why` reads it.
@_spi(Internals) public enum SessionNote: Hashable, Sendable {
  /// A process opened the journal.
  case opened(Opened)
  /// A process closed it in good order.
  case closed
  /// Opening cut an unacknowledged tail off the file and kept it aside.
  case tailCut(TailCut)
  /// An intent: a request that may change the token is about to be sent.
  case requestSent(RequestSent)
  /// The end of such a request where no event ends it.
  case requestEnded(RequestEnded)
  /// The event that follows in this batch was missing: its token was stored before a crash.
  ///
  /// - Requirement: REF-7
  case tokenRecovered(Generation)
  /// An intent: the server is still to be told of the logout of this token.
  ///
  /// - Requirement: OUT-1
  case revocationPending(Generation)
  /// How telling it went.
  case revocationSettled(RevocationSettled)
  /// Stored secrets were wiped that no journaled session owns.
  case secretsWiped(WipeCause)
  /// A stored item could not be read as what it should be; its bytes were kept aside.
  case itemUnreadable(SecretItem)
  /// This journal goes on where another one does not.
  ///
  /// - Requirement: RES-5, RES-6
  case continued(Continued)
  /// This device's civil time is so many milliseconds ahead of the server's, behind it below 0; noted
  /// when that has changed by more than a bound.
  ///
  /// - Requirement: REF-8
  case clockSkew(Int64)
  /// The app has cleared its local data after a logout.
  ///
  /// - Requirement: SYN-5
  case localDataCleared
  /// The secret store failed: the first failure of a run.
  ///
  /// - Requirement: STO-5
  case storageFailed(StorageFailed)
  /// The secret store does again what it did not.
  ///
  /// - Requirement: STO-5
  case storageRecovered(StorageRecovered)
  /// The journal is closed, and the answer to a request could not be stored.
  ///
  /// - Requirement: REF-11
  case answerDropped(AnswerDropped)
  /// The answer to this request held a token that is not used: another process's token came first.
  case answerUnused(UInt64)

  /// The payload of `opened`.
  public struct Opened: Hashable, Sendable {
    /// The system's number of the process.
    public let process: UInt32
    /// Which start of the system, where it can be told.
    public let boot: Identifier?
    /// Milliseconds on the clock that never jumps, when this was written.
    public let uptime: Int64
    /// Which version of the app it was, where the app said so.
    public let app: AppVersion?
    /// Which opening it is; `nil` in journals of versions that did not write it.
    public let identity: ProcessIdentity?

    /// An opening.
    public init(
      process: UInt32, boot: Identifier?, uptime: Int64, app: AppVersion? = nil,
      identity: ProcessIdentity? = nil
    ) {
      self.process = process
      self.boot = boot
      self.uptime = uptime
      self.app = app
      self.identity = identity
    }
  }

  /// The payload of `tailCut`.
  public struct TailCut: Hashable, Sendable {
    /// How many bytes were cut off.
    public let bytes: UInt64
    /// Whether they may have been acknowledged (undetermined), not certainly unacknowledged (torn).
    public let isUndetermined: Bool

    /// A cut.
    public init(bytes: UInt64, isUndetermined: Bool) {
      self.bytes = bytes
      self.isUndetermined = isUndetermined
    }
  }

  /// The payload of `requestSent`: the lease under which the request is made.
  ///
  /// - Requirement: REF-3
  public struct RequestSent: Hashable, Sendable {
    /// What is requested.
    public let kind: RequestKind
    /// The token that it is made with.
    public let generation: Generation
    /// What made a refresh start; `manual` for a switch.
    public let trigger: RefreshTrigger
    /// Which attempt since the last success, from 1.
    public let attempt: UInt32
    /// The process that sends it.
    public let process: UInt32
    /// Until when others wait for its end.
    public let deadline: Timestamp
    /// The opening that sends it; `nil` in journals of versions that did not write it.
    public let identity: ProcessIdentity?

    /// A request.
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
    /// How it failed.
    public let failure: RequestFailure

    /// An end.
    public init(request: UInt64, failure: RequestFailure) {
      self.request = request
      self.failure = failure
    }
  }

  /// The payload of `answerDropped`.
  public struct AnswerDropped: Hashable, Sendable {
    /// The sequence of its `requestSent`.
    public let request: UInt64
    /// What kept the answer from being stored.
    public let cause: StorageCause

    /// An answer that was lost on this device.
    public init(request: UInt64, cause: StorageCause) {
      self.request = request
      self.cause = cause
    }
  }

  /// The payload of `revocationSettled`.
  public struct RevocationSettled: Hashable, Sendable {
    /// The token that was to be revoked.
    public let generation: Generation
    /// How it went.
    public let outcome: RevocationOutcome
    /// The HTTP status, 0 where none came.
    public let status: UInt16

    /// An outcome.
    public init(generation: Generation, outcome: RevocationOutcome, status: UInt16) {
      self.generation = generation
      self.outcome = outcome
      self.status = status
    }
  }

  /// The payload of `continued`.
  public struct Continued: Hashable, Sendable {
    /// The other journal's identifier; `nil` where it could not be read.
    public let journal: Identifier?
    /// The sequence of the last record of it that could be read; 0 for none.
    public let sequence: UInt64
    /// Why it does not go on.
    public let cause: SessionCore.ContinuationCause

    /// A link to another journal.
    public init(journal: Identifier?, sequence: UInt64, cause: SessionCore.ContinuationCause) {
      self.journal = journal
      self.sequence = sequence
      self.cause = cause
    }
  }

  /// Why a journal does not go on and another one does.
  package typealias ContinuationCause = SessionCore.ContinuationCause

  /// Why secrets were wiped that no session owns.
  public struct WipeCause: OpenEnum {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The journal says signed out: a crash came between the logout and its wipe.
    public static let signedOut = WipeCause(rawValue: 0)
    /// They belong to another journal.
    ///
    /// - Requirement: RES-5
    public static let otherJournal = WipeCause(rawValue: 1)
    /// They cannot be read, and nobody is signed in.
    public static let unreadable = WipeCause(rawValue: 2)

    /// The word for each byte, from 0.
    public static let words = ["signedOut", "otherJournal", "unreadable"]
  }

  /// Which note, without its payload.
  ///
  /// Bit 7 of the byte says that a reader may ignore it.
  public enum Kind: UInt8, CaseIterable, Sendable, CustomStringConvertible {
    /// A process opened the journal.
    case opened = 0x81
    /// A process closed it in good order.
    case closed = 0x82
    /// An unacknowledged tail was cut off.
    case tailCut = 0x83
    /// A request is about to be sent.
    case requestSent = 0x84
    /// A request ended without an event.
    case requestEnded = 0x85
    /// The next event was missing and is appended now.
    case tokenRecovered = 0x86
    /// The server is still to be told of a logout.
    case revocationPending = 0x87
    /// How telling it went.
    case revocationSettled = 0x88
    /// Secrets that no session owns were wiped.
    case secretsWiped = 0x89
    /// A stored item could not be read.
    case itemUnreadable = 0x8A
    /// Another journal does not go on, and this one does.
    case continued = 0x8B
    /// How far this device's civil time is from the server's.
    case clockSkew = 0x8C
    /// The app has cleared its local data after a logout.
    case localDataCleared = 0x8F
    /// The secret store failed.
    case storageFailed = 0x90
    /// The secret store does again what it did not.
    case storageRecovered = 0x91
    /// An answer could not be stored before the journal was closed.
    case answerDropped = 0x92
    /// An answer held a token that came too late.
    case answerUnused = 0x93

    /// The name as code and journal tools spell it.
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
      }
    }
  }

  /// Which note this is.
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
    }
  }
}
