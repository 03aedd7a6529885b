public import SessionChanges

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
