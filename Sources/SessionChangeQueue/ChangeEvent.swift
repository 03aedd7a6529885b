@_spi(Internals) public import SessionCore

/// What a change log's record says (`Specs/ChangeLog.md`).
public enum ChangeEvent: Hashable, Sendable {
  /// A change was taken in: from here it is not lost.
  case added(Added)
  /// It is about to be sent.
  case sent(Sent)
  /// The server has taken it.
  case acknowledged(Identifier)
  /// It could not be done now and is tried again.
  case postponed(Postponed)
  /// It is not tried any more.
  case givenUp(GivenUp)
  /// It is wanted no more.
  case discarded(Discarded)
  /// When the user's status last changed at the server, as this scope knows.
  ///
  /// - Requirement: SYN-4
  case scopeChecked(ScopeChecked)
  /// The changes that are added from here on come through this sign-in.
  case addedBy(SignIn)
  /// A session is being logged out, and nothing waits: nothing is taken in through it for a while.
  case leaving(PendingLogout)
  /// That sign-in, and all before it in the same journal, was ended for good.
  case signInEnded(SignIn)
  /// A change that was given up is tried again.
  case retried(Identifier)

  /// A change, and whose it is.
  public struct Added: Hashable, Sendable {
    /// The user who made it.
    public let user: Identifier
    /// The change.
    public let change: Change

    /// A change of a user.
    public init(user: Identifier, change: Change) {
      self.user = user
      self.change = change
    }
  }

  /// Who sends what, and until when others let it.
  public struct Sent: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// Which opened log sends it.
    public let sender: Identifier
    /// The system's number of its process.
    public let process: UInt32
    /// Until when nobody else sends it, unless the process is gone.
    public let deadline: Timestamp

    /// A sending.
    public init(key: Identifier, sender: Identifier, process: UInt32, deadline: Timestamp) {
      self.key = key
      self.sender = sender
      self.process = process
      self.deadline = deadline
    }
  }

  /// Why it was not done, and when it is tried again.
  public struct Postponed: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// Whether it counts among the attempts after which it is given up: only what a server answered does.
    public let isCounted: Bool
    /// When it is tried again.
    public let retryAt: Timestamp
    /// Why, in the sender's words.
    public let reason: String

    /// A postponement.
    public init(key: Identifier, isCounted: Bool, retryAt: Timestamp, reason: String) {
      self.key = key
      self.isCounted = isCounted
      self.retryAt = retryAt
      self.reason = reason.kept
    }
  }

  /// Why it is not tried any more.
  public struct GivenUp: Hashable, Sendable {
    /// The change's key.
    public let key: Identifier
    /// Whose decision it was.
    public let cause: DeadLetterCause
    /// Why, in the sender's words.
    public let reason: String

    /// A giving up.
    public init(key: Identifier, cause: DeadLetterCause, reason: String) {
      self.key = key
      self.cause = cause
      self.reason = reason.kept
    }
  }

  /// What is wanted no more.
  public struct Discarded: Hashable, Sendable {
    /// The key of one change, pending or given up; `nil` for all.
    public let key: Identifier?
    /// Why.
    public let cause: DiscardCause

    /// A discarding.
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

    /// A scope's knowledge.
    public init(scope: String, statusChangedAt: Timestamp) {
      self.scope = scope
      self.statusChangedAt = statusChangedAt
    }
  }

  /// Who logs out, and until when nothing is taken in through that session.
  public struct PendingLogout: Hashable, Sendable {
    /// The session's journal.
    public let journal: Identifier
    /// The system's number of the process that logs out.
    public let process: UInt32
    /// Until when; the time of the record where it came to nothing.
    public let until: Timestamp

    /// A logout that is under way.
    public init(journal: Identifier, process: UInt32, until: Timestamp) {
      self.journal = journal
      self.process = process
      self.until = until
    }
  }

  /// The byte in the journal.
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

    /// The name in the page and in tools.
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

  /// What kind it is.
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

/// Whose decision it was to try no more.
public struct DeadLetterCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The server refused it, and will again.
  public static let refused = DeadLetterCause(rawValue: 0)
  /// It failed as often as the policy allows.
  public static let attemptsExhausted = DeadLetterCause(rawValue: 1)
  /// It was found in a damaged log, which does not show how it ended.
  public static let endUnknown = DeadLetterCause(rawValue: 2)
}

@_spi(Internals) extension DeadLetterCause: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["refused", "attemptsExhausted", "endUnknown"]
}

/// Why a change is wanted no more.
public struct DiscardCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The session was closed for good.
  ///
  /// - Requirement: OUT-3
  public static let logout = DiscardCause(rawValue: 0)
  /// The app asked.
  public static let app = DiscardCause(rawValue: 1)
}

@_spi(Internals) extension DiscardCause: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["logout", "app"]
}

extension String {
  /// As much of a reason as a log keeps: 512 characters.
  fileprivate var kept: String {
    utf8.count <= 512 ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(512)))
  }
}
