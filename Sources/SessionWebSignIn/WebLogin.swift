public import Foundation
import SessionCore
public import SessionHTTP
public import SessionKit

/// A login whose tokens do not come from the session's backend: a page of an OAuth 2.0 server, or
/// an identity SDK.
///
/// It is journaled, limited, refused and undone like every other login.
///
/// - Requirement: LOG-5, WEB-5
public struct WebLogin: Sendable {
  let method: LoginMethod
  /// Why the login cannot be used, in words; `nil` if it can.
  let problem: String?
  let flow: @Sendable () -> WebSignInFlow

  /// Returns a login by the authorization code grant with PKCE, on a page of the app.
  ///
  /// With `.always` the server must ask, even if its cookies still name a user. Then the request
  /// contains `prompt=login`, and the page has no cookies if possible. After a session expired
  /// because it was unused, the server asks in any case. `transport` sends the request that redeems
  /// the code; by default it is that of a new `HTTPBackend`.
  ///
  /// - Requirement: LOG-5, WEB-5, POL-5
  public static func authorizationCode(
    _ code: AuthorizationCode, on page: any AuthorizationPage,
    prompt: WebSignIn.Prompt = .ifNeeded, transport: (any HTTPTransport)? = nil
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: code.problem) {
      let grant = AuthorizationCodeProvider(code, on: page, transport)
      return WebSignInFlow(
        .interactive, prompt,
        WebSignInFlow.Steps(
          signIn: { try await grant.login($0, in: $1.context) }, handle: grant.handle))
    }
  }

  /// Returns a login by the device grant: the user enters a code on another device.
  ///
  /// `show` shows the address and the code. It can return at once, or when the prompt is gone: its task is
  /// cancelled when the login ends, and the login waits until it returns. `transport` sends all requests;
  /// by default it is that of a new `HTTPBackend`. The login throws
  ///
  /// - `WebSignInProblem.cancelledByUser` if the user refuses (`access_denied`).
  /// - `WebSignInProblem.refused` with the code `expired_token` if the code has expired.
  /// - the error of a request that redeems an authorization code if a request failed. Until the code
  ///   expires, a poll that the server does not answer is repeated.
  ///
  /// If the response that has the tokens is lost, the next poll fails, and those tokens stay valid at the
  /// server. A cancelled login sends no further poll; tokens that arrive after that are revoked. The grant
  /// has no prompt: a browser whose cookies name a user may ask only for a confirmation.
  ///
  /// - Requirement: LOG-19
  public static func deviceGrant(
    _ grant: DeviceGrant, transport: (any HTTPTransport)? = nil,
    show: @escaping @Sendable (DevicePrompt) async -> Void
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: grant.problem) {
      WebSignInFlow(
        .interactive, .ifNeeded,
        WebSignInFlow.Steps(
          signIn: { try await grant.login(in: $1, by: transport, show) }, handle: { _ in false }))
    }
  }

  /// Returns a login with an identity SDK: silently if possible, else on the app's view.
  ///
  /// With `.ifNeeded`, a user whom the provider still knows logs in without a page. This happens
  /// after a logout too, unless the provider owns the tokens
  /// (`SessionConfiguration.identityProvider`) and has removed the account. If the user should
  /// choose an account or authenticate again, pass `.always`. The user is asked in any case if
  ///
  /// - the session expired because it was unused.
  /// - the session expired and the provider knows only another user.
  /// - the provider has not removed that user's account after a logout yet.
  ///
  /// If the provider owns the tokens, `provider` must be the configuration's, or one of the same
  /// SDK and accounts. The refresh and the logout use the configuration's.
  ///
  /// - Requirement: LOG-5, WEB-5, POL-5
  public static func provider<Provider: IdentityProvider>(
    _ provider: Provider, in view: Provider.View, prompt: WebSignIn.Prompt = .ifNeeded
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: nil) { WebSignInFlow(provider, view, prompt) }
  }

  /// Returns a silent login with an account that the identity SDK knows.
  ///
  /// The login throws `notLoggedIn` with `WebSignInProblem.noAccount` if the provider knows no
  /// account that can log in silently. `activity` is idle after any failure. It does not count
  /// towards the limit of logins.
  ///
  /// - Requirement: LOG-5, LOG-2
  public static func silently(with provider: some IdentityProvider) -> WebLogin {
    WebLogin(method: .silent, problem: nil) { WebSignInFlow(silently: provider) }
  }
}

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
  /// - the error of a login with a password if the request that redeems an authorization code
  ///   failed: with its status, code and wait. A code that the server refuses is `refused`, and not
  ///   `invalidCredentials`.
  ///
  /// If the task is cancelled while a code is redeemed, tokens that arrive later are revoked.
  ///
  /// - Requirement: LOG-5, LOG-10, LOG-20, WEB-5
  @discardableResult
  public func login(_ login: WebLogin) async throws(SessionError) -> LoginResult {
    try await run(login) { (flow) async throws(SessionError) in
      try await self.login(by: flow, login.method)
    }
  }

  /// Lets the signed-in user authenticate again on a page, or with an identity SDK.
  ///
  /// To be sure that the user is asked, give the login the prompt `.always`. What the server should ask for is a
  /// parameter of the request: `AuthorizationCode.further["acr_values"]`, or `scope` for a consent. It throws the
  /// errors of ``login(_:)``, and those of `Session.reauthenticate(_:)` for a credential.
  ///
  /// - Requirement: LOG-16
  public func reauthenticate(_ login: WebLogin) async throws(SessionError) {
    try await run(login) { (flow) async throws(SessionError) in
      try await self.reauthenticate(by: flow, login.method)
    }
  }

  private func run<Result>(
    _ login: WebLogin, _ command: (WebSignInFlow) async throws(SessionError) -> Result
  ) async throws(SessionError) -> Result {
    if let problem = login.problem { throw .wrongAddress(problem) }
    let flow = login.flow()
    do throws(SessionError) {
      return try await command(flow)
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
