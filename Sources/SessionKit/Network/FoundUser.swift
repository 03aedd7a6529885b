@_spi(Internals) package import SessionCore

/// Which source named a session's user, and what it said.
///
/// Stored with the user item: only the same source can say that a later response belongs to another
/// user. `value` may be an e-mail address or a user name, so that it is a secret.
///
/// - Requirement: LOG-12
package struct UserOrigin: Codable, Hashable, Sendable {
  /// The source, as `UserSource.label` or one of the names below.
  package var source: String
  /// What it said.
  package var value: String

  package init(source: String, value: String) {
    (self.source, self.value) = (source, value)
  }

  /// A backend of the app's own.
  package static let reader = "reader"
  /// The identity SDK.
  package static let provider = "provider"
  /// The profile endpoint.
  package static let profile = "profile"
}

extension UserOrigin: CustomStringConvertible, CustomReflectable {
  /// The source alone.
  package var description: String { source }
  package var customMirror: Mirror { Mirror(self, children: ["source": source]) }
}

/// Whose a response should be: the session's user, and which source named them, if that is known.
package struct ExpectedUser: Hashable, Sendable {
  package var id: Identifier
  package var origin: UserOrigin?

  package init(id: Identifier, origin: UserOrigin? = nil) {
    (self.id, self.origin) = (id, origin)
  }
}

/// Whom a response names.
package struct FoundUser: Hashable, Sendable {
  package var profile: UserProfile
  package var origin: UserOrigin?
  /// The source that says that this is another user than the session's.
  package var namedBy: NamingSource?

  package init(profile: UserProfile, origin: UserOrigin?, namedBy: NamingSource? = nil) {
    (self.profile, self.origin, self.namedBy) = (profile, origin, namedBy)
  }

  /// Another user, of whom nothing is kept: the name may be an e-mail address.
  package static func another(by source: NamingSource?) -> FoundUser {
    FoundUser(profile: UserProfile(id: "another user"), origin: nil, namedBy: source)
  }
}

/// A claim of a token that may name a user.
package struct UserClaim: Hashable, Sendable {
  /// Which token.
  package enum Token: String, Hashable, Sendable {
    case access = "access token"
    case identity = "identity token"
  }

  /// The names from the outside in.
  package let steps: [String]
  package let token: Token

  package init(_ steps: [String], of token: Token) {
    (self.steps, self.token) = (steps, token)
  }

  /// The name under which a session remembers the source; it is stored.
  package var label: String {
    let path = steps.isEmpty ? "the body" : steps.joined(separator: ".")
    return "claim \(path) of the \(token.rawValue)"
  }

  /// What the journal says of it.
  package var naming: NamingSource { token == .access ? .accessToken : .identityToken }
}

extension TokenResponse {
  /// Takes in whom the response names.
  package mutating func take(_ found: FoundUser?) {
    (user, origin, namedBy) = (found?.profile, found?.origin, found?.namedBy)
  }
}

extension UserProfile {
  /// The same under another identifier.
  package func renamed(_ id: Identifier) -> UserProfile {
    UserProfile(
      id: id, email: email, firstName: firstName, lastName: lastName, further: further)
  }
}

extension Identifier {
  package static let addressProblem = "an e-mail address, which may not be journaled"

  /// Whether it is, or holds, an e-mail address: text without spaces on both sides of an `@`.
  ///
  /// A user's id goes into the journal, an address must not. `@ada:example.org` is none: nothing stands
  /// before its `@`. `Specs/Answers.md` has examples.
  ///
  /// - Requirement: STO-3
  package var isAddress: Bool {
    let text = Array(description.unicodeScalars)
    return text.indices.dropFirst().dropLast().contains { index in
      text[index] == "@" && !text[index - 1].properties.isWhitespace
        && !text[index + 1].properties.isWhitespace
    }
  }
}
