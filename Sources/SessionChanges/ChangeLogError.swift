public import Foundation
public import SessionChangeQueue
@_spi(Internals) public import SessionCore
public import SessionJournal
public import SessionKit

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
      "The session has expired, so the change was not added. Pending changes are kept. Let the "
        + "user log in again, then add the change."
    case .notSignedIn:
      "No user is logged in, so the change was not added. Log in first."
    case .notKnown:
      "The session object is closed, or does not know yet which user is logged in. The change was "
        + "not added. Open the session, or wait until it has loaded, then add the change."
    case .othersChanges(let count):
      (count == 1
        ? "1 change of another user is pending and is"
        : "\(count) changes of another user are pending and are")
        + " not sent for this user. Nothing was added or sent. Let that user log in, or discard "
        + (count == 1 ? "the change." : "the changes.")
    case .full(let count, let bytes):
      (count == 1
        ? "1 change of \(bytes) bytes is pending or was given up"
        : "\(count) changes of \(bytes) bytes are pending or were given up")
        + ", so the log has no space for this change. It was not added. Send the pending changes, "
        + "or discard some."
    case .contentTooLong(let bytes, let limit):
      "The content of the change has \(bytes) bytes, but at most \(limit) are allowed. The change "
        + "was not added. Keep large content in a file, and put the name of the file in the change."
    case .keyInUse(let key):
      "Another pending change has the key \(key), so this change was not added. Give each change "
        + "its own random key."
    case .givenUp(let key):
      "The change with the key \(key) was given up, so it was not added again. Retry it, or "
        + "discard it and add it with another key."
    case .loggingOut(let until):
      "The user is being logged out, so the change was not added. If the logout fails, add the "
        + "change again. The log then accepts it from \(until) on at the latest."
    case .signInEnded:
      "The user was logged out, so the change was not added. Log in first."
    case .unknownKey(let key):
      "No change with the key \(key) is pending or was given up. Nothing was changed. The change "
        + "may have been sent."
    case .drainUnderWay:
      "This log is already sending, one change at a time. Wait until it has finished."
    case .notAChangeLog(let path, let sequence, let kind):
      "\(path) is not a change log: record \(sequence) has the kind \(kind). None of its records "
        + "was changed. Give the change log its own file."
    case .newerVersion(let path, let sequence, let kind):
      "A newer version wrote record \(sequence) of \(path), of kind \(kind). Nothing is sent, "
        + "because the record may decide what to send. Update the app."
    case .unusable(let path, let sequence, let problem):
      "Record \(sequence) of \(path) cannot be used: \(problem). Nothing is added or sent. Check "
        + "the file with `sessionreplay verify`."
    case .journal(let error):
      error.description
    }
  }
}

extension ChangeLogError {
  /// Creates the error of a refused command.
  init(_ refusal: ChangeRefusal) {
    self =
      switch refusal {
      case .contentTooLong(let bytes, let limit): .contentTooLong(bytes: bytes, limit: limit)
      case .keyInUse(let key): .keyInUse(key)
      case .givenUp(let key): .givenUp(key)
      case .unknownKey(let key): .unknownKey(key)
      case .othersChanges(let count): .othersChanges(count)
      case .full(let count, let bytes): .full(count: count, bytes: bytes)
      case .loggingOut(let until): .loggingOut(until: until)
      case .signInEnded: .signInEnded
      }
  }

  /// Whether the disk or the maximum record size leaves no space.
  var isOfRoom: Bool {
    switch self {
    case .journal(.diskFull), .journal(.compactionRefused): true
    default: false
    }
  }
}

extension ChangeQueue {
  /// Decides a command, and throws a refusal as the log's error.
  func decided(
    _ command: ChangeCommand, at time: Timestamp,
    isGone: (ProcessIdentity, UInt32) -> Bool = { _, _ in false }
  ) throws(ChangeLogError) -> [ChangeEvent] {
    do throws(ChangeRefusal) {
      return try decide(command, at: time, isGone: isGone)
    } catch {
      throw ChangeLogError(error)
    }
  }
}

extension ChangeLogError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .sessionExpired: .sessionExpired
    case .notSignedIn, .signInEnded: .notSignedIn
    case .loggingOut: .logoutUnderWay
    case .notKnown: .closed
    case .othersChanges(let count): .othersChanges(count: count)
    case .full(let count, _): .changesFull(count: count)
    case .contentTooLong: .changeTooLong
    case .keyInUse: .storageUnusable
    case .givenUp: .changeGivenUp
    case .unknownKey: .changeNotWaiting
    case .drainUnderWay: .changesBeingSent
    case .notAChangeLog: .storageUnusable
    case .newerVersion: .newerData
    case .unusable: .storageDamaged
    case .journal(let error): error.message
    }
  }
}

extension SyncGateClosed: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage { .notSignedIn }
}

// Users do not see this error, since an opened log reports `unusable`.
extension ChangeRejection: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
