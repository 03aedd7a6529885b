package import Foundation
import SessionTestKit
import SessionWebSignIn

/// One authorization request of OAuth 2.0 (RFC 6749 §4.1) with a code challenge (RFC 7636) and a nonce
/// (OpenID Connect): what is asked, and what a redirect answers.
///
/// A value.
package struct CodeGrant: Hashable, Sendable {
  /// Who asks, and for what.
  package struct Client: Hashable, Sendable {
    /// The address that the endpoints are below: B2C's user flow.
    package var userFlow: URL
    package var id: String
    package var scope: String
    /// Where the provider sends the user back to, of the app's own scheme.
    package var redirect: String
    /// `fragment` where the provider shall answer there; `nil` for the query.
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

  /// What a redirect says.
  package enum Reply: Hashable, Sendable {
    case code(String)
    case refused(error: String, description: String?)
    /// It is no answer to this request: another state, or none.
    case foreign
  }

  package let verifier: String
  package let state: String
  package let nonce: String

  /// A grant of random bytes, at least 64.
  package init(random: [UInt8]) {
    verifier = LoopbackToken.base64URL(Array(random.prefix(32)))
    state = LoopbackToken.base64URL(Array(random.dropFirst(32).prefix(16)))
    nonce = LoopbackToken.base64URL(Array(random.dropFirst(48)))
  }

  /// The challenge that a verifier answers (RFC 7636 §4.2, S256).
  package static func challenge(of verifier: String) -> String {
    AuthorizationRequest.challenge(of: verifier)
  }

  /// The address that asks; `prompt` is OpenID Connect's: `none` shows nothing, `login` asks in any case.
  package func address(for client: Client, prompt: String? = nil) -> URL {
    let form = WebForm([
      "client_id": client.id, "response_type": "code", "redirect_uri": client.redirect,
      "scope": client.scope, "state": state, "nonce": nonce,
      "code_challenge": CodeGrant.challenge(of: verifier), "code_challenge_method": "S256",
    ]).adding("response_mode", client.responseMode).adding("prompt", prompt)
    let endpoint = client.endpoint("authorize")
    return URL(string: endpoint.absoluteString + "?" + form.text) ?? endpoint
  }

  /// What a redirect says, in its query or its fragment.
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

// It holds what the code is worth.
extension CodeGrant: CustomStringConvertible, CustomReflectable {
  package var description: String { "a grant" }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}
