@_spi(Internals) public import SessionCore
public import SessionKit

extension CredentialRules.Problem: UserFacingError {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch self {
    case .emptyUserName: .userNameMissing
    case .notAnEmail: .notAnEmail
    case .emptyPassword: .passwordMissing
    case .passwordTooShort(let minimum): .passwordTooShort(minimumLength: minimum)
    case .emptyProviderToken: .providerSignInMissing
    }
  }
}

extension SessionRejection: UserFacingError {
  /// What a user is told of it.
  public var message: SessionMessage { SessionError(self, after: EndCause()).message }
}

/// What an app shows while `activity` is `failed`: why the last sign-in was none (STA-3).
extension CommandFailure: UserFacingError {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch self {
    case .rejected(let rejection): rejection.message
    case .request(let failure): SessionError(failure, detail: nil, isSignIn: true).message
    case .unidentified(let failure): SessionError(unidentified: failure, detail: nil).message
    case .webSignIn(let problem): problem.message
    case .ended(let state, let cause):
      SessionError(endedIn: state, by: EndCause(failure: cause)).message
    case .busy: .signInUnderWay
    case .tooManyAttempts(let wait): SessionError.tooManyAttempts(retryAfter: wait).message
    case .storage: .storageUnusable
    case .unsettled: .answerNotStored(because: .storageUnusable)
    case .dropped: .answerDropped(because: .storageUnusable)
    case .locked, .needsPresence: .deviceLocked
    case .unusableJournal, .newerItems: .newerData
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }
}

extension TransportError: UserFacingError {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch self {
    case .noConnection: .noConnection
    case .noReply: .noAnswer
    case .badAddress: .appNotSetUp
    case .insecure, .notTrusted: .insecureConnection
    case .cancelled: .cancelled
    }
  }
}

/// What an app shows of a session that has expired: why.
extension ExpiryReason: UserFacing {
  /// What a user is told of it; of a reason that this version has no word for, that it expired.
  public var message: SessionMessage {
    switch self {
    case .refreshRejected, .endedByServer: .endedByService
    case .attemptsExhausted: .serviceTrouble(waitSeconds: nil)
    case .secretsMissing, .corruptStorage, .secretsOutdated, .secretsNewer: .storedSignInLost
    case .userInactive: .accountInactive
    case .inactivity: .inactive
    default: .sessionExpired
    }
  }
}

/// What a sign-in screen shows after an end: why the user has to sign in again (STA-8).
extension SessionEnd: UserFacing {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch reason {
    case .expired(let reason): reason.message
    case .loggedOut(.userDeleted): .accountDeleted
    // The journal does not hold the expiry before it any more.
    case .loggedOut(.policy): .sessionExpired
    case .loggedOut: .loggedOut
    }
  }
}

extension LogoutOutcome: UserFacing {
  /// What a user is told of it.
  public var message: SessionMessage {
    switch self {
    case .success: .nowLoggedOut
    case .partial(.serverNotTold): .serviceNotToldYet
    case .partial(.itemsRemain), .partial(.localDataRemains): .notClearedYet
    case .alreadyLoggedOut: .notSignedIn
    }
  }
}
