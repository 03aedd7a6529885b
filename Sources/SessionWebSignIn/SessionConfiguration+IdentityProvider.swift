import SessionCore
public import SessionKit

extension SessionConfiguration {
  /// The app's identity SDK, if it owns the tokens; `nil` if the backend does.
  ///
  /// The refresh is then a silent acquisition, and the logout at the server removes the account. No
  /// refresh token is stored. Leave it `nil` for an SDK whose refresh token the backend accepts.
  ///
  /// - Requirement: WEB-6
  public var identityProvider: (any IdentityProvider)? {
    get { (tokenSource as? ProviderTokenSource)?.provider }
    set { tokenSource = newValue.map { ProviderTokenSource(provider: $0) } }
  }
}

/// Uses an identity provider as the source of a session's tokens.
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
  /// Creates the error of a provider's failed refresh, with the name and code of its problem, but
  /// without its text.
  fileprivate init(_ problem: WebSignInProblem?) {
    let kind: RequestFailure.Kind
    var code: IdentityCode?
    switch problem {
    case .noAccount: kind = .rejected
    case .refused(let refusal):
      code = refusal
      kind = Self.final.contains(refusal?.description ?? "") ? .rejected : .unexpected
    case .unreachable: kind = .noConnection
    case .unreadableTokens, .identityToken: kind = .unreadable
    case .requestFailed(let failure, let detail):
      self.init(failure, message: detail)
      return
    case .cancelledByUser, .forgottenPassword, .viewFailed, .cancelled, .otherIssuer, .noRedirect,
      .noPage, nil:
      kind = .noReply
    }
    let reason = problem?.description ?? "it gave no known reason"
    self.init(
      RequestFailure(kind: kind, serverCode: code?.description),
      message: "the identity provider: \(reason)")
  }

  /// Codes that mean an invalid grant.
  ///
  /// `AADB2C90080` is B2C's code for an expired grant, `AADB2C90129` for a revoked one.
  private static let final: Set<String> = [
    "invalid_grant", "consent_required", "account_selection_required", "interaction_required",
    "login_required", "AADB2C90080", "AADB2C90129",
  ]
}
