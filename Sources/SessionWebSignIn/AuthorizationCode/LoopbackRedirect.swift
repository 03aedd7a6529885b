package import Foundation

/// The one request that a listener on this machine waits for.
///
/// It is a value. The bytes of a connection go in, and a reply comes out:
///
///     bytes → incomplete (more bytes are needed)
///           → accepted (the redirect; the listener ends)
///           → refused (a status; the listener goes on)
///
/// Every program of this machine, and every page in a browser, can reach the listener. So a request must have
/// the state of the login, and the listener's `Host`: a page cannot send it under another name.
/// Sources: RFC 8252 §7.3 and §8.3, RFC 9112 §2 and §3.
package struct LoopbackRedirect {
  package enum Reply: Equatable {
    case incomplete
    case accepted(URL)
    case refused(Int)
  }

  /// The maximum number of bytes of a request.
  ///
  /// A browser also sends the cookies of servers at other ports of this machine.
  package static let longest = 65_536

  private let host: String
  private let path: String
  private let state: String

  /// Creates the redirect to an HTTP address with a port, for a login on this page; `nil` without a state.
  package init?(_ redirect: String, from page: URL) {
    guard let state = Redirects.fields(of: page)["state"]?.last else { return nil }
    self.state = state
    let place = redirect.dropFirst("http://".count).prefix { $0 != "?" }
    host = String(place.prefix { $0 != "/" })
    path = host.count == place.count ? "/" : String(place.dropFirst(host.count))
  }

  /// Returns the reply to the bytes that a connection has sent until now.
  package func reply(to bytes: [UInt8]) -> Reply {
    guard bytes.count <= Self.longest else { return .refused(431) }
    let newline = Array("\r\n".utf8)
    guard let end = bytes.firstRange(of: newline + newline) else { return .incomplete }
    let lines = bytes[..<end.lowerBound].split(
      separator: newline, omittingEmptySubsequences: false)
    let words = lines[0].split(separator: 0x20, omittingEmptySubsequences: false).map(Self.text)
    guard lines.joined().allSatisfy({ $0 == 9 || $0 >= 0x20 && $0 != 0x7F }), words.count == 3,
      words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0",
      words[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
    else { return .refused(400) }
    guard words[0] == "GET" else { return .refused(405) }
    let fields = lines.dropFirst().map {
      $0.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        .map(Self.text)
    }
    let names = fields.map { $0[0].lowercased() }
    // A body and a second request are not expected.
    guard end.upperBound == bytes.count, fields.allSatisfy({ $0.count == 2 }),
      !names.contains(where: { $0.isEmpty || $0.contains(where: \.isWhitespace) }),
      Set(names).isDisjoint(with: ["content-length", "transfer-encoding"]),
      let index = names.firstIndex(of: "host"), !names[(index + 1)...].contains("host")
    else { return .refused(400) }
    guard fields[index][1].trimmingCharacters(in: .whitespaces) == host else {
      return .refused(421)
    }
    let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts[0] == path else { return .refused(404) }
    guard let url = URL(string: "http://" + host + words[1]),
      Redirects.fields(of: url)["state"] == [state]
    else { return .refused(403) }
    return .accepted(url)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the response that shows a text, and nothing of the request.
  package static func response(_ status: Int, _ text: String) -> [UInt8] {
    let text = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    let body = "<!doctype html><meta charset=utf-8><title>\(status)</title><p>\(text)</p>\n"
    let head = """
      HTTP/1.1 \(status) \r
      Content-Type: text/html; charset=utf-8\r
      Content-Length: \(body.utf8.count)\r
      Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; \
      frame-ancestors 'none'\r
      X-Content-Type-Options: nosniff\r
      Referrer-Policy: no-referrer\r
      Cache-Control: no-store\r
      Allow: GET\r
      Connection: close\r\n\r\n
      """
    return Array((head + body).utf8)
  }
}
