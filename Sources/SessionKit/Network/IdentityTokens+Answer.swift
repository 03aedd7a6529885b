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
    for backend: HTTPBackend, after before: IdentityPredecessor? = nil, isOwned: Bool,
    at now: Timestamp
  ) throws(WebSignInProblem) -> TokenResponse {
    guard access.isToken, refresh?.isToken ?? true, byteCount <= Self.mostBytes else {
      throw .unreadableTokens
    }
    let claims = Self.payload(of: access)
    let named = TokenNames(user: user, access: claims, identity: identity.flatMap(Self.payload))
    let found: FoundUser?
    if let before {
      found = try named.user(after: before, old: before.access.flatMap(Self.payload), for: backend)
    } else {
      found = named.user(for: backend)
      guard let id = found?.profile.id, !id.isAddress, !id.description.isEmpty else {
        throw .unreadableTokens
      }
    }
    let hints = claims.map { TokenClaims(payload: $0, keys: backend.keys.contexts) }
    do throws(Unreadable) {
      var answer = TokenResponse(
        access: access, refresh: isOwned || backend.endpoints.refresh == nil ? nil : refresh,
        lifetime: try backend.lifetime(
          said: lifetime, until: expiresAt.flatMap(Timestamp.init(date:)), claims: claims, at: now,
          before: before?.lifetime),
        tokenID: hints?.tokenID.flatMap { $0.isAddress ? nil : $0 }, tokenContext: hints?.context)
      answer.take(found)
      return before == nil ? backend.expectingRefreshToken(answer) : answer
    } catch {
      throw .unreadableTokens
    }
  }

  private var byteCount: Int {
    [access, refresh, identity].reduce(0) { $0 + ($1?.value.utf8.count ?? 0) }
  }

  /// The claims of a token; `nil` where it has none that can be read.
  private static func payload(of token: Secret) -> JSONMembers? {
    do { return try TokenClaims.payload(of: token) } catch {
      // Opaque: it says nothing of itself.
      return nil
    }
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
