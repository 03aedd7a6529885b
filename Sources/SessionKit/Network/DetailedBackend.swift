@_spi(Internals) package import SessionCore

/// A backend that says more of itself than ``AuthBackend`` asks for, as the one of SessionHTTP does.
///
/// A backend of the app's own need not be one: it has the defaults of ``TokenReader`` and ``CallDefaults``.
package protocol DetailedBackend: AuthBackend, TokenReader {
  /// Whether it ends each request after ``RequestContext/timeout`` by itself.
  var keepsTimeLimit: Bool { get }
  /// What it says of the app's calls.
  var callDefaults: CallDefaults { get }
}

/// Reads tokens that come in no response of the backend: those of an identity SDK, and adopted ones.
///
/// The defaults read claims by the names of OpenID Connect.
package protocol TokenReader: Sendable {
  /// Whether the backend gets newer tokens.
  var refreshesTokens: Bool { get }
  /// The claims beside `sub` that may name a user, in their order.
  var userClaims: [UserClaim] { get }
  /// How long a token is good of which nothing says it, in milliseconds; `nil` if nothing is assumed.
  var assumedLifetime: Int64? { get }
  /// The user whom the backend's own sources find in claims; `nil` if they find no one.
  func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser?
  /// The context that an access token claims; `nil` if it claims none.
  func context(claimedBy payload: JSONMembers) -> ActiveContext?
  /// A sign-in's response, with what follows from a refresh token that is missing.
  ///
  /// - Requirement: LOG-11
  func expectingRefreshToken(_ response: TokenResponse) -> TokenResponse
}

extension TokenReader {
  package var refreshesTokens: Bool { true }
  package var userClaims: [UserClaim] { [] }
  package var assumedLifetime: Int64? { nil }
  package func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser? { nil }
  package func context(claimedBy payload: JSONMembers) -> ActiveContext? { nil }

  /// A warning follows, and no error.
  package func expectingRefreshToken(_ response: TokenResponse) -> TokenResponse {
    guard response.refresh == nil else { return response }
    var response = response
    response.missingRefreshToken = "refresh_token"
    return response
  }
}

/// The reader of a backend of the app's own, which says nothing of such tokens.
struct StandardTokenReader: TokenReader {}
