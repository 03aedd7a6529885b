public import Foundation
public import SessionCore
public import SessionKit

/// An identity SDK, as far as a session needs it; the app fills it in, and owns the SDK.
///
/// What it throws is looked through for a code (``IdentityError``); a `WebSignInProblem` is taken at its
/// word. Each step runs in a task that is cancelled when nobody waits any more; tokens that come even so are
/// not used.
///
/// **Calls may overlap.** A call that does not return when it is cancelled is not waited for: a silent attempt or
/// `warmUp()` that took longer than the policy's `refresh.timeout` may still run while the page is shown. A
/// cancelled `login` must take down what the SDK itself has shown, and return: the next sign-in waits for
/// that, 10 seconds at most (``WebSignIn/dismissLimit``), and begins then.
///
/// Every requirement may be met by a method of the main actor, since each is awaited. Write `@MainActor` before
/// the type, also in a module whose default isolation is the main actor: a type that conforms to a `Sendable`
/// protocol does not get it from there. The same holds of a ``WebSignInView``.
///
/// - Requirement: WEB-5, WEB-6
public protocol IdentityProvider: Sendable {
  /// The app's view, on which this provider signs in.
  associatedtype View: WebSignInView

  /// Prepares what the other steps need; nothing if not said.
  func warmUp() async throws

  /// Tokens of an account that the SDK knows, without showing anything; throws where it has none.
  ///
  /// `account` is whose tokens are wanted, by the id that the session knows the user by: at a sign-in the
  /// expired session's user, else `nil`, where any will do. Where the provider owns the tokens it is the refresh: newer ones than it
  /// gave before are wanted then.
  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens

  /// Tokens of the user who signs in on the view, which is shown.
  ///
  /// With `.always` the page must ask though its cookies would do: OpenID Connect's `prompt=login` or
  /// `select_account`. A provider that does not pass that on lets in whom the cookies know, also where the
  /// app, or a session that expired unused, wanted the user asked: the library cannot see it.
  ///
  /// - Requirement: POL-5
  func login(in view: View, prompt: WebSignIn.Prompt) async throws -> IdentityTokens

  /// Takes a redirect that reached the app from outside of the view; whether it was this provider's, which
  /// is waited for as long as the policy's `refresh.timeout`. `false` if not said.
  func handle(_ redirect: URL) async -> Bool

  /// Forgets an account and tells the provider's server where there is a way; no error where it knows
  /// none. Called only where the provider owns the tokens: it is the logout at the server.
  ///
  /// - Requirement: WEB-6
  func removeAccount(_ account: Identifier) async throws
}

extension IdentityProvider {
  /// Prepares nothing.
  public func warmUp() async throws {}

  /// Takes none.
  public func handle(_ redirect: URL) async -> Bool { false }
}

/// A view of the app in which a provider's page is shown.
///
/// The app makes it and shows it; each is called once, in this order, and `dismiss` on every way out of a
/// sign-in whose `make` did not throw.
///
/// Where the user closes it, the provider's `login` is to fail; while it is still coming up, `make`,
/// `observe` or `present` throws `WebSignInProblem.cancelledByUser`, which is told as that. Whatever else
/// they throw is `viewFailed`. An SDK that shows a page of its own takes ``NoView``.
///
/// - Requirement: WEB-1
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

/// No view: the SDK shows its own, and takes it down when its task is cancelled.
///
/// Nothing is observed then, and what went wrong is what the SDK's error says.
public struct NoView: WebSignInView {
  /// No view.
  public init() {}

  /// Makes nothing.
  public func make() async throws {}

  /// Tells nothing.
  public func observe(with observer: RedirectObserver) async throws {}

  /// Shows nothing.
  public func present() async throws {}

  /// Takes nothing away.
  public func dismiss() async {}
}
