public import Foundation

/// The tokens of an identity SDK.
///
/// Descriptions do not show them.
public struct IdentityTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, if the SDK exposes one.
  ///
  /// It is not used if the provider owns the tokens.
  public var refresh: Secret?
  /// The identity token of OpenID Connect, whose claims name the user.
  public var identity: Secret?
  /// The time for which the access token is valid from now, from 1 ms to ten years, rounded up to
  /// milliseconds.
  ///
  /// If it is `nil`, the first of these counts: ``expiresAt``, the token's `exp`, the backend's
  /// default lifetime. A sign-in fails with `unreadableTokens` if none of them is known or the
  /// token has already expired.
  public var lifetime: Duration?
  /// The time at which the access token expires by this device's clock, if the SDK states it.
  public var expiresAt: Date?
  /// The user.
  ///
  /// If it is `nil`, the claims name the user: by the backend's own sources, else by `sub`.
  ///
  /// Newer tokens must name the same user in the same way, or none.
  public var user: UserProfile?

  /// Creates a value with tokens of an SDK.
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
