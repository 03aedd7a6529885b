@_spi(Internals) public import SessionCore

/// An event in a record of a change log (`Specs/ChangeLog.md`).
public enum ChangeEvent: Hashable, Sendable {
  /// A change was added.
  ///
  /// It is not lost after this.
  case added(Added)
  /// A change is about to be sent.
  case sent(Sent)
  /// The server has accepted a change.
  case acknowledged(Identifier)
  /// A change could not be sent now and is tried again.
  case postponed(Postponed)
  /// A change became a dead letter.
  case givenUp(GivenUp)
  /// A change was discarded.
  case discarded(Discarded)
  /// A scope learned when the user's status last changed at the server.
  ///
  /// - Requirement: SYN-4
  case scopeChecked(ScopeChecked)
  /// The changes that are added after this belong to this sign-in.
  case addedBy(SignIn)
  /// A session is being logged out, and nothing is pending.
  ///
  /// For a time nothing is accepted through it.
  case leaving(PendingLogout)
  /// This sign-in, and all earlier ones of the same journal, ended permanently.
  case signInEnded(SignIn)
  /// A dead letter is retried.
  case retried(Identifier)

  /// A change with its user.
  public struct Added: Hashable, Sendable {
    /// The user who made it.
    public let user: Identifier
    /// The change.
    public let change: Change

    /// Creates the event of a user's change.
    public init(user: Identifier, change: Change) {
      self.user = user
      self.change = change
    }
  }

  /// The sender of a change, and the end of its lease.
  public struct Sent: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// The opened log that sends the change.
    public let sender: Identifier
    /// The system's number of the sender's process.
    public let process: UInt32
    /// The time until which no other process sends the change, unless the sender's process is gone.
    public let deadline: Timestamp

    /// Creates the event.
    public init(key: Identifier, sender: Identifier, process: UInt32, deadline: Timestamp) {
      self.key = key
      self.sender = sender
      self.process = process
      self.deadline = deadline
    }
  }

  /// Why a change was postponed, and when it is tried again.
  public struct Postponed: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// Whether this counts as an attempt, which it does only if a server responded.
    public let isCounted: Bool
    /// The time of the next attempt.
    public let retryAt: Timestamp
    /// The reason, as a text of the sender.
    public let reason: String

    /// Creates the event.
    public init(key: Identifier, isCounted: Bool, retryAt: Timestamp, reason: String) {
      self.key = key
      self.isCounted = isCounted
      self.retryAt = retryAt
      self.reason = reason.kept
    }
  }

  /// Why a change became a dead letter.
  public struct GivenUp: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// The class of the reason.
    public let cause: DeadLetterCause
    /// The reason, as a text of the sender.
    public let reason: String

    /// Creates the event.
    public init(key: Identifier, cause: DeadLetterCause, reason: String) {
      self.key = key
      self.cause = cause
      self.reason = reason.kept
    }
  }

  /// The changes that were discarded.
  public struct Discarded: Hashable, Sendable {
    /// The key of one change, pending or dead letter; `nil` for all.
    public let key: Identifier?
    /// The reason.
    public let cause: DiscardCause

    /// Creates the event.
    public init(key: Identifier? = nil, cause: DiscardCause) {
      self.key = key
      self.cause = cause
    }
  }

  /// What a scope knows of the user's status.
  public struct ScopeChecked: Hashable, Sendable {
    /// The scope.
    public let scope: String
    /// When the status last changed, on the server's clock.
    public let statusChangedAt: Timestamp

    /// Creates the event.
    public init(scope: String, statusChangedAt: Timestamp) {
      self.scope = scope
      self.statusChangedAt = statusChangedAt
    }
  }

  /// The session that is being logged out, and the time until which nothing is accepted through it.
  public struct PendingLogout: Hashable, Sendable {
    /// The session's journal.
    public let journal: Identifier
    /// The system's number of the process that logs out.
    public let process: UInt32
    /// The end of the hold.
    ///
    /// If the logout did not happen, it is the time of the record.
    public let until: Timestamp

    /// Creates the event.
    public init(journal: Identifier, process: UInt32, until: Timestamp) {
      self.journal = journal
      self.process = process
      self.until = until
    }
  }

  /// The kind byte in the journal.
  public enum Kind: UInt8, Sendable, CaseIterable, CustomStringConvertible {
    /// ``ChangeEvent/added(_:)``
    case added = 0xA0
    /// ``ChangeEvent/sent(_:)``
    case sent = 0xA1
    /// ``ChangeEvent/acknowledged(_:)``
    case acknowledged = 0xA2
    /// ``ChangeEvent/postponed(_:)``
    case postponed = 0xA3
    /// ``ChangeEvent/givenUp(_:)``
    case givenUp = 0xA4
    /// ``ChangeEvent/discarded(_:)``
    case discarded = 0xA5
    /// ``ChangeEvent/scopeChecked(_:)``
    case scopeChecked = 0xA6
    /// ``ChangeEvent/addedBy(_:)``
    case addedBy = 0xA7
    /// ``ChangeEvent/leaving(_:)``
    case leaving = 0xA8
    /// ``ChangeEvent/signInEnded(_:)``
    case signInEnded = 0xA9
    /// ``ChangeEvent/retried(_:)``
    case retried = 0xAA

    /// The name in the specification and in tools.
    public var description: String {
      switch self {
      case .added: "changeAdded"
      case .sent: "changeSent"
      case .acknowledged: "changeAcknowledged"
      case .postponed: "changePostponed"
      case .givenUp: "changeGivenUp"
      case .discarded: "changeDiscarded"
      case .scopeChecked: "scopeChecked"
      case .addedBy: "addedBy"
      case .leaving: "leaving"
      case .signInEnded: "signInEnded"
      case .retried: "changeRetried"
      }
    }
  }

  /// The kind of the event.
  public var kind: Kind {
    switch self {
    case .added: .added
    case .sent: .sent
    case .acknowledged: .acknowledged
    case .postponed: .postponed
    case .givenUp: .givenUp
    case .discarded: .discarded
    case .scopeChecked: .scopeChecked
    case .addedBy: .addedBy
    case .leaving: .leaving
    case .signInEnded: .signInEnded
    case .retried: .retried
    }
  }
}

/// Why a change became a dead letter, as a code.
public struct DeadLetterCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// Creates the code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The server refused the change, and will refuse it again.
  public static let refused = DeadLetterCause(rawValue: 0)
  /// The change failed as often as the policy allows.
  public static let attemptsExhausted = DeadLetterCause(rawValue: 1)
  /// The change was found in a damaged log, which does not show how it ended.
  public static let endUnknown = DeadLetterCause(rawValue: 2)
}

@_spi(Internals) extension DeadLetterCause: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["refused", "attemptsExhausted", "endUnknown"]
}

/// Why a change was discarded, as a code.
public struct DiscardCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// Creates the code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The sign-in ended permanently.
  ///
  /// - Requirement: OUT-3
  public static let logout = DiscardCause(rawValue: 0)
  /// The app discarded the change.
  public static let app = DiscardCause(rawValue: 1)
}

@_spi(Internals) extension DiscardCause: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["logout", "app"]
}

extension String {
  /// The part of a reason that a log stores: 512 characters.
  fileprivate var kept: String {
    utf8.count <= 512 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(512)))
  }
}
