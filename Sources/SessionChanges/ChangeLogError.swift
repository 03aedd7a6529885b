@_spi(Internals) public import SessionCore
public import SessionJournal

/// Why a change log could not perform a request.
///
/// It never contains the content of a change.
///
/// After each error, the changes that were added before are still there.
///
/// - Requirement: STO-3
public enum ChangeLogError: Error, Equatable, Sendable {
  /// The session has expired.
  ///
  /// Nothing is accepted until its user signs in again.
  ///
  /// - Requirement: OUT-3
  case sessionExpired
  /// No user is signed in, so the change would belong to no user.
  case notSignedIn
  /// It is not known who is signed in: the session object is closed, or its stored items cannot be
  /// read yet.
  case notKnown
  /// This number of changes of another user are pending.
  ///
  /// They must be discarded first.
  case othersChanges(Int)
  /// There is no space for another change.
  ///
  /// The values are the number and size of pending changes and dead letters.
  case full(count: Int, bytes: Int)
  /// The content is longer than allowed.
  ///
  /// Both values are in bytes.
  case contentTooLong(bytes: Int, limit: Int)
  /// Another pending change has this key.
  case keyInUse(Identifier)
  /// A dead letter has this key.
  ///
  /// Retry it with ``ChangeLog/retry(_:)``, or dismiss it.
  case givenUp(Identifier)
  /// The user is being logged out.
  ///
  /// Nothing is accepted until the logout has ended, or until this time.
  case loggingOut(until: Timestamp)
  /// The user was logged out, and the session of the change has not seen it yet.
  case signInEnded
  /// There is no pending change or dead letter with this key.
  case unknownKey(Identifier)
  /// This object is sending already.
  case drainUnderWay
  /// The journal contains other records than changes.
  case notAChangeLog(path: String, sequence: UInt64, kind: UInt8)
  /// A newer version of this library wrote a record that this version does not know.
  case newerVersion(path: String, sequence: UInt64, kind: UInt8)
  /// A record cannot be read, or does not fit those before it.
  case unusable(path: String, sequence: UInt64, problem: String)
  /// The journal failed.
  case journal(JournalError)
}

extension ChangeLogError: CustomStringConvertible {
  /// A description of what happened, where, the consequence and the next step.
  public var description: String {
    switch self {
    case .sessionExpired:
      "The session has expired, so the change was not taken in. What waits stays. Let the user sign in "
        + "again and add it then."
    case .notSignedIn:
      "Nobody is signed in, so the change was not taken in. Sign in first."
    case .notKnown:
      "The session object is closed, or does not know yet who is signed in, so the change was not taken in. Open "
        + "the session, or wait until it has loaded, and add it then."
    case .othersChanges(let count):
      "\(count == 1 ? "1 change of another user waits and is" : "\(count) changes of another user wait and are") "
        + "not sent for this one, so nothing was taken in or "
        + "sent. Let that user sign in, or discard them."
    case .full(let count, let bytes):
      (count == 1
        ? "1 change of \(bytes) bytes waits or was given up"
        : "\(count) changes of \(bytes) bytes wait or were given up")
        + ", as many as the log takes, so the change was "
        + "not taken in. Send what waits, or discard some."
    case .contentTooLong(let bytes, let limit):
      "The change holds \(bytes) bytes and may hold \(limit), so it was not taken in. Keep large "
        + "content in a file and name that."
    case .keyInUse(let key):
      "Another change with the key \(key) waits, so this one was not taken in. Give each change a random key "
        + "of its own."
    case .givenUp(let key):
      "The change with the key \(key) was given up, so it was not taken in again. Retry it, or discard it and "
        + "add it with another key."
    case .loggingOut(let until):
      "The user is being logged out, so the change was not taken in. Where that fails, add it again, at the "
        + "latest from \(until) on."
    case .signInEnded:
      "The user was logged out, so the change was not taken in. Sign in first."
    case .unknownKey(let key):
      "No change with the key \(key) waits or was given up; nothing was changed. It may have been sent."
    case .drainUnderWay:
      "This log is sending already, one change at a time. Wait until that ends."
    case .notAChangeLog(let path, let sequence, let kind):
      "\(path) is a journal of something else: record \(sequence) is of kind \(kind). None of its records "
        + "was changed. Give the change log a file of its own."
    case .newerVersion(let path, let sequence, let kind):
      "Record \(sequence) of \(path), of kind \(kind), was written by a newer version. Nothing is sent, "
        + "since it may say what is to be sent. Update the app."
    case .unusable(let path, let sequence, let problem):
      "Record \(sequence) of \(path) cannot be used: \(problem). Nothing is taken in or sent. Look at it "
        + "with `sessionreplay verify`."
    case .journal(let error):
      error.description
    }
  }
}

extension ChangeLogError {
  /// Whether the disk or the maximum record size leaves no space.
  var isOfRoom: Bool {
    switch self {
    case .journal(.diskFull), .journal(.compactionRefused): true
    default: false
    }
  }
}
