@_spi(Internals) package import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Synchronization

/// The accounts that an identity SDK keeps, as in a keychain of its own: they outlive processes.
package final class IdentityAccounts: Sendable {
  private struct State {
    /// The refresh tokens by account; `nil` where there is none any more.
    var tokens: [Identifier: Secret?] = [:]
    var random: ByteStream
  }

  private let state: Mutex<State>
  private let keepsTokens: Bool

  /// - Parameters:
  ///   - keepsTokens: whether the SDK refreshes by itself; else the session keeps the token.
  ///   - seed: decides states, nonces and verifiers.
  /// - Requirement: WEB-6
  package init(keepsTokens: Bool, seed: UInt64) {
    self.keepsTokens = keepsTokens
    state = Mutex(State(random: ByteStream(seed: seed)))
  }

  func newGrant() -> CodeGrant { state.withLock { CodeGrant(random: $0.random.take(64)) } }

  /// The refresh token of an account, or of any; `nil` where none is kept.
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

  /// The grant is dead: the account stays, and its token goes.
  func drop(_ account: Identifier) { state.withLock { $0.tokens[account] = .some(nil) } }

  func knows(_ account: Identifier) -> Bool { state.withLock { $0.tokens.keys.contains(account) } }

  func forget(_ account: Identifier) {
    state.withLock { _ = $0.tokens.removeValue(forKey: account) }
  }

  /// The accounts that are known.
  package var known: Set<Identifier> { state.withLock { Set($0.tokens.keys) } }

  /// Whom tokens are of: B2C's `oid`, else `sub`.
  static func user(of tokens: IdentityTokens) -> Identifier? {
    guard let identity = tokens.identity else { return nil }
    do {
      let claims = try IdentityClaims(identity)
      return claims.text("oid").map { Identifier($0) } ?? claims.subject
    } catch {
      // A token without claims names nobody.
      return nil
    }
  }
}
