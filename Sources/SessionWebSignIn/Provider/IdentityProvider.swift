public import Foundation
public import SessionCore
public import SessionKit

/// An identity SDK as a session needs it.
///
/// The app implements it and owns the SDK.
///
/// The session searches thrown errors for a code (``IdentityError``), but uses a `WebSignInProblem`
/// unchanged. Throw a ``/SessionKit/BackendError`` for a request of your own: its status, code and
/// wait reach the caller. Each step runs in a task that is cancelled when no caller waits any more.
/// Tokens that `login` returns after that are revoked.
///
/// **Calls may overlap.** If a call does not return when it is cancelled, the session does not wait
/// for it. So a silent attempt or `warmUp()` that took longer than the policy's `refresh.timeout`
/// may still run while the page is shown. A cancelled `login` must close what the SDK itself has
/// shown, and return. The next sign-in waits for that, 10 seconds at most
/// (``WebSignIn/dismissLimit``), and then begins.
///
/// Methods of the main actor can implement every requirement, since each is awaited. Write
/// `@MainActor` before the type, even in a module whose default isolation is the main actor. A type
/// that conforms to a `Sendable` protocol does not get the default isolation. The same applies to a
/// ``WebSignInView``.
///
/// - Requirement: WEB-5, WEB-6
public protocol IdentityProvider: Sendable {
  /// The app's view on which this provider signs in.
  associatedtype View: WebSignInView

  /// Prepares what the other steps need.
  ///
  /// The default does nothing.
  func warmUp() async throws

  /// Returns tokens of an account that the SDK knows, without showing anything.
  ///
  /// Throws if there is none.
  ///
  /// `account` is the required user, by the id that the session uses. At a sign-in it is the user
  /// of the expired session, or `nil` if any user is accepted. If the provider owns the tokens,
  /// this call is the refresh. Then it must return newer tokens than before.
  func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens

  /// Returns tokens of the user who signs in on the view, which is shown.
  ///
  /// With `.always` the page must ask the user even if its cookies are sufficient. Use OpenID
  /// Connect's `prompt=login` or `select_account`. If a provider does not pass this on, a user
  /// known by cookies signs in without being asked. The library cannot detect that. It can happen
  /// although the app requires asking, or the session expired because it was unused.
  ///
  /// - Requirement: POL-5
  func login(in view: View, prompt: WebSignIn.Prompt) async throws -> IdentityTokens

  /// Handles a redirect that reached the app outside of the view.
  ///
  /// Returns whether it belongs to this provider. The session waits for the policy's
  /// `refresh.timeout`. The default returns `false`.
  func handle(_ redirect: URL) async -> Bool

  /// Removes an account, and informs the provider's server if possible.
  ///
  /// An unknown account is no error. It is called only if the provider owns the tokens, as the
  /// logout at the server.
  ///
  /// - Requirement: WEB-6
  func removeAccount(_ account: Identifier) async throws
}

extension IdentityProvider {
  /// Does nothing.
  public func warmUp() async throws {}

  /// Returns `false`.
  public func handle(_ redirect: URL) async -> Bool { false }
}

/// A view of the app that shows a provider's page.
///
/// The app creates and shows it. Each function is called once, in this order. If `make` did not
/// throw, `dismiss` is called on every path.
///
/// If the user closes the view, the provider's `login` must fail. If the user closes it while it is
/// still appearing, `make`, `observe` or `present` throws `WebSignInProblem.cancelledByUser`. Every
/// other error of these functions counts as `viewFailed`. For an SDK that shows its own page, use
/// ``NoView``.
///
/// - Requirement: WEB-1
public protocol WebSignInView: Sendable {
  /// Creates the view, which shows nothing yet.
  func make() async throws

  /// Reports each address that the view navigates to from now on.
  ///
  /// It is called before the first one.
  func observe(with observer: RedirectObserver) async throws

  /// Shows the view.
  ///
  /// Returns when the provider may use it.
  func present() async throws

  /// Removes the view.
  ///
  /// Returns when it is gone. The caller and the next sign-in wait for that, 10 seconds at most
  /// (``WebSignIn/dismissLimit``).
  func dismiss() async
}

/// No view, for an SDK that shows its own page and closes it when its task is cancelled.
///
/// No address is observed, so the SDK's error alone decides the problem.
public struct NoView: WebSignInView {
  /// Creates the value.
  public init() {}

  /// Does nothing.
  public func make() async throws {}

  /// Does nothing.
  public func observe(with observer: RedirectObserver) async throws {}

  /// Does nothing.
  public func present() async throws {}

  /// Does nothing.
  public func dismiss() async {}
}

/// The settings of a web view for a sign-in, which `WKWebView.forLogin()` applies.
///
/// - Requirement: WEB-7
public struct WebViewSettings: Hashable, Sendable {
  /// Whether the provider's cookies are kept after the view is closed, so that the next sign-in may
  /// be silent.
  public var keepsCookies = true
  /// Whether a page is drawn before it is complete.
  public var drawsIncrementally = false
  /// Whether media play within the page, on systems that would otherwise show them on the full
  /// screen.
  public var playsMediaInline = true
  /// Whether a swipe returns to a page that was already submitted.
  public var swipesBack = false
  /// Whether a web inspector can examine the view, in which users type passwords.
  public var isInspectable: Bool

  /// Creates the settings of a sign-in.
  ///
  /// The view can be inspected in debug builds only.
  public init(isDebug: Bool) {
    isInspectable = isDebug
  }

  /// The settings for the build configuration of this library.
  public static var login: WebViewSettings {
    #if DEBUG
    WebViewSettings(isDebug: true)
    #else
    WebViewSettings(isDebug: false)
    #endif
  }
}
