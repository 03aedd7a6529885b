/// Collects what must never be found in a file: tokens, passwords, e-mail addresses.
package struct SecretVault: Sendable {
  package private(set) var secrets: Set<String> = []

  package init() {}

  package mutating func learn(_ found: [String]) {
    for secret in found where !secret.isEmpty {
      secrets.insert(secret)
      let parts = secret.split(separator: ".", omittingEmptySubsequences: false)
      // The claims hold the e-mail address, so a token's parts are secret one by one. The header
      // is not: it is the same in all tokens of the world.
      if parts.count == 3, !secret.contains("@"), parts.allSatisfy({ $0.count >= 16 }) {
        secrets.formUnion(parts.dropFirst().map(String.init))
      }
    }
  }
}
