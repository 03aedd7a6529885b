@_spi(Internals) package import SessionCore

/// A backend that provides more than ``AuthBackend`` requires, such as that of SessionHTTP.
///
/// A backend that the app implements need not conform. It has the defaults of ``TokenReader`` and
/// ``CallDefaults``.
package protocol DetailedBackend: AuthBackend, TokenReader {
  /// Whether the backend itself ends each request after ``RequestContext/timeout``.
  var keepsTimeLimit: Bool { get }
  /// The defaults for the app's calls.
  var callDefaults: CallDefaults { get }
}

/// Reads tokens that do not come in a response of the backend: those of an identity SDK, and
/// adopted ones.
///
/// The defaults read claims by the names of OpenID Connect.
package protocol TokenReader: Sendable {
  /// Whether the backend can refresh tokens.
  var refreshesTokens: Bool { get }
  /// The claims that may name a user in addition to `sub`, in order.
  var userClaims: [UserClaim] { get }
  /// The lifetime of a token that does not state one, in milliseconds; `nil` if none is assumed.
  var assumedLifetime: Int64? { get }
  /// Returns the user whom the backend's own sources find in the claims; `nil` if they find no
  /// user.
  func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser?
  /// Returns the context that an access token claims; `nil` if it claims none.
  func context(claimedBy payload: JSONMembers) -> ActiveContext?
  /// Returns a sign-in's response, marked with the consequence of a missing refresh token.
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

  /// Marks a missing refresh token.
  ///
  /// By default the consequence is a warning, not an error.
  package func expectingRefreshToken(_ response: TokenResponse) -> TokenResponse {
    guard response.refresh == nil else { return response }
    var response = response
    response.missingRefreshToken = "refresh_token"
    return response
  }
}

/// The reader for a backend that the app implements, which has no rules for such tokens.
struct StandardTokenReader: TokenReader {}
