public import Foundation
import SessionCore
public import SessionKit

// A login with an identity provider is a login like every other one (LOG-5, WEB-5).
extension Session {
  /// Logs in on a page, or with an identity SDK.
  ///
  /// `activity` is `authenticating` from the beginning to the end. When this returns or throws, the
  /// view is dismissed and the observation has stopped, even if the task was cancelled. It throws
  ///
  /// - `refused` if the login cannot be used in this form. Nothing was shown or sent.
  /// - `busy` if another login is in progress, as after a second tap. The first login continues.
  /// - an error with a `WebSignInProblem` as its `underlyingError` if the provider returned no
  ///   tokens. If the user left the page, it is `cancelledByUser` with the code `cancelled`. After
  ///   a problem that is no failure (`WebSignInProblem.isQuiet`), `activity` is idle.
  ///
  /// - Requirement: LOG-5, WEB-5
  @discardableResult
  public func login(_ login: WebLogin) async throws(SessionError) -> LoginResult {
    if let problem = login.problem { throw .wrongAddress(problem) }
    let flow = login.flow()
    do throws(SessionError) {
      return try await self.login(by: flow, login.method)
    } catch {
      // The view is gone before the caller receives the error.
      flow.cancel()
      _ = await flow.ended()
      throw error
    }
  }

  /// Handles a redirect that reached the app outside of the view (`onOpenURL`).
  ///
  /// Returns whether a waiting sign-in accepted it. Returns `false` if none waits, or if the
  /// provider does not answer within the policy's `refresh.timeout`.
  ///
  /// - Requirement: WEB-5
  @discardableResult
  public func handle(_ redirect: URL) async -> Bool {
    guard let flow = await externalLogin as? WebSignInFlow else { return false }
    return await flow.handle(redirect)
  }
}
