import Foundation
@_spi(Internals) import SessionCore

/// The session's token that an SDK's newer one takes the place of.
struct IdentityPredecessor: Sendable {
  /// The session's user, and which source named them.
  let user: ExpectedUser
  /// `nil` where it is not at hand.
  let access: Secret?
  /// How long it was good when it came, in milliseconds.
  let lifetime: Int64?
}

extension IdentityTokens {
  /// The most bytes that tokens may have together: as many as an answer over HTTP.
  static let mostBytes = 1 << 20

  /// The answer that these tokens are; the claims are hints and never verified.
  ///
  /// `before` is what they take the place of, `nil` at a sign-in.
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
  /// The moment of a date, which may lie before or behind all that can be said.
  fileprivate init?(date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    guard let exact = Int64(exactly: milliseconds) else { return nil }
    self.init(milliseconds: exact)
  }
}
