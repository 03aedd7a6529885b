public import Foundation
public import SessionChangeQueue
public import SessionKit

extension ChangeLogError: LocalizedError, WordedError {
  package var text: ErrorText {
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
    case .journal(let error): error.text
    }
  }

  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension SyncGateClosed: LocalizedError, WordedError {
  package var text: ErrorText { .notSignedIn }

  /// What happened, for the user.
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

// Users do not see this error, since an opened log reports `unusable`.
extension ChangeRejection: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
