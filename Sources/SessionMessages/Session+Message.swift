@_spi(Internals) public import SessionCore
public import SessionHTTP
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

/// What a sign-in screen shows after an end: why the user has to sign in again.
///
/// - Requirement: STA-8
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
