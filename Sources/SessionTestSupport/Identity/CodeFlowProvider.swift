package import Foundation
@_spi(Internals) package import SessionCore
package import SessionHTTP
import SessionJSON
package import SessionKit
package import SessionTestKit
package import SessionWebSignIn
import Synchronization

/// A small identity SDK that works: OAuth 2.0's code flow with PKCE, state and nonce, over any
/// transport.
///
/// Its errors have the names of MSAL's. Like MSAL it reports each `access_denied` as a
/// cancellation, for every reason that the provider has.
///
/// - Requirement: WEB-4
package struct CodeFlowProvider<Page: IdentityPage>: IdentityProvider {
  /// Follows redirects without a page, and returns the first address with the app's scheme.
  ///
  /// The result is `nil` if they end at a page.
  package typealias Hidden = @Sendable (_ address: URL, _ scheme: String) async throws -> URL?

  private let client: CodeGrant.Client
  private let accounts: IdentityAccounts
  private let transport: any HTTPTransport
  private let hidden: Hidden
  private let current = CurrentPage<Page>()

  /// Creates a provider; its processes share the accounts.
  package init(
    _ client: CodeGrant.Client, accounts: IdentityAccounts, transport: any HTTPTransport,
    hidden: @escaping Hidden
  ) {
    (self.client, self.accounts) = (client, accounts)
    (self.transport, self.hidden) = (transport, hidden)
  }

  package func acquireSilently(_ account: Identifier?) async throws -> IdentityTokens {
    if let kept = accounts.refreshToken(of: account) {
      do {
        return try await tokens(
          WebForm(["grant_type": "refresh_token", "refresh_token": kept.token.plaintext]), for: nil)
      } catch let error as IdentitySDKError where error.isDeadGrant {
        accounts.drop(kept.account)
        throw error
      }
    }
    let grant = accounts.newGrant()
    let redirect = try await named {
      try await hidden(grant.address(for: client, prompt: "none"), client.scheme)
    }
    guard let redirect else { throw IdentitySDKError.interactionRequired }
    let tokens = try await redeem(redirect, of: grant)
    guard account == nil || account == IdentityAccounts.user(of: tokens) else {
      throw IdentitySDKError.interactionRequired
    }
    return tokens
  }

  package func login(in view: Page, prompt: WebSignIn.Prompt) async throws -> IdentityTokens {
    let grant = accounts.newGrant()
    let address = grant.address(for: client, prompt: prompt == .always ? "login" : nil)
    current.page.withLock { $0 = (view, grant) }
    defer { current.page.withLock { $0 = nil } }
    let redirect = try await named { try await view.follow(address, to: client.scheme) }
    return try await redeem(redirect, of: grant)
  }

  package func handle(_ redirect: URL) async -> Bool {
    guard let (page, grant) = current.page.withLock({ $0 }),
      redirect.scheme?.lowercased() == client.scheme, grant.reply(in: redirect) != .foreign
    else { return false }
    return page.end(with: redirect)
  }

  package func removeAccount(_ account: Identifier) async throws {
    guard accounts.knows(account) else { return }
    let form = WebForm(["client_id": client.id, "post_logout_redirect_uri": client.redirect])
    let endpoint = client.endpoint("logout")
    // The browser's cookie identifies the user; a token must not be part of an address.
    _ = try await named {
      try await hidden(
        URL(string: endpoint.absoluteString + "?" + form.text) ?? endpoint, client.scheme)
    }
    accounts.forget(account)
  }

  /// Converts errors of the transport and the page to the SDK's errors.
  private func named<Place>(_ work: () async throws -> Place) async throws -> Place {
    do { return try await work() } catch let error as TransportError {
      throw IdentitySDKError.unreached(error)
    } catch is PageWasLeft { throw IdentitySDKError.cancelled } catch let problem
      as HeadlessBrowser.Problem
    { throw IdentitySDKError.internalProblem("\(problem)") }
  }

  private func redeem(_ redirect: URL, of grant: CodeGrant) async throws -> IdentityTokens {
    switch grant.reply(in: redirect) {
    case .foreign: throw IdentitySDKError.internalProblem("the redirect belongs to another request")
    case .refused(let error, let description):
      throw IdentitySDKError.refused(error, description: description)
    case .code(let code):
      return try await tokens(
        WebForm([
          "grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect,
          "code_verifier": grant.verifier,
        ]), for: grant)
    }
  }

  /// Sends a request to the token endpoint, and keeps the tokens.
  private func tokens(_ form: WebForm, for grant: CodeGrant?) async throws -> IdentityTokens {
    let form = form.adding("client_id", client.id).adding("scope", client.scope)
    let answer: HTTPResponse
    do {
      answer = try await transport.send(
        HTTPRequest(
          method: "POST", url: client.endpoint("token"),
          headers: [HTTPHeader("Content-Type", "application/x-www-form-urlencoded")],
          body: Array(form.text.utf8)))
    } catch { throw IdentitySDKError.unreached(error) }
    guard answer.status == 200 else { throw IdentitySDKError.answered(answer) }
    let tokens = try IdentityTokens(tokenAnswer: answer.body)
    if let grant {
      let nonce = tokens.identity.flatMap { token -> String? in
        do { return try IdentityClaims(token).text("nonce") } catch { return nil }
      }
      guard nonce == grant.nonce else {
        throw IdentitySDKError.internalProblem("the identity token belongs to another request")
      }
    }
    accounts.keep(tokens)
    return tokens
  }
}

