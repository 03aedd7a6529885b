public import Foundation
import SessionCore
public import SessionKit

// Signing in with an identity provider, which is one login as every other way in (LOG-5, WEB-5).
extension Session {
  /// Signs in with an identity SDK: without showing anything where it can, else on the app's view (WEB-5).
  ///
  /// `activity` is `authenticating` from the beginning to the end. When it returns or throws, the view that
  /// was made is dismissed and nothing observes it any more, also where the task was cancelled. Throws
  /// `busy` at a second tap: the first login goes on. If the provider brought nothing, `underlyingError` is a
  /// `WebSignInProblem`. That the user left the page is one of its cases (`cancelledByUser`, code `cancelled`),
  /// and leaves `activity` idle, as every problem does that is no failure (`WebSignInProblem.isQuiet`).
  ///
  /// With `.ifNeeded` whom the provider still knows comes in without a page: after a logout too, where the
  /// provider does not own the tokens (`SessionConfiguration.identityProvider`) and so was not told of it.
  /// Where the user is to choose or to show who they are, pass `.always`. A session that expired unused asks
  /// in any case (POL-5); so does one that expired where the provider knows another user only, and a
  /// provider that could not be told of that user's logout yet.
  ///
  /// Where the provider owns the tokens, `provider` must be the configuration's, or one of the same SDK and
  /// accounts: the refresh and the logout ask that one.
  @discardableResult
  public func signIn<Provider: IdentityProvider>(
    with provider: Provider, in view: Provider.View, prompt: WebSignIn.Prompt = .ifNeeded
  ) async throws(SessionError) -> UserProfile? {
    try await signIn(WebSignInFlow(provider, view, prompt), .interactive)
  }

  /// Signs in with an account that the identity SDK knows, without showing anything (LOG-5).
  ///
  /// Throws `notLoggedIn` with `WebSignInProblem.noAccount` if it knows none that it could sign in so, or none
  /// that may come in unasked; `activity` is idle after any failure. It does not count towards the limit of sign-ins (LOG-2).
  @discardableResult
  public func signInSilently(
    with provider: some IdentityProvider
  ) async throws(SessionError) -> UserProfile? {
    try await signIn(WebSignInFlow(silently: provider), .silent)
  }

  /// Logs in on a page of an OAuth 2.0 server.
  ///
  /// It returns when the page is gone and the tokens are stored. It throws
  /// - `wrongAddress` if the login cannot be used as it is: nothing was shown or sent;
  /// - `signInUnderWay` if another login is under way;
  /// - `webSignIn` if the page brought no tokens; that the user closed it is one of its cases.
  ///
  /// - Requirement: LOG-5, WEB-5
  @discardableResult
  public func login(_ login: WebLogin) async throws(SessionError) -> UserProfile? {
    if let problem = login.problem { throw .wrongAddress(problem) }
    return try await signIn(login.flow(), login.method)
  }

  /// Hands in a redirect that reached the app from outside of the view (`onOpenURL`, WEB-5).
  ///
  /// Returns whether the sign-in that waits for one took it; `false` where none does, and where the provider
  /// does not say so within the policy's `refresh.timeout`.
  @discardableResult
  public func handle(_ redirect: URL) async -> Bool {
    guard let flow = await externalLogin as? WebSignInFlow else { return false }
    return await flow.handle(redirect)
  }

  private func signIn(
    _ flow: WebSignInFlow, _ method: LoginMethod
  ) async throws(SessionError) -> UserProfile? {
    do throws(SessionError) {
      return try await login(by: flow, method)
    } catch {
      // Whoever is told sees no view any more.
      flow.cancel()
      _ = await flow.ended()
      throw error
    }
  }
}
