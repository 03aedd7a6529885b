public import Foundation
@_spi(Internals) package import SessionCore
import SessionHTTP
public import SessionKit

/// A logout at the provider's page, which ends the user's session at the provider.
///
/// Without it, a browser whose cookies name the user logs in again without a password.
///
/// ```swift
/// let page = try provider.logout(client: .form(id: "notes"), redirect: "com.example.notes:/logout")
/// try await session.logout(at: page, on: browser)
/// ```
///
/// The page is requested by GET, because a page of an app cannot POST. So an identity token of more than 6 KiB
/// is not sent. Without an identity token the provider may ask the user to confirm.
///
/// Source: OpenID Connect RP-Initiated Logout 1.0.
///
/// - Requirement: OUT-8
public struct ProviderLogout: Hashable, Sendable {
  /// The address of the page (`end_session_endpoint`).
  ///
  /// It must be HTTPS, or HTTP to this machine.
  public var endSession: URL
  /// The client's identifier; `nil` if it is not sent.
  public var client: String?
  /// The address to which the provider redirects the browser, exactly as it is registered there for logouts
  /// (`post_logout_redirect_uris`).
  public var redirect: String
  /// Further parameters, such as `ui_locales` or `logout_hint`.
  ///
  /// They do not replace the parameters of the logout itself.
  public var further: [String: String] = [:]

  /// Creates a logout at this page.
  public init(endSession: URL, client: String?, redirect: String) {
    (self.endSession, self.client, self.redirect) = (endSession, client, redirect)
  }

  /// Why it cannot be used, in words; `nil` if it can.
  package var problem: String? {
    if !endSession.isSecure { return "the end of session must be HTTPS, or HTTP to this machine" }
    return Redirects.problem(of: redirect)
  }

  /// Returns the address to show; `nil` if it is malformed.
  package func address(hint: Secret?, state: String) -> URL? {
    let own = [
      "id_token_hint": hint?.plaintext, "client_id": client,
      "post_logout_redirect_uri": redirect, "state": state,
    ]
    return Redirects.address(endSession, further.merging(own.compactMapValues(\.self)) { $1 })
  }

  /// Reads the address to which the page redirected; returns why the logout there is not done.
  package func problem(in address: URL, state: String) -> WebSignInProblem? {
    let fields = Redirects.fields(of: address)
    // A parameter that occurs twice would be ambiguous.
    guard Redirects.isSame(address, redirect), fields["state"] == [state] else {
      return .refused(nil)
    }
    guard fields["error"] != nil else { return nil }
    return RedirectReader.problem(in: address.absoluteString) ?? .refused(nil)
  }
}

extension Session {
  /// Logs the user out, then ends the user's session at the provider, on a page.
  ///
  /// The first part is ``/SessionKit/Session/logout(_:discardingPendingChanges:)``, with its errors and its
  /// outcome. If that was done and the page was not passed, this throws an error with a `WebSignInProblem` as its
  /// `underlyingError`. Then no user is signed in here, and the rest is pending
  /// (``isProviderLogoutPending()``), also after a restart:
  ///
  /// - `cancelledByUser` if the user left the page.
  /// - `refused` if the redirect is another one, has another `state`, or states an error.
  /// - `noRedirect` if the page returned without a redirect.
  ///
  /// It throws `refused`, and does nothing, if the addresses cannot be used.
  ///
  /// - Requirement: OUT-8
  @discardableResult
  public func logout(
    at provider: ProviderLogout, on page: any AuthorizationPage,
    discardingPendingChanges: Bool = false
  ) async throws(SessionError) -> LogoutOutcome {
    if let problem = provider.problem { throw .wrongAddress(problem) }
    let kept = try await keepProviderPage()
    let outcome = try await logout(discardingPendingChanges: discardingPendingChanges)
    // A refresh may have come between, so that the stored entry is of another token.
    if let pending = try await pendingProviderPage() ?? kept {
      try await end(pending, at: provider, on: page)
    }
    return outcome
  }

  /// Whether a logout at the provider's page is pending.
  ///
  /// It is `false` while a user is signed in: another login makes it pointless. It throws if the stored items
  /// cannot be read.
  ///
  /// - Requirement: OUT-8
  public func isProviderLogoutPending() async throws(SessionError) -> Bool {
    try await pendingProviderPage() != nil
  }

  /// Ends the user's session at the provider, if that is pending.
  ///
  /// It throws what ``logout(at:on:discardingPendingChanges:)`` throws for the page.
  ///
  /// - Requirement: OUT-8
  public func finishLogout(
    at provider: ProviderLogout, on page: any AuthorizationPage
  ) async throws(SessionError) {
    if let problem = provider.problem { throw .wrongAddress(problem) }
    if let pending = try await pendingProviderPage() {
      try await end(pending, at: provider, on: page)
    }
  }

  private func end(
    _ pending: ProviderPage, at provider: ProviderLogout, on page: any AuthorizationPage
  ) async throws(SessionError) {
    var generator = SystemRandomNumberGenerator()
    let random = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let state = Base64.encode(url: random)
    var provider = provider
    let redirect: URL?
    do {
      let ready: any AuthorizationPage
      (ready, provider.redirect) = try await page.prepared(for: provider.redirect)
      guard let address = provider.address(hint: pending.identity, state: state) else {
        throw WebSignInProblem.viewFailed
      }
      // A private page has no cookies, so the provider would find no session to end.
      redirect = try await ready.open(address, redirect: provider.redirect, isPrivate: false)
    } catch {
      throw .notAtProvider(IdentityError.problem(in: error) ?? .viewFailed)
    }
    guard let redirect else { throw .notAtProvider(.noRedirect(within: .zero)) }
    if let problem = provider.problem(in: redirect, state: state) { throw .notAtProvider(problem) }
    try await forgetProviderPage()
  }
}

extension SessionError {
  /// The user is logged out here, and the page was not passed.
  fileprivate static func notAtProvider(_ problem: WebSignInProblem) -> SessionError {
    webSignIn(
      problem,
      result: "The user is logged out here, but not at the provider. Call `finishLogout` again, or "
        + "let the next user log in with the prompt `.always`")
  }
}