/// The page on which a user signs in, and its grant.
private final class CurrentPage<Page: IdentityPage>: Sendable {
  let page = Mutex<(page: Page, grant: CodeGrant)?>(nil)
}

extension IdentityTokens {
  /// Parses the answer of a token endpoint (RFC 6749 §5.1).
  fileprivate init(tokenAnswer body: [UInt8]) throws {
    guard case .object(let members) = try JSONReader.read(body),
      case .string(let access)? = members["access_token"]
    else { throw IdentitySDKError.internalProblem("the response contains no token") }
    self.init(access: Secret(access))
    if case .string(let text)? = members["refresh_token"] { refresh = Secret(text) }
    if case .string(let text)? = members["id_token"] { identity = Secret(text) }
    if case .number(let seconds)? = members["expires_in"] {
      lifetime = Int64(seconds.text).map { .seconds($0) }
    }
  }
}

/// An error as an identity SDK throws it: MSAL's domain and codes, with the server's text in its
/// user info.
private struct IdentitySDKError: Error, CustomNSError {
  static let errorDomain = "MSALErrorDomain"
  let errorCode: Int
  var errorUserInfo: [String: Any] {

    var all: [String: Any] = info
    all[NSUnderlyingErrorKey] = under
    return all

  }
  private var info: [String: String] = [:]
  private var under: URLError?

  private init(_ code: Int, _ info: [String: String] = [:], under: URLError? = nil) {
    (errorCode, self.info, self.under) = (code, info, under)
  }

  /// The user left the page, or the provider answered `access_denied`.
  static let cancelled = IdentitySDKError(-50_005)
  /// The user cannot be signed in without a page.
  static let interactionRequired = IdentitySDKError(-50_002)

  static func internalProblem(_ text: String) -> IdentitySDKError {
    IdentitySDKError(-50_000, ["MSALErrorDescriptionKey": text])
  }

  /// Returns the error for an error in a redirect.
  static func refused(_ error: String, description: String?) -> IdentitySDKError {
    switch error {
    case "access_denied": cancelled
    case "interaction_required", "login_required":
      IdentitySDKError(-50_002, ["MSALOAuthErrorKey": error])
    default:
      IdentitySDKError(
        -50_000, ["MSALOAuthErrorKey": error, "MSALErrorDescriptionKey": description ?? ""])
    }
  }

  /// Returns the error for a failed token request, with the text of the answer.
  static func answered(_ answer: HTTPResponse) -> IdentitySDKError {
    IdentitySDKError(
      -50_000, ["MSALErrorDescriptionKey": String(decoding: answer.body, as: UTF8.self)])
  }

  static func unreached(_ error: TransportError) -> IdentitySDKError {
    switch error {
    case .noConnection, .notTrusted, .badAddress, .insecure:
      IdentitySDKError(-50_000, under: URLError(.notConnectedToInternet))
    case .noReply, .cancelled: IdentitySDKError(-50_000, under: URLError(.timedOut))
    }
  }

  /// Whether the server no longer accepts the refresh token.
  var isDeadGrant: Bool { info["MSALErrorDescriptionKey"]?.contains("invalid_grant") ?? false }
}

/// A ``LoopbackIdentity`` on a real socket of 127.0.0.1.
package final class IdentityServer: Sendable {
  private let service: IdentityService
  private let server: LoopbackServer

  /// Starts to listen on a port that the system chooses.
  package init(_ identity: LoopbackIdentity) throws(LoopbackError) {
    service = IdentityService(identity)
    server = try LoopbackServer.start(service: service, clock: LoopbackServer.systemTime)
  }

  /// The address of the server.
  package var baseURL: URL { server.baseURL }
  /// The address of the user flow, which apps use.
  package var userFlow: URL {
    server.baseURL.appending(path: String(LoopbackIdentity.path.dropFirst()))
  }
  /// The current state of the provider.
  package var identity: LoopbackIdentity { service.state.withLock { $0.identity } }

  /// Changes the provider's state between two requests.
  package func change(_ change: (inout LoopbackIdentity) -> Void) {
    service.state.withLock { change(&$0.identity) }
  }

  /// Ends all connections, and frees the port.
  package func stop() { server.stop() }
}

/// A service that answers each request at once.
private final class IdentityService: LoopbackService {
  struct State {
    var identity: LoopbackIdentity
    var answers: [Int: SentResponse] = [:]
  }

  let state: Mutex<State>

  init(_ identity: LoopbackIdentity) { state = Mutex(State(identity: identity)) }

  func receive(_ request: ReceivedRequest, number: Int) {
    let now = LoopbackServer.systemTime()
    state.withLock { $0.answers[number] = $0.identity.answer(request, now: now) }
  }

  func fate(ofRequest number: Int) -> LoopbackFate? {
    state.withLock { $0.answers.removeValue(forKey: number) }.map { .answer($0) }
  }
}
