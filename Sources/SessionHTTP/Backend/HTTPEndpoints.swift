/// The endpoints of a backend; `nil` where it has none of that kind.
public struct HTTPEndpoints: Hashable, Sendable {
  /// Signing in with a password; `nil` where one does not sign in over this backend.
  public var login: HTTPEndpoint?
  /// Creating an account (LOG-5); `nil` where that is done elsewhere.
  public var register: HTTPEndpoint?
  /// Signing in with the token of another service (LOG-5); `nil` where one does not.
  public var social: HTTPEndpoint?
  /// Getting a newer token; `nil` where tokens are not refreshed: refresh tokens in answers are
  /// passed over then.
  public var refresh: HTTPEndpoint?
  /// Changing the context (CTX-1).
  public var switchContext: HTTPEndpoint?
  /// Who the user is and how they stand, asked with a login and at launch, as the policy says (LOG-6).
  public var profile: HTTPEndpoint?
  /// Telling the server that a session has ended (OUT-1).
  public var revocation: HTTPEndpoint?
  /// Further requests for the same, in their order, such as one for each of two tokens (OUT-5).
  ///
  /// The session is revoked if the server confirms all. What it has confirmed is not asked again.
  public var furtherRevocations: [HTTPEndpoint] = []

  /// No endpoints.
  public init() {}

  /// Every endpoint that is told that a session has ended, in their order.
  var allRevocations: [HTTPEndpoint] { (revocation.map { [$0] } ?? []) + furtherRevocations }

  /// The endpoint of a step; `nil` for a protected call, whose address is the app's.
  public subscript(step: HTTPBackend.Step) -> HTTPEndpoint? {
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
