@_spi(Internals) import SessionCore

/// What a logout at the provider's page needs.
///
/// - Requirement: OUT-8
extension StoredCredentials {
  /// Returns the identity token to keep; `nil` if it is too long for the address of a page.
  func identity(
    in answer: TokenResponse, after event: SessionEvent, replacing old: StoredToken?
  ) -> String? {
    var before = old?.fields.identity
    if case .login = event { before = nil }
    // A refresh seldom brings one, and a page accepts that of the login.
    guard answer.identityProblem == nil, let identity = answer.identity?.plaintext else {
      return before
    }
    return identity.utf8.count <= Self.longestHint ? identity : before
  }

  /// Many servers refuse a request line of 8 KiB.
  private static let longestHint = 6144

  /// Keeps what the provider's page needs after the logout of this generation.
  ///
  /// Call it under the journal's lock.
  func keepPage(of generation: Generation) throws(SessionError) -> Secret? {
    let identity: String?
    do throws(SecretStoreError) { identity = try token()?.fields.identity } catch {
      throw .secrets(error)
    }
    let others = try keptRevocations().filter { $0.isPage != true }
    try replaceRevocations([.init(page: generation, identity: identity)] + others)
    return identity.map { Secret($0) }
  }

  /// Returns the entry of the provider's page; `nil` if this generation has none.
  func page(of generation: Generation) throws(SessionError) -> StoredRevocations.Entry? {
    try keptRevocations().first { $0.isPage == true && $0.token == generation }
  }

  /// Removes the entry of the provider's page.
  ///
  /// Call it under the journal's lock.
  func forgetPage() throws(SessionError) {
    let all = try keptRevocations()
    let others = all.filter { $0.isPage != true }
    if others.count < all.count { try replaceRevocations(others) }
  }
}
