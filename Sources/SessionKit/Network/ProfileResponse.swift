@_spi(Internals) public import SessionCore

/// Who the user is and whether the account is active, as the backend says it; shown without the user.
///
/// - Requirement: LOG-6, SYN-4
public struct ProfileResponse: Hashable, Sendable {
  /// Whether the user may use the account.
  public enum Standing: Hashable, Sendable {
    /// The user may.
    case active
    /// The session expires.
    case inactive
    /// The session is logged out, and the app's local data is cleared.
    case deleted
  }

  /// The user.
  public let user: UserProfile
  /// That the user is inactive or deleted.
  package var failure: RequestFailure?
  /// When that last changed, on the server's clock.
  var changedAt: Timestamp?
  /// What the server's clock showed when it answered; `nil` if it does not say.
  var serverTime: Timestamp?
  /// Whether a newer status is known, so that this one ends nothing and shows nothing.
  var isStale = false
  /// That it has changed since it was known.
  var change: StatusChange?

  /// A profile.
  ///
  /// - Parameters:
  ///   - user: the user, whose id must not be an e-mail address.
  ///   - standing: whether the user may use the account.
  ///   - changedAt: when that last changed, on the server's clock; `nil` if the server does not say.
  ///   - serverTime: what the server's clock showed when it answered; `nil` if the server does not say.
  /// - Requirement: STO-3
  public init(
    user: UserProfile, standing: Standing = .active, changedAt: Timestamp? = nil,
    serverTime: Timestamp? = nil
  ) {
    self.user = user
    (self.changedAt, self.serverTime) = (changedAt, serverTime)
    switch standing {
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
  /// The standing alone: `profile`, or `profile of an account that is userInactive`.
  public var description: String {
    failure.map { "profile of an account that is \($0.kind)" } ?? "profile"
  }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["profile": description]) }
}
