import SessionCore
public import SessionHTTP
import SessionKit

/// A way to log in whose tokens do not come from the session's backend: a page of an OAuth 2.0 server, or an
/// identity SDK.
///
/// It is a login as every other: it is journaled, limited, refused and undone in the same way.
///
/// - Requirement: LOG-5, WEB-5
public struct WebLogin: Sendable {
  let method: LoginMethod
  /// What keeps it from being used, in words; `nil` if nothing does.
  let problem: String?
  let flow: @Sendable () -> WebSignInFlow

  /// The authorization code grant with PKCE on a page of the app.
  ///
  /// With `.always` the server has to ask, also if its cookies still name a user: the request says `prompt=login`,
  /// and the page is one without cookies if it can be. A session that expired because it was unused asks in any
  /// case. `transport` carries the request that redeems the code.
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

  /// An identity SDK: without showing anything if it can, else on the app's view.
  ///
  /// With `.ifNeeded` a user whom the provider still knows logs in without a page. That is so after a logout too,
  /// unless the provider owns the tokens (`SessionConfiguration.identityProvider`) and so was told of it. If the
  /// user is to choose or to show who they are, pass `.always`. The user is asked in any case if
  /// - the session expired because it was unused;
  /// - the session expired and the provider knows another user only;
  /// - the provider could not be told of that user's logout yet.
  ///
  /// If the provider owns the tokens, `provider` must be the configuration's, or one of the same SDK and
  /// accounts: the refresh and the logout ask that one.
  ///
  /// - Requirement: LOG-5, WEB-5, POL-5
  public static func provider<Provider: IdentityProvider>(
    _ provider: Provider, in view: Provider.View, prompt: WebSignIn.Prompt = .ifNeeded
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: nil) { WebSignInFlow(provider, view, prompt) }
  }

  /// An account that the identity SDK knows, without showing anything.
  ///
  /// The login throws `notLoggedIn` with `WebSignInProblem.noAccount` if the provider knows no account that may log
  /// in without being asked. `activity` is idle after any failure. It does not count towards the limit of logins.
  ///
  /// - Requirement: LOG-5, LOG-2
  public static func silently(with provider: some IdentityProvider) -> WebLogin {
    WebLogin(method: .silent, problem: nil) { WebSignInFlow(silently: provider) }
  }
}
