public import Foundation
@_spi(Internals) public import SessionCore

/// The server that issues the session's tokens, and how to speak to it.
///
/// The `HTTPBackend` of SessionHTTP is configured by values. For everything that values cannot
/// express, implement this protocol: for another protocol than HTTP, an SDK, or a simulation.
///
/// In all processes together, the session makes at most one call at a time that may change a token.
/// Each call:
///
/// - sends its request at most once. The session decides about another attempt.
/// - ends soon after its task is cancelled. The session cancels it after its time limit
///   (``/SessionCore/SessionPolicy``), and treats it as a request without a response on which the server may
///   have acted.
/// - throws a ``BackendError``, which says whether the server may have acted
///   (``BackendError/mayHaveActed``). What follows from a lost response depends on it.
///
/// A ``RequestContext`` says what the session knows of a request. Most backends ignore it.
///
/// - Requirement: POL-4, REF-4, REF-6
public protocol AuthBackend: Sendable {
  /// Identifies the backend.
  ///
  /// Stored tokens are sent to no other one.
  ///
  /// The default is ``BackendIdentity/unnamed``. A backend that passes requests on to another one
  /// returns that one's identity.
  ///
  /// - Requirement: STO-6
  var identity: BackendIdentity { get }

  /// The meanings of the backend's own error codes; none by default.
  ///
  /// Codes that are known for every backend (``/SessionCore/ErrorMeaning/init(code:)``) need no entry.
  ///
  /// The journal keeps a code of 1 to 64 characters of `A–Z a–z 0–9 _ - .` that is named here.
  ///
  /// - Requirement: POL-8
  var errorCodes: [String: ErrorMeaning] { get }

  /// What the session may expect of the backend; by default that it refreshes tokens.
  var traits: BackendTraits { get }

  /// Logs a user in, or creates an account.
  ///
  /// Switch over the credential, and throw `unsupported` for a case that the backend does not
  /// offer. For ``Credential/refreshToken(_:)`` send the refresh request. If its response has no
  /// newer refresh token, the session keeps the given one.
  ///
  /// The response must name the user, unless ``profile(using:in:)`` does. Return
  /// ``TokenResponse/accountCreated`` for a registration after which the user must sign in.
  /// ``BackendError/Code/rejected`` means that the credential is wrong.
  ///
  /// - Requirement: LOG-3, LOG-5, LOG-14, LOG-15
  func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse

  /// Gets newer tokens.
  ///
  /// The request carries no access token, unless the server requires it
  /// (``RequestContext/access``).
  ///
  /// If the response states an instant of expiry, count ``TokenResponse/lifetime`` from the
  /// response's own time (`Date` in HTTP), not from the device's clock.
  ///
  /// ``BackendError/Code/rejected``, `userInactive` and `userDeleted` end the session. After every
  /// other error the session continues, and tries again with the same refresh token.
  ///
  /// - Requirement: REF-4, REF-5, REF-6
  func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse

