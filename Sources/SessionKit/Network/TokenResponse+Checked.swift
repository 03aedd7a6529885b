@_spi(Internals) import SessionCore

// A response that an app's own backend made is checked like a response of HTTP.
extension TokenResponse {
  /// Returns the response with its user and source.
  ///
  /// Throws if the response cannot be used.
  ///
  /// A response that the library has read is returned unchanged.
  func checked(_ step: TokenStep, of expected: ExpectedUser?) throws(BackendError)
    -> TokenResponse
  {
    guard !isRead, !isAccountOnly else { return self }
    guard access.isToken, refresh?.isToken ?? true else {
      throw BackendError(
        .invalidResponse,
        message: "a token is empty or contains a character that no token may contain")
    }
    var found = self
    if tokenID?.isAddress == true { found.tokenID = nil }
    guard let user else { return found }
    let origin = UserOrigin(source: UserOrigin.reader, value: user.id.description)
    if !step.signsIn, let expected {
      let isDecisive = expected.origin?.source == origin.source
      if isDecisive, expected.origin != origin {
        found.take(.another(by: .reader))
      } else if isDecisive || user.id == expected.id {
        found.take(FoundUser(profile: user.renamed(expected.id), origin: origin))
      } else {
        found.user = nil
      }
      return found
    }
    if !user.id.isAddress {
      found.origin = origin
    } else if step.spends(refresh) {
      found.user = nil
    } else {
      throw BackendError(
        .invalidResponse,
        message: "the user's id is \(Identifier.addressProblem); use another id for the user")
    }
    return found
  }
}
