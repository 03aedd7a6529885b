import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit

/// The token endpoint of a grant: how its response is read, by the rules of a login.
///
/// - Requirement: LOG-18, LOG-20
struct TokenEndpoint: Sendable {
  private(set) var backend: HTTPBackend
  private let expected: IdentityToken.Expectation?
  private let nonce: String?
  private let isOpenID: Bool

  init(
    _ url: URL, _ client: ClientAuthentication, types: Set<String>, scope: String?,
    identityToken: IdentityToken.Expectation?, nonce: String? = nil
  ) {
    var backend = HTTPBackend.oauth(token: url, client: client)
    backend.response.tokenTypes = types
    (self.backend, self.nonce) = (backend, nonce)
    isOpenID = Self.isOpenID(scope)
    expected = identityToken
  }

  static func isOpenID(_ scope: String?) -> Bool {
    scope?.split(separator: " ").contains("openid") == true
  }

  /// Sends a request once, and returns the tokens in its response.
  func send(
    _ request: HTTPRequest, by transport: (any HTTPTransport)?, in context: RequestContext
  ) async throws(BackendError) -> IdentityTokens {
    var endpoint = self
    endpoint.backend.proof = context.proof
    return try await endpoint.backend.sent(by: transport).exchange(.login, request, in: context) {
      [endpoint] (response) throws(AnswerFailure) in try endpoint.tokens(in: response)
    }
  }

  /// Returns the tokens in a response.
  func tokens(in response: HTTPResponse) throws(AnswerFailure) -> IdentityTokens {
    var tokens = try backend.read(response) { (members) throws(Unreadable) in
      guard let access = try members.token("access_token") else {
        throw Unreadable("access_token is missing")
      }
      try backend.checkType(members)
      let seconds = try members.number("expires_in", must: "a number of seconds")
      var tokens = IdentityTokens(
        access: access, refresh: try members.token("refresh_token"),
        identity: try members.token("id_token"),
        lifetime: seconds.map { .milliseconds(Int64(max(0, min($0, 1e9)) * 1000)) })
      tokens.boundKey = try backend.boundKey(members)
      return tokens
    }
    tokens.identityProblem = problem(
      of: tokens.identity, at: response.header("Date").flatMap { Timestamp(httpDate: $0) })
    return tokens
  }

  /// Returns the check that the identity token does not pass.
  private func problem(of token: Secret?, at now: Timestamp?) -> IdentityTokenError? {
    do throws(IdentityTokenError) {
      if var expected {
        expected.nonce = nonce
        if let token {
          try IdentityToken.check(token, against: expected, at: now)
        } else if isOpenID {
          throw IdentityTokenError(.form, expected: "in the response", found: nil)
        }
      } else if let nonce, let token {
        try IdentityToken.checkNonce(TokenPayload.hints(token), nonce)
      }
      return nil
    } catch { return error }
  }
}

extension HTTPBackend {
  /// Returns the backend with another transport, if there is one.
  func sent(by transport: (any HTTPTransport)?) -> HTTPBackend {
    var backend = self
    if let transport { backend.transport = transport }
    return backend
  }

  /// Reads the object in the response to a login.
  func read<Value>(
    _ response: HTTPResponse, _ body: (JSONMembers) throws(Unreadable) -> Value
  ) throws(AnswerFailure) -> Value {
    if let failure = failure(.login, response) { throw refusal(failure) }
    do throws(Unreadable) { return try body(JSONMembers(body: response.body)) } catch {
      throw AnswerFailure(
        failure: RequestFailure(kind: .unreadable, status: UInt16(clamping: response.status)),
        problem: error.problem)
    }
  }
}
