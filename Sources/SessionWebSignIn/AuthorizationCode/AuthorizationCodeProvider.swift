public import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import Synchronization

/// Performs the authorization code grant on a page, for one login.
///
/// ``AuthorizationRequest`` decides what is sent and what counts as a response.
final class AuthorizationCodeProvider: Sendable {
  /// The login that waits for its redirect.
  private struct Waiting {
    let request: AuthorizationRequest
    let redirects: AsyncStream<URL>.Continuation
  }

  private let code: AuthorizationCode
  private let page: any AuthorizationPage
  private let transport: (any HTTPTransport)?
  private let waiting = Mutex<Waiting?>(nil)

  init(
    _ code: AuthorizationCode, on page: any AuthorizationPage, _ transport: (any HTTPTransport)?
  ) {
    (self.code, self.page, self.transport) = (code, page, transport)
  }

  /// Returns the tokens of the user who logs in on the page.
  func login(
    _ prompt: WebSignIn.Prompt, in context: RequestContext
  ) async throws -> IdentityTokens {
    var generator = SystemRandomNumberGenerator()
    let random = (0..<AuthorizationRequest.randomBytes).map { _ in
      UInt8.random(in: .min ... .max, using: &generator)
    }
    var code = code
    let page: any AuthorizationPage
    (page, code.redirect) = try await self.page.prepared(for: code.redirect)
    let request = AuthorizationRequest(code, random: random)
    guard let address = request.address(asks: prompt == .always) else {
      throw WebSignInProblem.viewFailed
    }
    let redirect = try await redirect(to: request) { [redirect = code.redirect] in
      try await page.open(address, redirect: redirect, isPrivate: prompt == .always)
    }
    switch request.reply(in: redirect) {
    case .foreign: throw WebSignInProblem.refused(nil)
    case .refused(let problem): throw problem
    case .code(let secret):
      try Task.checkCancellation()
      // A login that is cancelled now must still receive the tokens, since only then can they be
      // revoked (LOG-10). A cancelled request would leave them at the server.
      return try await Task { try await redeem(secret, of: request, in: context) }.value
    }
  }

  /// Passes on a redirect from outside, and returns whether it belongs to the login.
  func handle(_ redirect: URL) -> Bool {
    guard let waiting = waiting.withLock(\.self), waiting.request.reply(in: redirect) != .foreign
    else { return false }
    waiting.redirects.yield(redirect)
    return true
  }

  /// Returns the first redirect, of the page or passed in by the app.
  private func redirect(
    to request: AuthorizationRequest, _ open: @escaping @Sendable () async throws -> URL?
  ) async throws -> URL {
    let (redirects, continuation) = AsyncStream.makeStream(of: URL.self)
    waiting.withLock { $0 = Waiting(request: request, redirects: continuation) }
    defer { waiting.withLock { $0 = nil } }
    return try await withThrowingTaskGroup(of: URL?.self) { group in
      group.addTask { try await open() }
      group.addTask { await redirects.first { _ in true } }
      defer { group.cancelAll() }
      for try await redirect in group {
        if let redirect { return redirect }
        try Task.checkCancellation()
        // A page that returns nil after its user has left would be waited for without an end. The
        // clock stops with the app, which the system suspends while another browser is shown.
        group.addTask { [limit = code.redirectLimit] in
          try await Task.sleep(for: limit, clock: .suspending)
          throw WebSignInProblem.noRedirect(within: limit)
        }
      }
      throw CancellationError()
    }
  }

  private func redeem(
    _ secret: Secret, of request: AuthorizationRequest, in context: RequestContext
  ) async throws(BackendError) -> IdentityTokens {
    try await request.endpoint.send(request.redemption(of: secret), by: transport, in: context)
  }
}

/// A browser or web view of the app that shows a server's login page.
///
/// `WebAuthenticationPage` is that of the system on Apple's systems, and `LoopbackPage` the browser of
/// a desktop computer. An app conforms to it for another browser.
public protocol AuthorizationPage: Sendable {
  /// Prepares one login, and returns the page that performs it with the redirect that it uses.
  ///
  /// By default these are this page and the grant's redirect. A page that knows its address only when
  /// the login begins returns another redirect. Both requests of the login contain it.
  func prepared(for redirect: String) async throws -> (
    page: any AuthorizationPage, redirect: String
  )

  /// Shows an address, and returns the app's address to which the page redirects.
  ///
  /// - If the redirect reaches the app in another way, such as `onOpenURL`, pass it to
  ///   `Session.handle(_:)`. This function is then cancelled, and may return `nil` before. The login
  ///   waits ``AuthorizationCode/redirectLimit`` for that redirect, then throws
  ///   `WebSignInProblem.noRedirect`.
  /// - If the user closes the page, throw `WebSignInProblem.cancelledByUser`. With `nil` the login
  ///   would wait for a redirect.
  /// - If the task is cancelled, close the page and return. The next login waits for it, 10 seconds
  ///   at most.
  ///
  /// `isPrivate` asks for a page without the cookies of earlier logins, so that the server must ask
  /// the user.
  func open(_ address: URL, redirect: String, isPrivate: Bool) async throws -> URL?
}

extension AuthorizationPage {
  /// Returns this page and the grant's redirect.
  public func prepared(
    for redirect: String
  ) async throws -> (page: any AuthorizationPage, redirect: String) {
    (self, redirect)
  }
}
