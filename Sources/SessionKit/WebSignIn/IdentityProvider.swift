public import Foundation
public import SessionCore

/// An identity SDK, as far as a session needs it (WEB-5, WEB-6); the app fills it in, and owns the SDK.
///
/// What it throws is looked through for a code (``IdentityError``); a `WebSignInProblem` is taken at its
/// word. Each step runs in a task that is cancelled when nobody waits any more; tokens that come even so are
/// not used.
public protocol IdentityProvider: Sendable {
  /// The app's view, on which this provider signs in.
  associatedtype View: WebSignInView

  /// Prepares what the other steps need; nothing if not said.
  func warmUp() async throws

  /// Tokens of an account that the SDK knows, without showing anything; throws where it has none.
  ///
  /// `account` is whose tokens are wanted, by the id that the session knows the user by; `nil` at a
  /// sign-in, where any will do. Where the provider owns the tokens it is the refresh: newer ones than it
  /// gave before are wanted then.
  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens

  /// Tokens of the user who signs in on the view, which is shown.
  func signIn(in view: View) async throws -> IdentityTokens

  /// Takes a redirect that reached the app from outside of the view; whether it was this provider's.
  /// `false` if not said.
  func handIn(_ redirect: URL) async -> Bool

  /// Forgets an account and tells the provider's server where there is a way; no error where it knows
  /// none. Called only where the provider owns the tokens (WEB-6): it is the logout at the server.
  func removeAccount(_ account: Identifier) async throws
}

extension IdentityProvider {
  /// Prepares nothing.
  public func warmUp() async throws {}

  /// Takes none.
  public func handIn(_ redirect: URL) async -> Bool { false }
}

/// A view of the app in which a provider's page is shown (WEB-1).
///
/// The app makes it and shows it; each is called once, in this order, and `dismiss` on every way out of a
/// sign-in whose `make` did not throw.
public protocol WebSignInView: Sendable {
  /// Makes the view, which shows nothing yet.
  func make() async throws

  /// Tells `observer` each address that the view goes to from now on: before the first, so that none is
  /// missed.
  func observe(with observer: RedirectObserver) async throws

  /// Shows the view; returns once the provider may use it.
  func present() async throws

  /// Takes the view away; returns once it is gone. The caller and the next sign-in wait for that, 10 seconds
  /// at most (``WebSignIn/dismissLimit``): who has not returned by then is not waited for any more.
  func dismiss() async
}

/// What an identity SDK gave; shown without any of it.
public struct IdentityTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, where the SDK shows one; not looked at where the provider owns the tokens.
  public var refresh: Secret?
  /// The identity token of OpenID Connect, whose claims say who the user is.
  public var identity: Secret?
  /// How long the access token is good from now, in milliseconds: 1 to ten years.
  ///
  /// Where `nil`, until ``expiresAt``, else until its `exp`, else as long as the wire assumes. A sign-in for
  /// which nothing says it, or whose token is dead already, is none (`unreadableTokens`).
  public var lifetime: Int64?
  /// Until when the access token is good by this device's clock, where the SDK says it so.
  public var expiresAt: Date?
  /// Who the user is; where `nil`, whom the claims name by the wire's ``WireAnswer/user``, else by `sub`.
  ///
  /// Newer tokens must name the same one: in the same way, or not at all.
  public var user: UserProfile?

  /// Tokens of an SDK.
  public init(
    access: Secret, refresh: Secret? = nil, identity: Secret? = nil, lifetime: Int64? = nil,
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
