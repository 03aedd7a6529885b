package import Foundation
import SessionTestKit
import SessionWebSignIn

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
