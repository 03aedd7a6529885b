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

  /// What creating an account comes to (LOG-5).
  public enum Registration: Hashable, Sendable {
    /// There is an account, and one signs in with it; what the answer holds is not read.
    case accountOnly
    /// The answer is that of a login.
    case signsIn
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
  /// Where and how each kind of request goes out.
  public var endpoints: HTTPEndpoints
  /// How the app itself proves who it is.
  public var client = ClientAuthentication.none
  /// Header fields of every request of the session itself; those of an endpoint replace them.
  ///
  /// Not of the app's own calls: what those have, they are made with.
  public var headers: [HTTPHeader] = []
  /// What requests and users are made of, by name.
  public var keys = RequestFieldNames()
  /// Where answers say what.
  public var answer = ResponseMapping()
  /// What creating an account comes to.
  public var registration = Registration.accountOnly
  /// What an access token must look like.
  public var tokenForm = TokenForm.jwt
  /// What answers other than a plain success mean: the first that matches counts.
  public var failures = FailureRule.standard
  /// What the backend's own error codes mean, beside those that are known for every backend
  /// (``ErrorMeaning/init(code:)``).
  ///
  /// Such a code is kept in the journal as it is, with its meaning, if it has 1 to 64 characters of
  /// `A–Z a–z 0–9 _ - .`. What follows from a meaning, ``failures`` says (``FailureRule/meanings``).
  /// - Requirement: POL-8
  public var errorCodes: [String: ErrorMeaning] = [:]
  /// What is done about a sign-in without a refresh token, if there is ``HTTPEndpoints/refresh``: mostly, a
  /// path of ``ResponseMapping/refreshToken`` is wrong.
  /// - Requirement: LOG-11
  public var missingRefreshToken = MissingRefreshToken.warns
  /// Which answers to a revocation mean that it is done.
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

  /// A backend with EDU's names at these endpoints.
  public init(baseURL: URL, endpoints: HTTPEndpoints = HTTPEndpoints()) {
    self.baseURL = baseURL
    self.endpoints = endpoints
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
