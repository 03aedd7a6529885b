public import Foundation
public import SessionKit

/// A backend of HTTP, configured with addresses, names and rules.
///
/// A preset is a starting point, and every part can be changed. `Specs/Presets.md` shows complete
/// ones.
///
/// - Requirement: POL-4
public struct HTTPBackend: Sendable {
  /// The purpose of a request.
  public enum Step: Hashable, Sendable, CaseIterable {
    /// Signs in with a password.
    case login
    /// Creates an account.
    case register
    /// Signs in with the token of another service.
    case social
    /// Gets a newer token.
    case refresh
    /// Switches to another context.
    case switchContext
    /// Gets the user's profile.
    case profile
    /// Informs the server that a session has ended.
    case revocation
    /// Makes a protected call of the app.
    case call
  }

  /// The consequence of a sign-in without a refresh token, if the backend has an endpoint to
  /// refresh.
  public enum MissingRefreshToken: Hashable, Sendable {
    /// The user is signed in, and `SessionWarning.refreshTokenMissing` is reported.
    case warns
    /// The login fails with `invalidResponse`, and the tokens of its response are revoked.
    case fails
  }

  /// The required form of an access token.
  public enum TokenForm: Hashable, Sendable {
    /// Three parts with dots between them.
    ///
    /// Its claims are read as hints.
    case jwt
    /// Any form.
    ///
    /// Claims are read if the token has them.
    case opaque
  }

  /// The address to which the endpoints' paths are appended.
  public var baseURL: URL
  /// The endpoint to sign in with a password; `nil` if the backend has none.
  public var login: HTTPEndpoint?
  /// The endpoint to create an account; `nil` if the backend has none.
  ///
  /// - Requirement: LOG-5
  public var register: HTTPEndpoint?
  /// The endpoint to sign in with the token of another service; `nil` if the backend has none.
  ///
  /// - Requirement: LOG-5
  public var social: HTTPEndpoint?
  /// The endpoint to get a newer token; `nil` if tokens are not refreshed.
  ///
  /// If it is `nil`, refresh tokens in responses are ignored.
  public var refresh: HTTPEndpoint?
  /// The endpoint to switch the context; `nil` if there are no contexts.
  ///
  /// - Requirement: CTX-1
  public var switchContext: HTTPEndpoint?
  /// The endpoint for the user's profile and the status of the account.
  ///
  /// The session calls it at a login and at launch, as the policy says.
  ///
  /// - Requirement: LOG-6
  public var profile: HTTPEndpoint?
  /// The endpoint that informs the server that a session has ended, such as by a logout.
  ///
  /// - Requirement: OUT-1
  public var revocation: HTTPEndpoint?
  /// Further endpoints for a revocation, in order, such as one for each of two tokens.
  ///
  /// The session is revoked if the server confirms all requests. A confirmed request is not
  /// repeated.
  ///
  /// - Requirement: OUT-5
  public var furtherRevocations: [HTTPEndpoint] = []
  /// How the app identifies itself.
  public var client = ClientAuthentication.none
  /// Header fields of every request of the session itself.
  ///
  /// Those of an endpoint replace them.
  ///
  /// They do not apply to the app's own calls, which set their own fields.
  public var headers: [HTTPHeader] = []
  /// The names of a request's members.
  public var requestFields = RequestFieldNames()
  /// The places of values in a response.
  public var response = ResponseMapping.standard
  /// The members of a context object, in responses and in requests to switch.
  public var contextKeys = ContextKeys.standard
  /// The required form of an access token.
  public var tokenForm = TokenForm.jwt
  /// The rules for responses other than a plain success.
  ///
  /// The first rule that matches counts.
  public var failures = FailureRule.standard
  /// The meanings of the backend's own error codes.
  ///
  /// Codes that are known for every backend (``/SessionCore/ErrorMeaning/init(code:)``) need no entry.
  ///
  /// The journal keeps such a code with its meaning, if it has 1 to 64 characters of `A–Z a–z 0–9 _
  /// - .`. ``failures`` decides the consequence of a meaning (``FailureRule/meanings``).
  ///
  /// - Requirement: POL-8
  public var errorCodes: [String: ErrorMeaning] = [:]
  /// The consequence of a sign-in without a refresh token, if there is ``HTTPBackend/refresh``.
  ///
  /// The usual cause is a wrong path of ``ResponseMapping/refreshToken``.
  ///
  /// - Requirement: LOG-11
  public var missingRefreshToken = MissingRefreshToken.warns
  /// What identity tokens must be; `nil` if they are not checked, which is the default.
  ///
  /// A login whose token is wrong throws `invalidResponse` with
  /// ``/SessionCore/WebSignInProblem/identityToken(_:)``, and its tokens are revoked. At a refresh the server has replaced the refresh token already. So its
  /// response is used, and `SessionWarning.identityTokenRefused` is reported. But if `sub` has changed,
  /// the tokens are another user's, and the session ends.
  ///
  /// - Requirement: LOG-18
  public var identityToken: IdentityToken.Expectation?
  /// Whether the last identity token is kept beside the token, for a logout at the provider's page.
  ///
  /// It may name the user by name and address. It is a secret like the token, and at most 6 KiB. `OpenIDProvider`
  /// sets this if the provider has such a page.
  ///
  /// - Requirement: OUT-8
  public var keepsIdentityToken = false
  /// The rule that decides which responses confirm a revocation.
  public var revoked = RevocationRule()
  /// Changes each request of the session itself before it is sent, but not the app's own calls.
  ///
  /// It can add a signature, an attestation or a client's assertion.
  ///
  /// It counts towards the request's time limit. An `Authorization` that it adds to a refresh is
  /// removed. If it throws, nothing is sent: a ``/SessionKit/BackendError`` is the reason, and every other
  /// error counts as `noResponse`.
  ///
  /// - Requirement: REF-4
  public var prepare: (@Sendable (inout HTTPRequest, Step) async throws -> Void)?
  /// Proves that the session holds its tokens (DPoP, RFC 9449); `nil` for bearer tokens, the default.
  ///
  /// Requests for tokens have a proof, and so do calls with a token that the server has bound to the key.
  /// If the key is lost, the session ends with `proofKeyLost`.
  ///
  /// - Requirement: INT-9
  public var proof: ProofOfPossession?
  /// The transport that sends the requests; `URLSession` by default.
  ///
  /// Without the package trait `URLSession` there is no default, and a request throws until it is set.
  ///
  /// - Requirement: LCH-2
  public var transport: any HTTPTransport = standardTransport()

