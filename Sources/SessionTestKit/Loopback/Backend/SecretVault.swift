/// The values that must not be found in any file: tokens, passwords, e-mail addresses.
package struct SecretVault: Sendable {
  package private(set) var secrets: Set<String> = []

  package init() {}

  package mutating func learn(_ found: [String]) {
    for secret in found where !secret.isEmpty {
      secrets.insert(secret)
      let parts = secret.split(separator: ".", omittingEmptySubsequences: false)
      // The claims contain the e-mail address, so each part of a token is secret on its own. The
      // header is not secret, since all tokens have the same one.
      if parts.count == 3, !secret.contains("@"), parts.allSatisfy({ $0.count >= 16 }) {
        secrets.formUnion(parts.dropFirst().map(String.init))
      }
    }
  }
}
