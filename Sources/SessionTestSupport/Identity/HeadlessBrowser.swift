package import Foundation
package import SessionHTTP
import SessionKit
package import SessionWebSignIn
import Synchronization

/// A browser without a screen: it loads addresses, follows redirects and keeps cookies.
///
/// Its cookies outlive its pages, as on a device.
package final class HeadlessBrowser: Sendable {
  /// The place at which following an address has stopped.
  package enum Stop: Sendable {
    /// An address with the app's scheme, which is not loaded.
    case redirect(URL)
    /// A page and its address.
    case page(WebPage, at: URL)
  }

  /// The reason why an address could not be followed; contains no address.
  package enum Problem: Error, Hashable, Sendable {
    /// A redirect without an address, or with an invalid one.
    case badRedirect
    /// Too many redirects.
    case circle
    /// The server answered with an error.
    case status(Int)
  }

  /// The greatest number of redirects in a row.
  static let mostRedirects = 12

  private let transport: any HTTPTransport
  /// Cookies by host and name.
  private let cookies = Mutex<[String: [String: String]]>([:])

  package init(_ transport: any HTTPTransport) {
    self.transport = transport
  }

  /// Sends a request, and follows redirects.
  ///
  /// It calls `tell` with each address before it is loaded, as it is written in the redirect. The
  /// last call is with the address at which it stops.
  package func go(
    _ request: HTTPRequest, until scheme: String, tell: @Sendable (String) -> Void
  ) async throws -> Stop {
    var request = request
    tell(request.url.absoluteString)
    for _ in 0..<HeadlessBrowser.mostRedirects {
      let answer = try await send(request)
      guard (300...399).contains(answer.status) else {
        guard (200...299).contains(answer.status) else { throw Problem.status(answer.status) }
        let html = String(decoding: answer.body, as: UTF8.self)
        return .page(WebPage(html: html), at: request.url)
      }
      guard let location = answer.header("location"), !location.isEmpty else {
        throw Problem.badRedirect
      }
      guard let next = URL(string: location, relativeTo: request.url)?.absoluteURL else {
        tell(location)
        throw Problem.badRedirect
      }
      // An absolute address is reported as it was sent, since `URL` may change its spelling.
      tell(location.contains("://") ? location : next.absoluteString)
      if next.scheme?.lowercased() == scheme { return .redirect(next) }
      request = HTTPRequest(method: "GET", url: next)
    }
    throw Problem.circle
  }

  /// Follows an address without showing anything; returns `nil` if that ends at a page.
  package func hidden(_ address: URL, until scheme: String) async throws -> URL? {
    let stop = try await go(HTTPRequest(method: "GET", url: address), until: scheme) { _ in }
    guard case .redirect(let url) = stop else { return nil }
    return url
  }

  private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    var request = request
    let host = request.url.host ?? ""
    let kept = cookies.withLock { $0[host, default: [:]] }
    if !kept.isEmpty {
      let text = kept.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
      request.headers.append(HTTPHeader("Cookie", text.joined(separator: "; ")))
    }
    let answer = try await transport.send(request)
    for header in answer.headers where header.name.lowercased() == "set-cookie" {
      let parts = header.value.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
      let pair = (parts.first ?? "").split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = pair.first else { continue }
      let isGone = parts.contains { $0.lowercased() == "max-age=0" }
      cookies.withLock {
        $0[host, default: [:]][name] = isGone ? nil : pair.dropFirst().first ?? ""
      }
    }
    return answer
  }
}

/// A view in which an identity SDK can load an address and receive the resulting redirect.
package protocol IdentityPage: WebSignInView {
  /// Loads an address; returns the first redirect to an address with the app's scheme.
  func follow(_ address: URL, to scheme: String) async throws -> URL
  /// Ends `follow` with a redirect that reached the app in another way; returns whether `follow` is
  /// in progress.
  func end(with redirect: URL) -> Bool
}

/// The error after the user closed the view.
package struct PageWasLeft: Error {
  package init() {}
}