  /// Creates a backend without endpoints.
  ///
  /// Its names are those of ``snakeCaseJSON(_:)``. Access tokens must be JSON Web Tokens, unless you
  /// set ``tokenForm`` to ``TokenForm/opaque``.
  public init(baseURL: URL) {
    self.baseURL = baseURL
  }
}

extension HTTPBackend {
  /// The endpoints of a revocation, in order.
  var allRevocations: [HTTPEndpoint] { (revocation.map { [$0] } ?? []) + furtherRevocations }

  /// Returns the endpoint of a step; `nil` for a protected call, whose address is the app's.
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
  /// Whether the response may name a new user of the session.
  var signsIn: Bool { self == .login || self == .register || self == .social }
}

extension HTTPBackend: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host only, since header fields and fixed members may contain a client's secret.
  public var description: String { "backend at \(baseURL.host ?? "nowhere")" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["backend": description]) }
}

/// The names of a request's members.
///
/// The defaults are those of ``HTTPBackend/snakeCaseJSON(_:)``.
///
/// In a body of JSON, a name with a dot is a nested member: `user.email` is sent as
/// `{"user":{"email":…}}`. Write a dot that is part of a name as `\.`. A form has no nested
/// members, so the dot stays in the name. The same applies to ``HTTPEndpoint/fields`` and the
/// places of tokens.
public struct RequestFieldNames: Hashable, Sendable {
  /// The user name of a login.
  public var userName = "email"
  /// The password of a login.
  public var password = "password"
  /// The name of the other service, for a login with its token.
  public var provider = "provider"
  /// The other service's token.
  public var providerToken = "token"

  /// Creates the names `email`, `password`, `provider` and `token`.
  public init() {}
}

/// Decides which responses to a revocation confirm that the session is over at the server.
///
/// A page confirms it only with a status of 4xx that ``statuses`` lists, except 401, 407, 408, 425 and 429. Any other
/// response is a failure, and the revocation is tried again. If the server has refused it with 4xx for 30
/// days, it is given up: the journal then says `abandoned` with the status.
///
/// - Requirement: OUT-1, OUT-5
public struct RevocationRule: Hashable, Sendable {
  /// The statuses that confirm it.
  ///
  /// By default 401 is one of them, since a refused refresh token is already invalid. The outcome is
  /// then `alreadyInvalid`. For ``HTTPBackend/oauth(token:revocation:client:scope:allowsPasswordGrant:)``
  /// it is not: such a server answers 200 for an invalid token, and 401 for a client that it does not
  /// accept (RFC 7009 §2.2, RFC 6749 §5.2).
  ///
  /// A code about the client or the request, such as `invalid_client` or `unsupported_token_type`,
  /// never confirms it, unless it is one of ``codes``. Neither does a 401 without a code about a token,
  /// if the app identifies itself by HTTP Basic: it concerns the app.
  public var statuses: [ClosedRange<Int>] = [200...299, 401...401]
  /// Whether a 401 confirms a request that the access token authenticates (`.bearer` or a header).
  ///
  /// By default it concerns the access token: that is refreshed, and the request is sent again. Set
  /// this for a server that answers 401 to a logout that worked, such as django-allauth 65.22
  /// (`DELETE` of its session). An access token that has expired is refreshed first in any case.
  public var unauthorizedConfirms = false
  /// The server's codes that confirm it with any status.
  ///
  /// `TOKEN_*` matches all codes with that prefix.
  public var codes: [String] = []

  /// Creates the rule for the statuses 2xx and 401.
  public init() {}

  func isDone(_ signs: AnswerSigns) -> Bool {
    lists(signs.status) || saysSo(signs)
  }

  func lists(_ status: Int) -> Bool { statuses.contains { $0.contains(status) } }

  /// Returns whether the server's code confirms it.
  func saysSo(_ signs: AnswerSigns) -> Bool {
    signs.code.map { code in codes.contains { FailureRule.matches(code, $0) } } == true
  }
}
