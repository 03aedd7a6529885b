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
  /// case (POL-5). `transport` carries the request that redeems the code.
  ///
  /// - Requirement: LOG-5, WEB-5
  public static func authorizationCode(
    _ code: AuthorizationCode, on page: any AuthorizationPage,
    prompt: WebSignIn.Prompt = .ifNeeded, transport: any HTTPTransport = URLSessionTransport()
  ) -> WebLogin {
    WebLogin(method: .interactive, problem: code.problem) {
      WebSignInFlow(AuthorizationCodeProvider(code, on: page, transport), NoView(), prompt)
    }
  }
}