  /// Gets a token for another context.
  ///
  /// The default throws `unsupported`.
  ///
  /// - Requirement: CTX-1
  func switchContext(
    _ target: ContextTarget, using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse

  /// Asks for the user's profile and whether the account is active.
  ///
  /// The default returns `nil`: the backend has no profile.
  ///
  /// ``BackendError/Code/rejected`` means that the access token is refused.
  ///
  /// - Requirement: LOG-6
  func profile(
    using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> ProfileResponse?

  /// Informs the server that a session has ended.
  ///
  /// The default throws `unsupported`.
  ///
  /// When it returns, the tokens must be invalid. After an error the session calls it again later,
  /// except for:
  ///
  /// - ``BackendError/Code/unsupported``: the backend has no such request.
  /// - ``BackendError/Code/alreadyInvalid``: the tokens were invalid before.
  /// - ``BackendError/Code/accessTokenRefused``: the session refreshes the access token and calls
  ///   this function again at once.
  ///
  /// - Requirement: OUT-1, OUT-5
  func revoke(_ tokens: RevocableTokens, in context: RequestContext) async throws(BackendError)
}

extension AuthBackend {
  /// ``BackendIdentity/unnamed``.
  public var identity: BackendIdentity { .unnamed }

  /// No codes.
  public var errorCodes: [String: ErrorMeaning] { [:] }

  /// Those of a backend that refreshes tokens.
  public var traits: BackendTraits { BackendTraits() }

  /// Throws `unsupported`.
  public func switchContext(
    _ target: ContextTarget, using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    throw .unsupported("the backend has no request that switches the context")
  }

  /// Returns `nil`: the backend has no profile.
  public func profile(
    using token: AccessToken, in context: RequestContext
  ) async throws(BackendError) -> ProfileResponse? {
    nil
  }

  /// Throws `unsupported`.
  public func revoke(
    _ tokens: RevocableTokens, in context: RequestContext
  ) async throws(BackendError) {
    throw .unsupported("the backend has no request that revokes tokens")
  }
}

/// Identifies the backend to which stored tokens belong: its origins, and the app's client
/// identifier.
///
/// Stored tokens are sent to no other backend. Paths do not count: a new path on the same origin
/// has the same operator. See `Specs/Decisions/bind-secrets-to-their-backend.md`.
///
/// - Requirement: STO-6
public struct BackendIdentity: Hashable, Codable, Sendable {
  /// The origins, such as `https://api.school.test`: in lower case, without the default port, and
  /// sorted.
  let origins: [String]
  let client: String?

  init(origins: [String], client: String?) {
    (self.origins, self.client) = (origins, client)
  }

  /// Creates the identity of a backend at these addresses, for this client of the app.
  ///
  /// Only the origins count.
  public init(origins: [URL], clientID: String? = nil) {
    self.init(origins: Set(origins.compactMap(\.bareOrigin)).sorted(), client: clientID)
  }

  /// Creates the identity of a backend without an address, by a unique name such as
  /// `com.example.accounts`.
  public init(_ name: String) {
    self.init(origins: [name], client: nil)
  }

  /// The identity of an unknown backend, which cannot use the tokens of a named backend.
  ///
  /// Two unnamed backends count as the same.
  public static let unnamed = BackendIdentity(origins: [String](), client: nil)

  /// Returns whether secrets of this backend may be sent to every origin of the other one.
  func covers(_ other: BackendIdentity) -> Bool {
    // Most stored items are of the backend that the session has now.
    if self == other { return true }
    guard !other.origins.isEmpty else { return false }
    // The client counts, since a server issues refresh tokens to one client (RFC 6749 section 6).
    // Its secret does not, since it may change. Two backends on one origin with one client are not
    // told apart.
    return client == other.client && Set(other.origins).isSubset(of: origins)
  }
}

extension BackendIdentity: CustomStringConvertible {
  /// The origins and the client, such as `https://api.school.test (client app-1)`.
  public var description: String {
    let place = origins.isEmpty ? "(unnamed)" : origins.joined(separator: ", ")
    return client.map { "\(place) (client \($0))" } ?? place
  }
}

extension URL {
  /// The scheme, host and port, also of an address with a user name.
  fileprivate var bareOrigin: String? {
    if baseURL == nil, let origin = CallAddress.origin(of: self) { return origin }
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    return parts.url.flatMap(CallAddress.origin)
  }
}

/// The role, school and unit to which a user wants to switch.
///
/// - Requirement: CTX-1
public struct ContextTarget: Hashable, Sendable {
  /// The role.
  public let role: Identifier
  /// The school or organisation, if there is one.
  public let school: Identifier?
  /// The academic unit or team within it, if there is one.
  public let unit: Identifier?

  /// Creates a target.
  public init(role: Identifier, school: Identifier? = nil, unit: Identifier? = nil) {
    self.role = role
    self.school = school
    self.unit = unit
  }
}