/// A view without a screen whose user is a test; at each page it waits until the test acts.
///
/// - Requirement: WEB-1
package final class HeadlessPage: IdentityPage {
  /// An act of the user on a page.
  package enum Act: Hashable, Sendable {
    /// Fills in the form and submits it.
    case types(name: String, password: String)
    /// Follows the link with this id.
    case follows(String)
    /// Closes the view.
    case leaves
  }

  /// The reason why the user cannot act.
  package enum Problem: Error, Hashable, Sendable, CustomStringConvertible {
    case noPage
    case noForm
    case noLink(String)

    package var description: String {
      switch self {
      case .noPage: "no page waits for the user"
      case .noForm: "the page has no form"
      case .noLink(let id): "the page has no link \(id)"
      }
    }
  }

  private enum Next: Sendable {
    case go(HTTPRequest)
    case redirected(URL)
    case left
  }

  private struct State {
    var observer: RedirectObserver?
    var isShown = false
    var isFollowing = false
    var isGone = false
    /// A redirect that arrived while no page waited.
    var handedIn: URL?
    var page: (page: WebPage, address: URL, waiter: CheckedContinuation<Next, Never>)?
    /// The addresses that were loaded.
    var visited: [String] = []
  }

  private let browser: HeadlessBrowser
  private let state = Mutex(State())

  package init(_ browser: HeadlessBrowser) {
    self.browser = browser
  }

  /// Whether the view is shown.
  package var isShown: Bool { state.withLock { $0.isShown } }
  /// Whether a page waits for the user.
  package var isWaiting: Bool { state.withLock { $0.page != nil } }
  /// The addresses that were loaded, in order.
  package var visited: [String] { state.withLock { $0.visited } }

  package func make() async throws {}

  package func observe(with observer: RedirectObserver) async throws {
    state.withLock { $0.observer = observer }
  }

  package func present() async throws { state.withLock { $0.isShown = true } }

  package func dismiss() async {
    state.withLock { ($0.isShown, $0.isGone) = (false, true) }
    go(on: .left)
  }

  package func follow(_ address: URL, to scheme: String) async throws -> URL {
    state.withLock { $0.isFollowing = true }
    defer { state.withLock { $0.isFollowing = false } }
    var request = HTTPRequest(method: "GET", url: address)
    while true {
      let stop = try await browser.go(request, until: scheme) { [self] address in
        let observer = state.withLock { state in
          state.visited.append(address)
          return state.observer
        }
        observer?.see(address)
      }
      guard case .page(let page, let place) = stop else {
        guard case .redirect(let url) = stop else { continue }
        return url
      }
      switch await wait(at: page, place) {
      case .go(let next): request = next
      case .redirected(let url): return url
      case .left: throw PageWasLeft()
      }
    }
  }

  package func end(with redirect: URL) -> Bool {
    let isFollowing = state.withLock { state in
      if state.isFollowing, state.page == nil { state.handedIn = redirect }
      return state.isFollowing
    }
    if isFollowing { go(on: .redirected(redirect)) }
    return isFollowing
  }

  /// Performs an act of the user; throws if no page waits, or if the page does not offer it.
  package func act(_ act: Act) throws(Problem) {
    guard let (page, place) = state.withLock({ state in state.page.map { ($0.page, $0.address) } })
    else { throw .noPage }
    switch act {
    case .leaves: go(on: .left)
    case .follows(let id):
      guard let url = page.links[id].flatMap({ URL(string: $0, relativeTo: place)?.absoluteURL })
      else { throw .noLink(id) }
      go(on: .go(HTTPRequest(method: "GET", url: url)))
    case .types(let name, let password):
      guard let form = page.form,
        let url = URL(string: form.action, relativeTo: place)?.absoluteURL
      else { throw .noForm }
      let fields = form.hidden.adding("username", name).adding("password", password)
      go(
        on: .go(
          HTTPRequest(
            method: "POST", url: url,
            headers: [HTTPHeader("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(fields.text.utf8))))
    }
  }

  private func wait(at page: WebPage, _ address: URL) async -> Next {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let early = state.withLock { state -> Next? in
          if let url = state.handedIn { return .redirected(url) }
          if state.isGone || Task.isCancelled { return .left }
          state.page = (page, address, waiter)
          return nil
        }
        if let early { waiter.resume(returning: early) }
      }
    } onCancel: {
      go(on: .left)
    }
  }

  private func go(on next: Next) {
    let waiter = state.withLock { state in
      defer { state.page = nil }
      return state.page?.waiter
    }
    waiter?.resume(returning: next)
  }
}
