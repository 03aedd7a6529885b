@_spi(Internals) public import SessionCore

/// The server that issues the session's tokens, and how to speak to it.
///
/// The `HTTPBackend` of SessionHTTP is configured by values. Whatever a value cannot say is written as a type of
/// your own: another protocol than HTTP, an SDK, a simulation.
///
/// The session calls one function that may change a token at a time, in all processes. Each call:
///
/// - sends its request at most once. The session decides about another attempt.
/// - ends soon after its task is cancelled. The session cancels it if its time is over
///   (``SessionPolicy``), and takes it for a request without a response of which the server may have acted.
/// - throws a ``BackendError``, which says whether the server may have acted
///   (``BackendError/mayHaveActed``). What follows from a lost response depends on it.
///
/// - Requirement: POL-4, REF-4, REF-6
public protocol AuthBackend: Sendable {
  /// Which backend this is: stored tokens are sent to no other one.
  ///
  /// ``BackendIdentity/unnamed`` if not said. A backend that passes requests on to another one returns
  /// that one's identity.
  ///
  /// - Requirement: STO-6
  var identity: BackendIdentity { get }

  /// What the backend's own error codes mean, beside those that are known for every backend
  /// (``ErrorMeaning/init(code:)``); none if not said.
  ///
  /// The journal keeps a code of 1 to 64 characters of `A–Z a–z 0–9 _ - .` that is named here.
  ///
  /// - Requirement: POL-8
  var errorCodes: [String: ErrorMeaning] { get }

  /// Logs a user in, or creates an account.
  ///
  /// Switch over the credential, and throw `unsupported` for a case that the backend does not offer. For
  /// ``Credential/refreshToken(_:)`` send the refresh request: the session keeps that token if the response has no
  /// newer one.
  ///
  /// The response must say who the user is, unless ``profile(using:)`` does. For a registration after which
  /// the user has to sign in, it is ``TokenResponse/accountCreated``. ``BackendError/Code/rejected`` means
  /// that the credential is wrong.
  ///
  /// - Requirement: LOG-3, LOG-5, LOG-14, LOG-15
  func login(_ credential: Credential) async throws(BackendError) -> TokenResponse

  /// Gets newer tokens; the request carries no access token.
  ///
  /// ``BackendError/Code/rejected``, `userInactive` and `userDeleted` end the session. With every other error
  /// the session goes on, and tries again with the same refresh token.
  ///
  /// - Requirement: REF-4, REF-5, REF-6
  func refresh(_ token: RefreshToken) async throws(BackendError) -> TokenResponse

  /// Gets a token for another context; `unsupported` if not implemented.
  ///
  /// - Requirement: CTX-1
  func switchContext(
    _ target: ContextTarget, using token: AccessToken
  ) async throws(BackendError) -> TokenResponse

  /// Asks who the user is and whether the account is active; `nil`, the default, if the backend does not say.
  ///
  /// ``BackendError/Code/rejected`` means that the access token is refused.
  ///
  /// - Requirement: LOG-6
  func profile(using token: AccessToken) async throws(BackendError) -> ProfileResponse?

  /// Tells the server that a session has ended; `unsupported` if not implemented.
  ///
  /// If it returns, the tokens are invalid. The session calls it again later after an error, except:
  ///
  /// - ``BackendError/Code/unsupported``: the backend has no such request.
  /// - ``BackendError/Code/alreadyInvalid``: the tokens were invalid before.
  /// - ``BackendError/Code/accessTokenRefused``: the session refreshes the access token and calls this function
  ///   again at once.
  ///
  /// - Requirement: OUT-1, OUT-5
  func revoke(_ tokens: RevocableTokens) async throws(BackendError)
}

extension AuthBackend {
  /// ``BackendIdentity/unnamed``.
  public var identity: BackendIdentity { .unnamed }

  /// No codes.
  public var errorCodes: [String: ErrorMeaning] { [:] }

  /// Throws `unsupported`.
  public func switchContext(
    _ target: ContextTarget, using token: AccessToken
  ) async throws(BackendError) -> TokenResponse {
    throw .unsupported("there are no contexts to change to")
  }

  /// Returns `nil`: the backend does not say who the user is.
  public func profile(using token: AccessToken) async throws(BackendError) -> ProfileResponse? {
    nil
  }

  /// Throws `unsupported`.
  public func revoke(_ tokens: RevocableTokens) async throws(BackendError) {
    throw .unsupported("there is no revoking of tokens")
  }
}
