@_spi(Internals) package import SessionCore
package import SessionKit

// What a session requires of its backend in addition to `AuthBackend`.
extension HTTPBackend: DetailedBackend {
  package var keepsTimeLimit: Bool { prepare == nil }

  package var callDefaults: CallDefaults {
    CallDefaults(
      baseURL: baseURL,
      endpoints: Step.allCases.compactMap { step in
        endpoint(of: step).map {
          CallDefaults.Endpoint(
            method: $0.method, url: $0.url(below: baseURL), isLeftAlone: step.isLeftAlone)
        }
      },
      tellingStatuses: failures.filter {
        ($0.meaning == .rejected || $0.meaning.isOfAccount) && $0.steps?.contains(.call) != false
      }
      .map(\.statuses),
      failure: { failure(.call, HTTPResponse($0)) })
  }

  package var refreshesTokens: Bool { refresh != nil }

  package var userClaims: [UserClaim] {
    response.user.compactMap { source in
      guard case .claim(let path, let token) = source else { return nil }
      return UserClaim(path.steps, of: token.kind)
    }
  }

  package func user(access: JSONMembers?, identity: JSONMembers?) -> FoundUser? {
    let sources = UserSources(
      members: JSONMembers([:]), access: access, identity: identity, userName: nil, expected: nil,
      isBesideToken: false)
    do throws(Unreadable) { return try user(.login, sources) } catch {
      // A source that cannot be read names no user.
      return nil
    }
  }

  package func context(claimedBy payload: JSONMembers) -> ActiveContext? {
    TokenClaims(payload: payload, keys: contextKeys).context
  }
}

extension HTTPBackend.Step {
  /// Whether an app's own call to this endpoint is sent unchanged.
  ///
  /// - Requirement: INT-3
  fileprivate var isLeftAlone: Bool {
    switch self {
    case .login, .register, .social, .refresh, .revocation: true
    case .switchContext, .profile, .call: false
    }
  }
}

extension HTTPResponse {
  /// Creates the response to a call.
  init(_ response: CallResponse) {
    self.init(
      status: response.status, headers: response.fields.map { HTTPHeader($0.name, $0.value) },
      body: response.body)
  }
}
