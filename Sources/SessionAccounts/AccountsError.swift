import Foundation
@_spi(Internals) public import SessionCore
public import SessionJournal
public import SessionKit

/// Why a list of accounts could not do what was asked.
///
/// After each error, the list and the accounts are as they were, unless the case says otherwise.
///
/// - Requirement: ACC-1
public enum AccountsError: Error, Equatable, Sendable {
  /// There is no account with this identifier, or another process has removed it.
  case unknown(Account.ID)
  /// The account is being removed.
  case leaving(Account.ID)
  /// The list has as many accounts as it can have: 256, those that are being removed included.
  case full
  /// The directory is no file URL with an absolute path.
  case wrongDirectory
  /// A user logged in again each time the account was logged out.
  ///
  /// The account stays in ``/SessionCore/AccountList/leaving``.
  case inUse(Account.ID)
  /// The journal holds records of another kind.
  case notAccounts(path: String, sequence: UInt64, kind: UInt8)
  /// A newer version of this library wrote a record that this version does not know.
  case newerVersion(path: String, sequence: UInt64, kind: UInt8)
  /// A record cannot be read, or does not fit those before it.
  case unusable(path: String, sequence: UInt64, problem: String)
  /// The journal of the list failed.
  case journal(JournalError)
  /// The session of the account failed.
  ///
  /// During a removal, the account stays in ``/SessionCore/AccountList/leaving`` or is listed as before, and the
  /// removal can be repeated.
  case session(Account.ID, SessionError)
}

extension AccountsError: CustomStringConvertible {
  /// A description of what happened, where, the consequence and the next step.
  public var description: String {
    switch self {
    case .unknown(let id):
      "There is no account \(id). Nothing was changed. Read the list again: another process may have removed it."
    case .leaving(let id):
      "The account \(id) is being removed, so it cannot be used. Add an account instead."
    case .full:
      "There are \(AccountList.limit) accounts, so none was added. Remove one first."
    case .wrongDirectory:
      "The directory of the accounts is not a file URL with an absolute path. Nothing was created."
    case .inUse(let id):
      "A user logged in to the account \(id) again while it was removed. It is logged out and not listed, and its "
        + "files are still there. Close its session in every process, then remove it again."
    case .notAccounts(let path, let sequence, let kind):
      "\(path) is not a list of accounts: record \(sequence) has the kind \(kind). Nothing was changed. Give the "
        + "accounts a directory of their own."
    case .newerVersion(let path, let sequence, let kind):
      "A newer version wrote record \(sequence) of \(path), of kind \(kind). The accounts cannot be listed, because "
        + "it may remove one. Update the app."
    case .unusable(let path, let sequence, let problem):
      "Record \(sequence) of \(path) cannot be used: \(problem). Check the file with `sessionreplay verify`."
    case .journal(let error):
      error.description
    case .session(let id, let error):
      "The session of the account \(id) failed. \(error)"
    }
  }
}

extension AccountsError: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .unknown, .leaving: .notSignedIn
    case .full, .wrongDirectory: .appNotSetUp
    case .inUse: .storageBusy
    case .notAccounts: .storageUnusable
    case .newerVersion: .newerData
    case .unusable: .storageDamaged
    case .journal(let error): error.message
    case .session(_, let error): error.message
    }
  }
}

extension AccountsError {
  init(_ refusal: AccountRefusal) {
    self =
      switch refusal {
      case .unknown(let id): .unknown(id)
      case .leaving(let id): .leaving(id)
      case .full: .full
      }
  }

  /// Whether a new list should take the place of the file, which cannot be used.
  var isOfDamagedList: Bool {
    switch self {
    case .journal(.newerFormat), .journal(.unknownFeatures): false
    case .journal(let error): error.isOfUnusableFile
    case .unusable: true
    default: false
    }
  }
}
