@_spi(Internals) package import SessionCore
import SessionJSON

/// The source that named a session's user, and the value that it gave.
///
/// It is stored with the user item. Only the same source can prove that a later response belongs to
/// another user. `value` may be an e-mail address or a user name, so it is a secret.
///
/// - Requirement: LOG-12
package struct UserOrigin: Hashable, Sendable {
  /// The name of the source: `UserSource.label` or one of the constants below.
  package var source: String
  /// The value that the source gave.
  package var value: String

  package init(source: String, value: String) {
    (self.source, self.value) = (source, value)
  }

  /// The source is a backend that the app implements.
  package static let reader = "reader"
  /// The source is the identity SDK.
  package static let provider = "provider"
  /// The source is the profile endpoint.
  package static let profile = "profile"
}

extension UserOrigin: CustomStringConvertible, CustomReflectable {
  /// The name of the source, without the value.
  package var description: String { source }
  package var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// The user to whom a response should belong, and the source that named that user, if it is known.
package struct ExpectedUser: Hashable, Sendable {
  package var id: Identifier
  package var origin: UserOrigin?
  /// The access token that the response replaces; `nil` if it is not available.
  package var access: Secret?
  /// The `sub` of the last identity token that named the user, if one did.
  package var identitySubject: String?

  package init(
    id: Identifier, origin: UserOrigin? = nil, access: Secret? = nil,
    identitySubject: String? = nil
  ) {
    (self.id, self.origin) = (id, origin)
    (self.access, self.identitySubject) = (access, identitySubject)
  }
}

/// The `sub` of an access token, which is compared only with that of a token of the same kind.
private struct AccessSubject: Equatable {
  let value: Identifier
  let issuer: Identifier?
  let audience: JSONValue?

  /// Creates the subject of a token; `nil` if it has none, or if that is a client.
  init?(_ token: Secret) {
    guard let claims = TokenPayload.hints(token),
      let value = claims.identifierHint(at: ["sub"])
    else { return nil }
    // RFC 9068 §2.2: if no user is involved, `sub` is the client.
    let clients = ["client_id", "azp", "cid"].map { claims.identifierHint(at: [$0]) }
    guard !clients.contains(value) else { return nil }
    do { audience = try claims.value(at: ["aud"]) } catch { return nil }
    (self.value, issuer) = (value, claims.identifierHint(at: ["iss"]))
  }

  /// Whether the other subject is of the same user; `nil` if they cannot be compared.
  ///
  /// A server may give one user another `sub` for another audience (RFC 9068 §6).
  func isSame(as other: AccessSubject) -> Bool? {
    issuer == other.issuer && audience == other.audience ? value == other.value : nil
  }
}

extension TokenResponse {
  /// Returns the response, as another user's if a token's `sub` differs from the one before.
  ///
  /// It decides only if the source that named the user is silent. An identity token comes first,
  /// since its `sub` never changes (OpenID Connect Core §12.2).
  ///
  /// - Requirement: REF-17
  package func compared(with expected: ExpectedUser?) -> TokenResponse {
    guard user == nil, let expected else { return self }
    var found = self
    if let before = expected.identitySubject, let identitySubject {
      if before != identitySubject { found.take(.another(by: .identityToken)) }
      return found
    }
    guard let before = expected.access.flatMap(AccessSubject.init),
      let isSame = AccessSubject(access)?.isSame(as: before)
    else { return self }
    if !isSame {
      found.take(.another(by: .changedAccessToken))
    } else if identitySubject != nil {
      // The user item is stored, and with it the `sub` of the identity token.
      found.take(FoundUser(profile: UserProfile(id: expected.id), origin: expected.origin))
    }
    return found
  }
}

/// The user whom a response names.
package struct FoundUser: Hashable, Sendable {
  package var profile: UserProfile
  package var origin: UserOrigin?
  /// The source that says that this user is not the session's.
  package var namedBy: NamingSource?

  package init(profile: UserProfile, origin: UserOrigin?, namedBy: NamingSource? = nil) {
    (self.profile, self.origin, self.namedBy) = (profile, origin, namedBy)
  }

  /// Returns a placeholder for another user.
  ///
  /// Nothing of that user is kept, since the name may be an e-mail address.
  package static func another(by source: NamingSource?) -> FoundUser {
    FoundUser(profile: UserProfile(id: "another user"), origin: nil, namedBy: source)
  }
}

/// A claim of a token that may name a user.
package struct UserClaim: Hashable, Sendable {
  /// The token that has the claim.
  package enum Token: String, Hashable, Sendable {
    case access = "access token"
    case identity = "identity token"
  }

  /// The names of the members, from the outermost to the innermost.
  package let steps: [String]
  package let token: Token

  package init(_ steps: [String], of token: Token) {
    (self.steps, self.token) = (steps, token)
  }

  /// The stored name of the source.
  package var label: String {
    let path = steps.isEmpty ? "the body" : steps.dotted
    return "claim \(path) of the \(token.rawValue)"
  }

  /// The name of the source in the journal.
  package var naming: NamingSource { token == .access ? .accessToken : .identityToken }
}

extension TokenResponse {
  /// Stores the user whom the response names.
  package mutating func take(_ found: FoundUser?) {
    (user, origin, namedBy) = (found?.profile, found?.origin, found?.namedBy)
  }
}

extension UserProfile {
  /// Returns the same user with another identifier.
  package func renamed(_ id: Identifier) -> UserProfile {
    UserProfile(
      id: id, email: email, firstName: firstName, lastName: lastName, further: further)
  }
}

extension Identifier {
  package static let addressProblem = "an e-mail address, which must not be journaled"

  /// Whether the text is or contains an e-mail address: text without spaces on both sides of an
  /// `@`.
  ///
  /// A user's id is written to the journal, and an address must not be. `@ada:example.org` is no
  /// address, since there is nothing before its `@`. `Specs/Answers.md` has examples.
  ///
  /// - Requirement: STO-3
  package var isAddress: Bool {
    // Nearly every identifier is a UUID or has no `@`.
    guard uuid == nil, description.utf8.contains(UInt8(ascii: "@")) else { return false }
    let text = Array(description.unicodeScalars)
    return text.indices.dropFirst().dropLast().contains { index in
      text[index] == "@" && !text[index - 1].properties.isWhitespace
        && !text[index + 1].properties.isWhitespace
    }
  }
}
