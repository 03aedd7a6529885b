public import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
public import ServerAdapters
import SessionHTTP
import SessionKit

/// The routes of a backend for a frontend: the browser has a cookie, and the server has the tokens.
///
/// | request | answer |
/// | --- | --- |
/// | `POST /login` with `{"email": …, "password": …}` | 204 and a cookie, or 401 |
/// | `GET /me` | the user's identifier, without asking the backend |
/// | `GET /api/…` | what the backend answers to the same path, with the user's token |
/// | `POST /logout` | 204, and the cookie is removed |
///
/// A `POST` needs the field `X-Frontend`, which no page of another site can send without a permission that this
/// server never gives.
public struct FrontendRouter: Sendable {
  private let accounts: Accounts
  private let backend: URL
  private let calls: AsyncHTTPCalls
  private var cookies: Cookies { Cookies(accounts: accounts) }

  private struct Login: Decodable {
    let email: String
    let password: String
  }

  /// Creates routes to a backend, whose calls are sent by this client.
  public init(accounts: Accounts, backend: URL, calls: AsyncHTTPCalls) {
    (self.accounts, self.backend, self.calls) = (accounts, backend, calls)
  }

  /// Returns the router of an application.
  public func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: FrontendRules(removal: cookies.removal))
    router.post("login") { request, context in
      let login = try await request.decode(as: Login.self, context: context)
      return try await self.login(login)
    }
    router.get("me") { request, _ in
      let key = try cookies.key(of: request)
      let user = try await accounts.withSession(of: key) { $0.state.user?.description }
      guard let user else { throw SessionError(.notLoggedIn) }
      return Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: user)))
    }
    router.get("api/**") { request, context in
      let key = try cookies.key(of: request)
      let path = context.parameters.getCatchAll().joined(separator: "/")
      return try await self.call(path, by: key)
    }
    router.post("logout") { request, _ in
      let key = try cookies.key(of: request)
      try await accounts.withSession(of: key) { _ = try await $0.logout() }
      try await accounts.remove(key)
      var response = Response(status: .noContent)
      response.setCookie(cookies.removal)
      return response
    }
    return router
  }

  private func login(_ login: Login) async throws -> Response {
    // A new key for each login: a cookie from before the login proves nothing afterwards.
    let key = cookies.newKey()
    do {
      try await accounts.withSession(of: key) { session in
        try await session.login(.password(login.email, login.password))
      }
    } catch {
      try await accounts.remove(key)
      throw error
    }
    var response = Response(status: .noContent)
    response.setCookie(try cookies.issue(for: key))
    return response
  }

  private func call(_ path: String, by key: String) async throws -> Response {
    let request = SessionHTTP.HTTPRequest(method: "GET", url: backend.appending(path: path))
    let answer = try await accounts.withSession(of: key) { session in
      try await session.calls(by: calls).send(request)
    }
    var response = Response(
      status: .init(code: answer.response.status),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.response.body)))
    response.headers[.contentType] = answer.response.header("Content-Type")
    return response
  }
}

/// What holds for every request: the field of a `POST`, errors as statuses, and no copies in caches.
private struct FrontendRules: RouterMiddleware {
  typealias Context = BasicRequestContext

  let removal: Cookie

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response: Response
    do {
      let isOwn = HTTPField.Name("X-Frontend").map { request.headers[$0] != nil } ?? false
      guard request.method != .post || isOwn else { throw HTTPError(.forbidden) }
      response = try await next(request, context)
    } catch let error as SessionError {
      context.logger.info("a request failed", metadata: ["error": "\(error)"])
      response = Response(status: error.status(for: request))
      if response.status == .unauthorized { response.setCookie(removal) }
    } catch is Accounts.Problem {
      response = Response(status: .serviceUnavailable)
    } catch let error as TransportError {
      context.logger.info("a call failed", metadata: ["error": "\(error)"])
      response = Response(status: .badGateway)
    }
    response.headers[.cacheControl] = "no-store"
    return response
  }
}

extension SessionError {
  /// The status of a request that this error ends; the browser learns no more.
  fileprivate func status(for request: Request) -> HTTPTypes.HTTPResponse.Status {
    switch code {
    case .notLoggedIn, .expired, .loggedOut, .invalidCredentials, .accountUnavailable: .unauthorized
    case .invalidInput: .badRequest
    case .rateLimited: .tooManyRequests
    case .noConnection, .noReply, .serverFailure, .invalidResponse, .refused: .badGateway
    default: .serviceUnavailable
    }
  }
}
