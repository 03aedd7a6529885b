@_spi(Internals) public import SessionCore

/// The user's profile and the status of the account, as the backend states them.
///
/// Descriptions do not show the user.
///
/// - Requirement: LOG-6, SYN-4
public struct ProfileResponse: Hashable, Sendable {
  /// Whether the user may use the account.
  public enum Status: Hashable, Sendable {
    /// The user may use the account.
    case active
    /// The account is inactive, so the session expires.
    case inactive
    /// The account was deleted, so the session is logged out and the app's local data is cleared.
    case deleted
  }

  /// The user.
  public let user: UserProfile
  /// The failure if the account is inactive or deleted.
  package var failure: RequestFailure?
  /// When the status last changed, on the server's clock.
  var changedAt: Timestamp?
  /// The server's clock at the time of the response; `nil` if it was not stated.
  var serverTime: Timestamp?
  /// Whether a newer status is known.
  ///
  /// Then this one has no effect and is not shown.
  var isStale = false

  /// Creates a profile.
  ///
  /// - Parameters:
  ///   - user: the user, whose id must not be an e-mail address.
  ///   - status: whether the user may use the account.
  ///   - changedAt: when the status last changed, on the server's clock; `nil` if the server does
  ///     not say.
  ///   - serverTime: the server's clock at the time of the response; `nil` if the server does not
  ///     say.
  /// - Requirement: STO-3
  public init(
    user: UserProfile, status: Status = .active, changedAt: Timestamp? = nil,
    serverTime: Timestamp? = nil
  ) {
    self.user = user
    (self.changedAt, self.serverTime) = (changedAt, serverTime)
    switch status {
    case .active: failure = nil
    case .inactive: failure = RequestFailure(kind: .userInactive)
    case .deleted: failure = RequestFailure(kind: .userDeleted)
    }
  }

  package init(
    user: UserProfile, failure: RequestFailure?, changedAt: Timestamp?, serverTime: Timestamp?
  ) {
    (self.user, self.failure) = (user, failure)
    (self.changedAt, self.serverTime) = (changedAt, serverTime)
  }
}

extension ProfileResponse: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The status alone: `profile`, or `profile of an account that is userInactive`.
  public var description: String {
    failure.map { "profile of an account that is \($0.kind)" } ?? "profile"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["profile": description]) }
}
