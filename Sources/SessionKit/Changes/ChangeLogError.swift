public import SessionCore
public import SessionJournal

/// Why a change log could not do what it was asked; never holds content (STO-3).
///
/// After each of them what was added before is still there.
public enum ChangeLogError: Error, Equatable, Sendable {
  /// The session has expired: nothing is taken in until its user signs in again (OUT-3).
  case sessionExpired
  /// Nobody is signed in, so it would be nobody's change.
  case notSignedIn
  /// So many changes of another user wait: they must be discarded first.
  case othersChanges(Int)
  /// So many changes wait, of so many bytes: one more is too much.
  case full(count: Int, bytes: Int)
  /// The content is longer than a log takes; both in bytes.
  case contentTooLong(bytes: Int, limit: Int)
  /// No change with this key waits or was given up.
  case unknownKey(Identifier)
  /// This object is sending already.
  case drainUnderWay
  /// The journal holds something else than changes.
  case notAChangeLog(path: String, sequence: UInt64, kind: UInt8)
  /// A newer version of this library wrote a record that this one does not know.
  case newerVersion(path: String, sequence: UInt64, kind: UInt8)
  /// A record cannot be read, or cannot follow those before it.
  case unusable(path: String, sequence: UInt64, problem: String)
  /// The journal failed.
  case journal(JournalError)
}

extension ChangeLogError: CustomStringConvertible {
  /// What happened, where, what it means and what to do next.
  public var description: String {
    switch self {
    case .sessionExpired:
      "The session has expired, so the change was not taken in. What waits stays. Let the user sign in "
        + "again and add it then."
    case .notSignedIn:
      "Nobody is signed in, so the change was not taken in. Sign in first."
    case .othersChanges(let count):
      "\(count) changes of another user wait and are not sent for this one, so nothing was taken in or "
        + "sent. Let that user sign in, or discard them."
    case .full(let count, let bytes):
      "\(count) changes of \(bytes) bytes wait, as many as the log takes, so the change was not taken in. "
        + "Send what waits, or discard some."
    case .contentTooLong(let bytes, let limit):
      "The change holds \(bytes) bytes and may hold \(limit), so it was not taken in. Keep large "
        + "content in a file and name that."
    case .unknownKey(let key):
      "No change with the key \(key) waits or was given up; nothing was changed. It may have been sent."
    case .drainUnderWay:
      "This log is sending already, one change at a time. Wait until that ends."
    case .notAChangeLog(let path, let sequence, let kind):
      "\(path) is a journal of something else: record \(sequence) is of kind \(kind). Nothing was changed. "
        + "Give the change log a file of its own."
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
