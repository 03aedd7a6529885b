@_spi(Internals) import SessionCore

/// The key to which the server bound the tokens.
///
/// - Requirement: INT-9
extension SessionEngine {
  /// Reads the public key, and returns whether the key of a token is lost.
  ///
  /// It is not if the key is locked, or does not answer in time: the next refresh asks it again.
  func proofKeyLoss() async -> (_ bound: Identifier?) -> Bool {
    guard let proof = traits.proof, coordinator.fold.kind == .authenticated else {
      return { _ in false }
    }
    let found = await bounded(by: policy.requestTimeout) { () async throws(ProofKeyError) in
      try await proof.key.publicKey()
    }
    switch found {
    case .success(let key)?:
      let held = Identifier(key.thumbprint)
      return { $0 != nil && $0 != held }
    case .failure(.gone)?: return { $0 != nil }
    case .failure?, nil: return { _ in false }
    }
  }

  /// Reports a bearer token in place of a bound one.
  func warnOfBearer(_ answer: TokenResponse, signsIn: Bool) {
    guard traits.proof != nil, answer.boundKey == nil,
      signsIn || credentials.token?.boundKey != nil
    else { return }
    hub.warn(.tokenNotBound)
  }
}
