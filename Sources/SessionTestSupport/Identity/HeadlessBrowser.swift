package import Foundation
package import SessionHTTP
import SessionKit
import Synchronization

/// A browser without a screen: goes to addresses, follows redirects one by one, keeps cookies.
///
/// What it keeps outlives its pages, as the cookies of a device's browser do.
package final class HeadlessBrowser: Sendable {
  /// Where going to an address has ended.
  package enum Stop: Sendable {
    /// At an address of the app's own scheme, which nothing loads.
    case redirect(URL)
    /// At a page, which is at this address.
    case page(WebPage, at: URL)
  }

  /// Why an address could not be gone to; holds no address.
  package enum Problem: Error, Hashable, Sendable {
    /// A redirect says nowhere to go, or names no address.
    case badRedirect
    /// More redirects than any sign-in has.
    case circle
    /// The server answered with an error.
    case status(Int)
  }

  /// More redirects in a row are a circle.
  static let mostRedirects = 12

  private let transport: any HTTPTransport
  /// Cookies by host and name.
  private let cookies = Mutex<[String: [String: String]]>([:])

  package init(_ transport: any HTTPTransport) {
    self.transport = transport
  }

  /// The names of the cookies that are kept of a host.
  package func cookieNames(of host: String) -> Set<String> {
    cookies.withLock { Set($0[host, default: [:]].keys) }
  }

  /// Goes where a request leads.
  ///
  /// `tell` is told each address before it is gone to, as it stands in the
  /// redirect; the last it is told is where it stops.
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
      // As it was sent where it is whole: what a URL makes of it may say something else.
      tell(location.contains("://") ? location : next.absoluteString)
      if next.scheme?.lowercased() == scheme { return .redirect(next) }
      request = HTTPRequest(method: "GET", url: next)
    }
    throw Problem.circle
  }

  /// Goes to an address where nothing is shown; `nil` where that ends at a page.
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
