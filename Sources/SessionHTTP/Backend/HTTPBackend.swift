public import Foundation
public import SessionKit

/// A backend of HTTP as configuration: addresses, names and rules.
///
/// A preset is a starting point; every part can be changed. `Specs/Presets.md` shows whole ones.
///
/// - Requirement: POL-4
public struct HTTPBackend: Sendable {
  /// What a request is for.
  public enum Step: Hashable, Sendable, CaseIterable {
    /// Signing in with a password.
    case login
    /// Creating an account.
    case register
    /// Signing in with the token of another service.
    case social
    /// Getting a newer token.
    case refresh
    /// Acting in another context.
    case switchContext
    /// Asking who the user is.
    case profile
    /// Telling the server that a session has ended.
    case revocation
    /// A protected call of the app.
    case call
  }

  /// What is done about a sign-in without a refresh token, if the backend has an endpoint to refresh.
  public enum MissingRefreshToken: Hashable, Sendable {
    /// The user is signed in, and `SessionWarning.refreshTokenMissing` is reported.
    case warns
    /// The login fails with `invalidResponse`, and the tokens of its response are revoked.
    case fails
  }

  /// What an access token must look like.
  public enum TokenForm: Hashable, Sendable {
    /// Three parts with dots between them; its claims are read as hints.
    case jwt
    /// Anything; claims are read where it happens to have them.
    case opaque
  }

  /// What the endpoints' paths are appended to.
  public var baseURL: URL
  /// Signing in with a password; `nil` where one does not sign in over this backend.
  public var login: HTTPEndpoint?
  /// Creating an account; `nil` where that is done elsewhere.
  ///
  /// - Requirement: LOG-5
  public var register: HTTPEndpoint?
  /// Signing in with the token of another service; `nil` where one does not.
  ///
  /// - Requirement: LOG-5
  public var social: HTTPEndpoint?
  /// Getting a newer token; `nil` where tokens are not refreshed: refresh tokens in responses are
  /// passed over then.
  public var refresh: HTTPEndpoint?
  /// Changing the context; `nil` where there are none.
  ///
  /// - Requirement: CTX-1
  public var switchContext: HTTPEndpoint?
  /// Who the user is and how they stand, asked with a login and at launch, as the policy says.
  ///
  /// - Requirement: LOG-6
  public var profile: HTTPEndpoint?
  /// Telling the server that a session has ended, such as by a logout.
  ///
  /// - Requirement: OUT-1
  public var revocation: HTTPEndpoint?
  /// Further requests for the same, in their order, such as one for each of two tokens.
  ///
  /// The session is revoked if the server confirms all. What it has confirmed is not asked again.
  ///
  /// - Requirement: OUT-5
  public var furtherRevocations: [HTTPEndpoint] = []
  /// How the app itself proves who it is.
  public var client = ClientAuthentication.none
  /// Header fields of every request of the session itself; those of an endpoint replace them.
  ///
  /// Not of the app's own calls: what those have, they are made with.
  public var headers: [HTTPHeader] = []
  /// The names of what a request asks with.
  public var requestFields = RequestFieldNames()
  /// Where a response says what.
  public var response = ResponseMapping()
  /// The members of a context object, which a response has and a switch asks for.
  public var contextKeys = ContextKeys()
  /// What an access token must look like.
  public var tokenForm = TokenForm.jwt
  /// What responses other than a plain success mean: the first that matches counts.
  public var failures = FailureRule.standard
  /// What the backend's own error codes mean, beside those that are known for every backend
  /// (``ErrorMeaning/init(code:)``).
  ///
  /// Such a code is kept in the journal as it is, with its meaning, if it has 1 to 64 characters of
  /// `A–Z a–z 0–9 _ - .`. What follows from a meaning, ``failures`` says (``FailureRule/meanings``).
  /// - Requirement: POL-8
  public var errorCodes: [String: ErrorMeaning] = [:]
  /// What is done about a sign-in without a refresh token, if there is ``HTTPBackend/refresh``: mostly, a
  /// path of ``ResponseMapping/refreshToken`` is wrong.
  /// - Requirement: LOG-11
  public var missingRefreshToken = MissingRefreshToken.warns
  /// Which responses to a revocation mean that it is done.
  public var revoked = RevocationRule()
  /// Changes each request of the session itself before it is sent, such as by a signature, an attestation or
  /// a client's assertion; not the app's own calls.
  ///
  /// It counts towards the request's time. An `Authorization` that it brings into a refresh is removed. If it
  /// throws, nothing is sent: a ``BackendError`` says why, every other error counts as `noResponse`.
  ///
  /// - Requirement: REF-4
  public var prepare: (@Sendable (inout HTTPRequest, Step) async throws -> Void)?
  /// What carries the requests.
  public var transport: any HTTPTransport = URLSessionTransport()

  /// A backend with no endpoints yet; its names are those of ``snakeCaseJSON(_:)``.
  public init(baseURL: URL) {
    self.baseURL = baseURL
  }
}

extension HTTPBackend {
  /// Every endpoint that a revocation asks, in their order.
  var allRevocations: [HTTPEndpoint] { (revocation.map { [$0] } ?? []) + furtherRevocations }

  /// The endpoint of a step; `nil` for a protected call, whose address is the app's.
  package func endpoint(of step: Step) -> HTTPEndpoint? {
    switch step {
    case .login: login
    case .register: register
    case .social: social
    case .refresh: refresh
    case .switchContext: switchContext
    case .profile: profile
    case .revocation: revocation
    case .call: nil
    }
  }
}

extension HTTPBackend.Step {
  /// Whether its answer may say who the user is from now on.
  var signsIn: Bool { self == .login || self == .register || self == .social }
}

extension HTTPBackend: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host alone: header fields and fixed members may hold a client's secret.
  public var description: String { "backend at \(baseURL.host ?? "nowhere")" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["backend": description]) }
}
