@_spi(Internals) public import SessionCore
public import SessionKit

/// The end of a session, as a sign-in screen shows it: why the user has to sign in again.
///
/// - Requirement: STA-8
extension SessionEnd: UserFacing {
  /// The message for the user.
  public var message: SessionMessage {
    switch reason {
    case .expired(let reason): reason.message
    case .loggedOut(.userDeleted): .accountDeleted
    // The journal does not contain the earlier expiry any more.
    case .loggedOut(.policy): .sessionExpired
    case .loggedOut: .loggedOut
    }
  }
}

extension LogoutOutcome: UserFacing {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .success, .partial(.notRevocable): .nowLoggedOut
    case .partial(.serverNotTold): .serviceNotToldYet
    case .partial(.itemsRemain), .partial(.localDataRemains): .notClearedYet
    case .alreadyLoggedOut: .notSignedIn
    }
  }
}
