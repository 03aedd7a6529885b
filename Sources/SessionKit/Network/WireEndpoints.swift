/// The endpoints of a backend; `nil` where it has none of that kind.
public struct WireEndpoints: Hashable, Sendable {
  /// Signing in with a password; `nil` where one does not sign in over this wire.
  public var login: WireEndpoint?
  /// Creating an account (LOG-5); `nil` where that is done elsewhere.
  public var register: WireEndpoint?
  /// Signing in with the token of another service (LOG-5); `nil` where one does not.
  public var social: WireEndpoint?
  /// Getting a newer token; `nil` where tokens are not refreshed: refresh tokens in answers are
  /// passed over then.
  public var refresh: WireEndpoint?
  /// Changing the context (CTX-1).
  public var switchContext: WireEndpoint?
  /// Who the user is and how they stand, asked with a login and at launch, as the policy says (LOG-6).
  public var profile: WireEndpoint?
  /// Telling the server that a session has ended (OUT-1).
  public var revocation: WireEndpoint?
  /// Further requests for the same, in their order, such as one for each of two tokens (OUT-5).
  ///
  /// The session is revoked if the server confirms all. What it has confirmed is not asked again.
  public var furtherRevocations: [WireEndpoint] = []

  /// No endpoints.
  public init() {}

  /// Every endpoint that is told that a session has ended, in their order.
  var allRevocations: [WireEndpoint] { (revocation.map { [$0] } ?? []) + furtherRevocations }

  /// The endpoint of a step; `nil` for a protected call, whose address is the app's.
  public subscript(step: Wire.Step) -> WireEndpoint? {
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
