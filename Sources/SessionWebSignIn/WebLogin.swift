import SessionCore
public import SessionHTTP
import SessionKit

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
  /// the code.
  ///
  /// - Requirement: LOG-5, WEB-5, POL-5
  public static func authorizationCode(
    _ code: AuthorizationCode, on page: any AuthorizationPage,
    prompt: WebSignIn.Prompt = .ifNeeded, transport: any HTTPTransport = URLSessionTransport()
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: code.problem) {
      WebSignInFlow(AuthorizationCodeProvider(code, on: page, transport), NoView(), prompt)
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
