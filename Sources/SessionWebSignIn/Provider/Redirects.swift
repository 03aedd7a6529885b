import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit

/// The addresses of a page and of its redirect: how both are written and compared.
enum Redirects {
  /// Returns the address of a page with these parameters; `nil` if it is malformed.
  static func address(_ page: URL, _ fields: [String: String]) -> URL? {
    let form = fields.sorted { $0.key < $1.key }
      .map { "\(FormEncoding.encode($0.key))=\(FormEncoding.encode($0.value))" }
      .joined(separator: "&")
    let address = page.absoluteString
    return URL(string: address + (address.contains("?") ? "&" : "?") + form)
  }

  /// Returns whether an address is the redirect's, with any query and fragment.
  static func isSame(_ address: URL, _ redirect: String) -> Bool {
    let text = address.absoluteString.prefix { $0 != "?" && $0 != "#" }
    guard let own = URL(string: redirect) else { return false }
    let mine = own.absoluteString.prefix { $0 != "?" && $0 != "#" }
    // Systems write an empty path in two ways: `app://login` and `app://login/`.
    return address.scheme?.lowercased() == own.scheme?.lowercased()
      && address.host?.lowercased() == own.host?.lowercased() && address.port == own.port
      && text.drop { $0 != ":" }.trimmed == mine.drop { $0 != ":" }.trimmed
  }

  /// Returns the parameters of an address, from its query and its fragment.
  static func fields(of address: URL) -> [String: [String]] {
    let parts = [address.query(percentEncoded: true), address.fragment(percentEncoded: true)]
    var fields: [String: [String]] = [:]
    for pair in parts.compactMap(\.self).joined(separator: "&").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let decoded = sides.map { $0.replacing("+", with: " ").removingPercentEncoding }
      guard let name = decoded[0], decoded.count == 2, let value = decoded[1] else { continue }
      fields[name, default: []].append(value)
    }
    return fields
  }

  /// Why an address cannot be the redirect of a page, in words; `nil` if it can.
  static func problem(of redirect: String) -> String? {
    guard let redirect = URL(string: redirect), redirect.scheme?.isEmpty == false else {
      return "the redirect has no scheme"
    }
    if redirect.fragment != nil { return "the redirect has a fragment (RFC 6749 §3.1.2)" }
    if redirect.scheme?.lowercased() == "http", !redirect.isSecure {
      return "an HTTP redirect must go to this machine (RFC 8252 §7.3)"
    }
    return nil
  }
}

extension Substring {
  fileprivate var trimmed: Substring { last == "/" ? dropLast() : self }
}
