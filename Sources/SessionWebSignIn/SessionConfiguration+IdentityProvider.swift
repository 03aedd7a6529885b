import SessionCore
public import SessionKit

extension SessionConfiguration {
  /// The app's identity SDK, if it owns the tokens; `nil` if the backend does.
  ///
  /// Acquiring silently is the refresh then, and removing the account is the logout at the server. No refresh
  /// token is kept. Leave it `nil` for an SDK whose refresh token the backend takes.
  ///
  /// - Requirement: WEB-6
  public var identityProvider: (any IdentityProvider)? {
    get { (tokenSource as? ProviderTokenSource)?.provider }
    set { tokenSource = newValue.map { ProviderTokenSource(provider: $0) } }
  }
}

/// An identity provider as the source of a session's tokens.
///
/// - Requirement: WEB-6
private struct ProviderTokenSource: TokenSource {
  let provider: any IdentityProvider

  func acquireSilently(_ account: Identifier?) async throws(BackendError) -> IdentityTokens {
    do { return try await provider.acquireSilently(account) } catch {
      throw BackendError(IdentityError.problem(in: error))
    }
  }

  func removeAccount(_ account: Identifier) async throws {
    try await provider.removeAccount(account)
  }
}

extension BackendError {
  /// How a provider's refresh failed: by the name and code of its problem, without its text.
  fileprivate init(_ problem: WebSignInProblem?) {
    let kind: RequestFailure.Kind
    var code: IdentityCode?
    switch problem {
    case .noAccount: kind = .rejected
    case .refused(let refusal):
      code = refusal
      kind = Self.final.contains(refusal?.description ?? "") ? .rejected : .unexpected
    case .unreachable: kind = .noConnection
    case .unreadableTokens: kind = .unreadable
    case .cancelledByUser, .forgottenPassword, .viewFailed, .cancelled, nil: kind = .noReply
    }
    let said = problem?.description ?? "it said nothing that is known"
    self.init(
      RequestFailure(kind: kind, serverCode: code?.description),
      message: "the identity provider: \(said)")
  }

  /// Codes of a grant that is dead: `AADB2C90080` is B2C's of one that has expired, `AADB2C90129` of one
  /// that was revoked.
  private static let final: Set<String> = [
    "invalid_grant", "consent_required", "account_selection_required", "interaction_required",
    "login_required", "AADB2C90080", "AADB2C90129",
  ]
}
