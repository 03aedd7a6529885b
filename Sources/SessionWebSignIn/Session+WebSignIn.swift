public import Foundation
import SessionCore
public import SessionKit

// Logging in with an identity provider, which is one login as every other way (LOG-5, WEB-5).
extension Session {
  /// Logs in on a page, or with an identity SDK.
  ///
  /// `activity` is `authenticating` from the beginning to the end. When it returns or throws, the view that
  /// was made is dismissed and nothing observes it any more, also if the task was cancelled. It throws
  /// - `refused` if the login cannot be used as it is: nothing was shown or sent;
  /// - `busy` if another login is under way, as at a second tap: the first login goes on;
  /// - an error whose `underlyingError` is a `WebSignInProblem` if the provider brought no tokens. That the user
  ///   left the page is one of its cases (`cancelledByUser`, code `cancelled`), and leaves `activity` idle, as
  ///   every problem does that is no failure (`WebSignInProblem.isQuiet`).
  ///
  /// - Requirement: LOG-5, WEB-5
  @discardableResult
  public func login(_ login: WebLogin) async throws(SessionError) -> LoginResult {
    if let problem = login.problem { throw .wrongAddress(problem) }
    let flow = login.flow()
    do throws(SessionError) {
      return try await self.login(by: flow, login.method)
    } catch {
      // The view is gone before the caller gets the error.
      flow.cancel()
      _ = await flow.ended()
      throw error
    }
  }

  /// Hands in a redirect that reached the app from outside of the view (`onOpenURL`).
  ///
  /// Returns whether the sign-in that waits for one took it; `false` where none does, and where the provider
  /// does not say so within the policy's `refresh.timeout`.
  ///
  /// - Requirement: WEB-5
  @discardableResult
  public func handle(_ redirect: URL) async -> Bool {
    guard let flow = await externalLogin as? WebSignInFlow else { return false }
    return await flow.handle(redirect)
  }
}
