package import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Synchronization

/// An authorization request of OAuth 2.0 (RFC 6749 §4.1) with code challenge (RFC 7636) and nonce
/// (OpenID Connect).
///
/// It builds the request's address, and parses the redirect. It is a value.
package struct CodeGrant: Hashable, Sendable {
  /// The client that makes the request.
  package struct Client: Hashable, Sendable {
    /// The base address of the endpoints: B2C's user flow.
    package var userFlow: URL
    package var id: String
    package var scope: String
    /// The address to which the provider sends the user back; it has the app's scheme.
    package var redirect: String
    /// `fragment` if the provider must answer in the fragment; `nil` for the query.
    package var responseMode: String?

    package init(
      userFlow: URL, id: String, scope: String, redirect: String = "app://auth",
      responseMode: String? = nil
    ) {
      (self.userFlow, self.id, self.scope, self.redirect) = (userFlow, id, scope, redirect)
      self.responseMode = responseMode
    }

    package var scheme: String { String(redirect.prefix { $0 != ":" }).lowercased() }

    package func endpoint(_ name: String) -> URL {
      userFlow.appending(path: "oauth2/v2.0/\(name)")
    }
  }

  /// The result in a redirect.
  package enum Reply: Hashable, Sendable {
    case code(String)
    case refused(error: String, description: String?)
    /// The redirect does not answer this request: its state differs or is missing.
    case foreign
  }

  package let verifier: String
  package let state: String
  package let nonce: String

  /// Creates a grant from random bytes, at least 64.
  package init(random: [UInt8]) {
    verifier = LoopbackToken.base64URL(Array(random.prefix(32)))
    state = LoopbackToken.base64URL(Array(random.dropFirst(32).prefix(16)))
    nonce = LoopbackToken.base64URL(Array(random.dropFirst(48)))
  }

  /// Returns the code challenge of a verifier (RFC 7636 §4.2, S256).
  package static func challenge(of verifier: String) -> String {
    AuthorizationRequest.challenge(of: verifier)
  }

  /// Returns the address of the request.
  ///
  /// `prompt` is that of OpenID Connect: `none` shows no page, and `login` always asks the user.
  package func address(for client: Client, prompt: String? = nil) -> URL {
    let form = WebForm([
      "client_id": client.id, "response_type": "code", "redirect_uri": client.redirect,
      "scope": client.scope, "state": state, "nonce": nonce,
      "code_challenge": CodeGrant.challenge(of: verifier), "code_challenge_method": "S256",
    ]).adding("response_mode", client.responseMode).adding("prompt", prompt)
    let endpoint = client.endpoint("authorize")
    return URL(string: endpoint.absoluteString + "?" + form.text) ?? endpoint
  }

  /// Parses a redirect, in its query and its fragment.
  package func reply(in redirect: URL) -> Reply {
    let parts = [redirect.query(percentEncoded: true), redirect.fragment(percentEncoded: true)]
    let form = WebForm(parts.compactMap(\.self).joined(separator: "&"))
    guard form["state"] == state else { return .foreign }
    if let error = form["error"] {
      return .refused(error: error, description: form["error_description"])
    }
    return form["code"].map { .code($0) } ?? .foreign
  }
}

// It contains the verifier, without which the code is worthless.
extension CodeGrant: CustomStringConvertible, CustomReflectable {
  package var description: String { "a grant" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The accounts that an identity SDK keeps, as in its own keychain; they outlive processes.
package final class IdentityAccounts: Sendable {
  private struct State {
    /// The refresh tokens by account; `nil` if an account has none.
    var tokens: [Identifier: Secret?] = [:]
    var random: ByteStream
  }

  private let state: Mutex<State>
  private let keepsTokens: Bool

  /// - Parameters:
  ///   - keepsTokens: Whether the SDK refreshes tokens itself; otherwise the session keeps the
  ///     refresh token.
  ///   - seed: Decides states, nonces and verifiers.
  /// - Requirement: WEB-6
  package init(keepsTokens: Bool, seed: UInt64) {
    self.keepsTokens = keepsTokens
    state = Mutex(State(random: ByteStream(seed: seed)))
  }

  func newGrant() -> CodeGrant { state.withLock { CodeGrant(random: $0.random.take(64)) } }

  /// Returns the refresh token of an account, or of any account; `nil` if none is kept.
  func refreshToken(of account: Identifier?) -> (account: Identifier, token: Secret)? {
    state.withLock { state in
      let kept = state.tokens.filter { account == nil || $0.key == account }
        .compactMapValues { $0 }
      return kept.min { $0.key.description < $1.key.description }.map { ($0.key, $0.value) }
    }
  }

  func keep(_ tokens: IdentityTokens) {
    guard let user = IdentityAccounts.user(of: tokens) else { return }
    state.withLock { state in
      let before = state.tokens[user] ?? nil
      state.tokens[user] = .some(keepsTokens ? tokens.refresh ?? before : nil)
    }
  }

  /// Removes the refresh token of an account, since the server rejected it; the account stays.
  func drop(_ account: Identifier) { state.withLock { $0.tokens[account] = .some(nil) } }

  func knows(_ account: Identifier) -> Bool { state.withLock { $0.tokens.keys.contains(account) } }

  func forget(_ account: Identifier) {
    state.withLock { _ = $0.tokens.removeValue(forKey: account) }
  }

  /// Returns the user of tokens: B2C's `oid`, else `sub`.
  static func user(of tokens: IdentityTokens) -> Identifier? {
    guard let identity = tokens.identity else { return nil }
    do {
      let claims = try IdentityClaims(identity)
      return claims.text("oid").map { Identifier($0) } ?? claims.subject
    } catch {
      // A token without claims names no user.
      return nil
    }
  }
}
