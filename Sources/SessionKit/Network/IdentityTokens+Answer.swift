import Foundation
@_spi(Internals) import SessionCore

/// The session's token that a newer one of an SDK replaces.
struct IdentityPredecessor: Sendable {
  /// The session's user, with the source that named the user.
  let user: ExpectedUser
  /// The access token; `nil` if it is not available.
  let access: Secret?
  /// The lifetime of that token when it was issued, in milliseconds.
  let lifetime: Int64?
}

extension IdentityTokens {
  /// The maximum size of all tokens together, in bytes.
  ///
  /// It is that of a response over HTTP.
  static let mostBytes = 1 << 20

  /// Returns the tokens as a response.
  ///
  /// Their claims are hints and are never verified.
  ///
  /// `before` is the token that they replace; `nil` for a sign-in.
  func answer(
    for reader: any TokenReader, after before: IdentityPredecessor? = nil, isOwned: Bool,
    at now: Timestamp
  ) throws(WebSignInProblem) -> TokenResponse {
    guard access.isToken, refresh?.isToken ?? true, byteCount <= Self.mostBytes else {
      throw .unreadableTokens
    }
    let claims = TokenPayload.hints(access)
    let named = TokenNames(
      user: user, access: claims, identity: identity.flatMap(TokenPayload.hints))
    let found: FoundUser?
    if let before {
      found = try named.user(
        after: before, old: before.access.flatMap(TokenPayload.hints), for: reader)
    } else {
      found = named.user(for: reader)
      guard let id = found?.profile.id, !id.isAddress, !id.description.isEmpty else {
        throw .unreadableTokens
      }
    }
    do throws(Unreadable) {
      var answer = TokenResponse(
        access: access, refresh: isOwned || !reader.refreshesTokens ? nil : refresh,
        lifetime: try reader.lifetime(
          said: lifetime.map { $0.milliseconds(atLeast: .min) },
          until: expiresAt.flatMap(Timestamp.init(date:)), claims: claims, at: now,
          before: before?.lifetime),
        tokenID: claims?.identifierHint(at: ["jti"]).flatMap { $0.isAddress ? nil : $0 },
        tokenContext: claims.flatMap(reader.context))
      answer.take(found)
      return before == nil ? reader.expectingRefreshToken(answer) : answer
    } catch {
      throw .unreadableTokens
    }
  }

  private var byteCount: Int {
    [access, refresh, identity].reduce(0) { $0 + ($1?.plaintext.utf8.count ?? 0) }
  }
}

extension Timestamp {
  /// Creates the timestamp of a date; `nil` if it is outside the range of `Int64` milliseconds.
  fileprivate init?(date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    guard let exact = Int64(exactly: milliseconds) else { return nil }
    self.init(milliseconds: exact)
  }
}
