import Foundation
@_spi(Internals) package import SessionCore
package import SessionKit

// Proofs of possession in the session's own requests (INT-9).
extension HTTPBackend {
  /// Sends a request with a proof, and again if the server refuses only the proof.
  ///
  /// The server has not acted on a request whose proof it refused (RFC 9449 §8).
  func send(
    _ request: HTTPRequest, _ step: Step, provedBy proof: ProofOfPossession, bound access: Secret?,
    in context: RequestContext
  ) async throws(BackendError) -> HTTPResponse {
    var request = request
    if let access { request.carry(bound: access) }
    let server = ProofMemory.Server(of: request.url, issuesTokens: step.asksForToken)
    var repeated: Set<String> = []
    while true {
      let made: ProofOfPossession.Made
      do throws(ProofKeyError) {
        made = try await proof.made(
          request.method, request.url, access, boundTo: context.boundKey, for: server,
          at: context.clock.now())
      } catch {
        throw BackendError(error)
      }
      // Another process may have ended the session while the key signed, or the server answered.
      guard await context.mayBeSent() else {
        throw .noResponse(
          "the session has changed, and the request was not sent", mayHaveActed: false)
      }
      request.headers.removeAll { $0.isNamed("DPoP") }
      request.headers.append(HTTPHeader("DPoP", made.text))
      let response = try await sendOnce(request)
      let news = proof.take(
        reply(response), to: made.claims, of: server, at: context.clock.now())
      guard let news, repeated.insert(news).inserted else { return response }
    }
  }

  /// Returns the parts of a response that the next proof depends on.
  private func reply(_ response: HTTPResponse) -> ProofMemory.Reply {
    let fields = response.headers.map { (name: $0.name, value: $0.value) }
    let isRefusal = response.status == 400 || response.status == 401
    return ProofMemory.Reply(
      nonce: response.header("DPoP-Nonce"),
      code: isRefusal
        ? AuthenticationChallenge.proofError(in: fields) ?? code(response) : nil,
      serverTime: response.header("Date").flatMap { Timestamp(httpDate: $0) })
  }

  /// Returns the key to which the server bound the token in a response; `nil` for a bearer token.
  package func boundKey(_ members: JSONMembers) throws(Unreadable) -> Identifier? {
    let type = try members.first(response.tokenType, members.string)
    return type?.lowercased() == "dpop" ? proof?.thumbprint : nil
  }
}

extension HTTPBackend.Step {
  /// Whether the response may have tokens.
  var asksForToken: Bool {
    switch self {
    case .login, .register, .social, .refresh, .switchContext: true
    case .profile, .revocation, .call: false
    }
  }
}

extension HTTPRequest {
  /// Gives a token that the server bound to a key the scheme of such tokens (RFC 9449 §7.1).
  fileprivate mutating func carry(bound access: Secret) {
    let bearer = HTTPHeader("Authorization", "Bearer \(access.plaintext)")
    guard let index = headers.firstIndex(of: bearer) else { return }
    headers[index] = HTTPHeader("Authorization", "DPoP \(access.plaintext)")
  }
}
