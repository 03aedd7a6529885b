package import Foundation
package import SessionHTTP
import SessionKit
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

  /// Returns the names of the cookies of a host.
  package func cookieNames(of host: String) -> Set<String> {
    cookies.withLock { Set($0[host, default: [:]].keys) }
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
