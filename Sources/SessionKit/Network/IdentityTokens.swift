public import Foundation

/// What an identity SDK gave; shown without any of it.
public struct IdentityTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, where the SDK shows one; not looked at where the provider owns the tokens.
  public var refresh: Secret?
  /// The identity token of OpenID Connect, whose claims say who the user is.
  public var identity: Secret?
  /// How long the access token is good from now: a millisecond to ten years, rounded up to milliseconds.
  ///
  /// If it is `nil`: until ``expiresAt``, else until its `exp`, else as long as the backend assumes. A sign-in for
  /// which nothing says it, or whose token is dead already, is none (`unreadableTokens`).
  public var lifetime: Duration?
  /// Until when the access token is good by this device's clock, where the SDK says it so.
  public var expiresAt: Date?
  /// Who the user is; where `nil`, whom the claims name by the backend's own sources, else by `sub`.
  ///
  /// Newer tokens must name the same one: in the same way, or not at all.
  public var user: UserProfile?

  /// Tokens of an SDK.
  public init(
    access: Secret, refresh: Secret? = nil, identity: Secret? = nil, lifetime: Duration? = nil,
    expiresAt: Date? = nil, user: UserProfile? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.identity = identity
    self.lifetime = lifetime
    self.expiresAt = expiresAt
    self.user = user
  }
}

extension IdentityTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
