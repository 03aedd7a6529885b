public import Foundation
public import SessionHTTP
import SessionKit

/// The authorization code grant with PKCE: how an app logs in on a page of an OAuth 2.0 server.
///
/// The app shows the server's page in a browser or a web view. The server redirects the browser to
/// ``redirect`` with a code, and the code is redeemed for tokens. Each login has its own code
/// verifier. So a code is of no use to an app that intercepts it.
///
/// ```swift
/// let code = AuthorizationCode(
///   authorization: issuer.appending(path: "authorize"), token: issuer.appending(path: "token"),
///   client: .form(id: "notes-app"), redirect: "com.example.notes:/login", scope: "openid offline_access")
/// try await session.login(.authorizationCode(code, on: page))
/// ```
///
/// The session's backend refreshes and revokes the tokens: give it the same token endpoint and
/// client (`HTTPBackend.oauth`). Sources: RFC 6749 §4.1, RFC 7636, RFC 8252, RFC 9207.
public struct AuthorizationCode: Hashable, Sendable {
  /// The address of the server's page.
  ///
  /// It must be HTTPS, or HTTP to this machine.
  public var authorization: URL
  /// The address at which a code is redeemed.
  ///
  /// It must be HTTPS, or HTTP to this machine.
  public var token: URL
  /// The client that logs in.
  ///
  /// An app on a device is a public client: `.form(id:)`, without a secret (RFC 8252 §8.5). With
  /// `.none` a login throws, because the server would not know the app.
  public var client: ClientAuthentication
  /// The address to which the server redirects the browser, exactly as it is registered at the
  /// server.
  ///
  /// It is an address of the app's own scheme, an HTTPS address that the app claims, or an HTTP
  /// address of this machine (RFC 8252 §7). For a `LoopbackPage` that one has no port.
  public var redirect: String
  /// The requested scopes, separated by spaces; `nil` for the server's default.
  ///
  /// If `openid` is one of the scopes, a nonce binds the identity token to the login.
  public var scope: String?
  /// The server's issuer identifier; `nil` by default.
  ///
  /// If it is set, a redirect of another issuer or without an issuer is refused. The two are
  /// compared byte by byte (RFC 9207 §2.4), so `https://id.test` and `https://id.test/` differ.
  /// Write the `issuer` of the server's metadata.
  public var issuer: String?
  /// What the identity token must be; `nil` by default.
  ///
  /// It is checked if it is set, and must be there if `openid` is one of the scopes. If it is `nil`, only the
  /// nonce is checked. If a check fails, the login throws `WebSignInProblem.identityToken`, and the tokens
  /// are revoked.
  ///
  /// - Requirement: LOG-18
  public var identityToken: IdentityToken.Expectation?
  /// The accepted types of the access token, compared without case (RFC 6749 §5.1); `bearer` by
  /// default.
  public var tokenTypes: Set<String> = ["bearer"]
  /// Further parameters of the authorization request, such as `audience` or `login_hint`.
  ///
  /// They do not replace the parameters that the grant itself needs. A `scope` is requested beside
  /// that of the grant.
  public var further: [String: String]
  /// How long to wait for a redirect after the page returned without one; 10 minutes by default.
  ///
  /// Time in which the system suspends the app does not count. After it the login throws
  /// `WebSignInProblem.noRedirect`.
  public var redirectLimit = Duration.seconds(600)

  /// Creates a grant at a server.
  public init(
    authorization: URL, token: URL, client: ClientAuthentication, redirect: String,
    scope: String? = nil, issuer: String? = nil, further: [String: String] = [:]
  ) {
    self.authorization = authorization
    self.token = token
    self.client = client
    self.redirect = redirect
    self.scope = scope
    self.issuer = issuer
    self.further = further
  }

  /// Why the grant cannot be used, in words; `nil` if it can.
  package var problem: String? {
    if client.id == nil { return "the authorization code grant needs the app's client identifier" }
    for (name, address) in [("authorization", authorization), ("token", token)]
    where !address.isSecure {
      return "the \(name) endpoint must be HTTPS, or HTTP to this machine"
    }
    return Redirects.problem(of: redirect)
  }
}
