public import Foundation
@_spi(Internals) package import SessionCore

/// The tokens of an identity SDK.
///
/// Descriptions do not show them.
public struct IdentityTokens: Hashable, Sendable {
  /// The access token.
  public var access: Secret
  /// The refresh token, if the SDK exposes one.
  ///
  /// It is not used if the provider owns the tokens.
  public var refresh: Secret?
  /// The identity token of OpenID Connect, whose claims name the user.
  public var identity: Secret?
  /// The time for which the access token is valid from now, from 1 ms to ten years, rounded up to
  /// milliseconds.
  ///
  /// If it is `nil`, the first of these counts: ``expiresAt``, the token's `exp`, the backend's
  /// default lifetime. A sign-in fails with `unreadableTokens` if none of them is known or the
  /// token has already expired.
  public var lifetime: Duration?
  /// The time at which the access token expires by this device's clock, if the SDK states it.
  public var expiresAt: Date?
  /// The user.
  ///
  /// If it is `nil`, the claims name the user: by the backend's own sources, else by `sub`.
  ///
  /// Newer tokens must name the same user in the same way, or none.
  public var user: UserProfile?
  /// The check that the identity token did not pass.
  package var identityProblem: IdentityTokenError?
  /// The thumbprint of the key to which the server bound the token; `nil` for a bearer token.
  package var boundKey: Identifier?

  /// Creates a value with tokens of an SDK.
  public init(
    access: Secret, refresh: Secret? = nil, identity: Secret? = nil, lifetime: Duration? = nil,
    expiresAt: Date? = nil, user: UserProfile? = nil
  ) {
    self.access = access
    self.refresh = refresh
    self.identity = identity
    self.lifetime = lifetime
    self.expiresAt = expiresAt
    self.user = user
  }
}

extension IdentityTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

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
    for traits: BackendTraits, after before: IdentityPredecessor? = nil, isOwned: Bool,
    at now: Timestamp
  ) throws(WebSignInProblem) -> TokenResponse {
    guard access.isToken, refresh?.isToken ?? true, byteCount <= Self.mostBytes else {
      throw .unreadableTokens
    }
    let claims = TokenPayload.hints(access)
    let identityClaims = identity.flatMap(TokenPayload.hints)
    let named = TokenNames(user: user, access: claims, identity: identityClaims)
    let found: FoundUser?
    if let before {
      found = try named.user(
        after: before, old: before.access.flatMap(TokenPayload.hints), for: traits)
    } else {
      found = named.user(for: traits)
      guard let id = found?.profile.id, !id.isAddress, !id.description.isEmpty else {
        throw .unreadableTokens
      }
    }
    do throws(Unreadable) {
      var answer = TokenResponse(
        access: access, refresh: isOwned || !traits.refreshesTokens ? nil : refresh,
        lifetime: try traits.lifetime(
          said: lifetime.map { $0.milliseconds(atLeast: .min) },
          until: expiresAt.flatMap(Timestamp.init(date:)), claims: claims, at: now,
          before: before?.lifetime),
        tokenID: claims?.identifierHint(at: ["jti"]).flatMap { $0.isAddress ? nil : $0 },
        tokenContext: claims.flatMap(traits.context))
      answer.take(found)
      answer.identitySubject = identityClaims?.identifierHint(at: ["sub"])?.description
      (answer.identity, answer.identityProblem) = (identity, identityProblem)
      answer.boundKey = boundKey
      return answer.compared(with: before?.user)
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

/// Finds the user whom an SDK's tokens name.
private struct TokenNames {
  /// The user whom the SDK names in addition to the tokens.
  let user: UserProfile?
  let access: JSONMembers?
  let identity: JSONMembers?

  /// Returns the user who signs in.
  ///
  /// It is the user whom the SDK names, else the first whom the backend's sources name, else `sub`.
  func user(for traits: BackendTraits) -> FoundUser? {
    namedBySDK ?? traits.user(access, identity) ?? subject(of: .identity)
      ?? subject(of: .access)
  }

  private var namedBySDK: FoundUser? {
    user.map {
      FoundUser(
        profile: $0, origin: UserOrigin(source: UserOrigin.provider, value: $0.id.description))
    }
  }

  private func subject(of token: UserClaim.Token) -> FoundUser? {
    (token == .access ? access : identity).flatMap(UserProfile.init(subjectOf:)).map {
      FoundUser(
        profile: $0,
        origin: UserOrigin(
          source: UserClaim(["sub"], of: token).label, value: $0.id.description))
    }
  }

  /// Returns the user whom newer tokens name; `nil` if they name no user.
  ///
  /// It is the session's user or, if that is certain, another one.
  ///
  /// Only the source that named the session's user can prove that it is another user: the SDK, or a
  /// claim. If that source is silent, the `sub` of the previous identity token decides, or else the
  /// same claim of the previous access token. Throws if none decides.
  ///
  /// - Requirement: LOG-12, REF-17
  func user(
    after before: IdentityPredecessor, old: JSONMembers?, for traits: BackendTraits
  ) throws(WebSignInProblem) -> FoundUser? {
    let expected = before.user
    if expected.origin?.source == UserOrigin.provider, let named = namedBySDK {
      guard named.origin == expected.origin else { return .another(by: .provider) }
      return named.of(expected)
    }
    let claims =
      [UserClaim(["sub"], of: .identity), UserClaim(["sub"], of: .access)] + traits.userClaims
    let decisive = claims.first { $0.label == expected.origin?.source }
    if let decisive, let now = name(decisive), now.description != expected.origin?.value {
      return .another(by: decisive.naming)
    }
    let found = self.user(for: traits)
    let names = claims.compactMap(name) + (user.map { [$0.id] } ?? [])
    guard decisive.flatMap(name) == nil, !names.contains(expected.id) else {
      return found?.profile.id == expected.id
        ? found?.of(expected) : FoundUser(profile: UserProfile(id: expected.id), origin: nil)
    }
    guard found != nil else { return nil }
    let subject = name(UserClaim(["sub"], of: .identity))?.description
    if let before = expected.identitySubject, let subject {
      return before == subject ? nil : .another(by: .identityToken)
    }
    var isSame = false
    for claim in claims where claim.token == .access {
      guard let was = old?.identifierHint(at: claim.steps),
        let now = access?.identifierHint(at: claim.steps)
      else { continue }
      guard was == now else { return .another(by: .changedAccessToken) }
      isSame = true
    }
    guard isSame else { throw .unreadableTokens }
    return nil
  }

  private func name(_ claim: UserClaim) -> Identifier? {
    (claim.token == .access ? access : identity)?.identifierHint(at: claim.steps)
  }
}

extension FoundUser {
  /// Returns the session's user, with the source that the session remembers, if it remembers one.
  fileprivate func of(_ expected: ExpectedUser) -> FoundUser {
    var found = self
    found.profile = profile.renamed(expected.id)
    found.origin = expected.origin ?? origin
    return found
  }
}

extension UserProfile {
  /// Creates the user whom a token's `sub` names.
  fileprivate init?(subjectOf claims: JSONMembers) {
    guard let id = claims.identifierHint(at: ["sub"]), !id.isAddress else { return nil }
    self.init(id: id, email: claims.hint(at: [["email"], ["emails", "0"]]))
  }
}
