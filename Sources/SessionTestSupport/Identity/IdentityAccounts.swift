@_spi(Internals) package import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Synchronization

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

  /// The known accounts.
  package var known: Set<Identifier> { state.withLock { Set($0.tokens.keys) } }

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
