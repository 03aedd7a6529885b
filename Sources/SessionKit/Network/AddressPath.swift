package import Foundation

/// Combines paths of a configuration with a base address.
package enum AddressPath {
  /// Returns the address below `base`.
  ///
  /// A complete address with a host is returned unchanged.
  package static func url(_ path: String, below base: URL) -> URL {
    if path.contains("://"), let whole = URL(string: path), whole.host != nil { return whole }
    let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let own = encoded(String(parts.first ?? "").drop { $0 == "/" })
    guard !own.isEmpty || parts.count > 1,
      var components = URLComponents(url: base, resolvingAgainstBaseURL: true)
    else { return base }
    var prefix = components.percentEncodedPath
    if !own.isEmpty {
      while prefix.hasSuffix("/") { prefix.removeLast() }
      components.percentEncodedPath = "\(prefix)/\(own)"
    }
    if parts.count > 1 {
      components.percentEncodedQuery = encoded(parts[1])
      components.percentEncodedFragment = nil
    }
    return components.url ?? base.appendingPathComponent(path)
  }

  /// Escapes every character that a path or query may not contain (RFC 3986 §3.3) as `%XX`.
  ///
  /// An existing `%XX` stays.
  private static func encoded(_ text: Substring) -> String {
    let bytes = Array(text.utf8)
    let digits = Set("0123456789ABCDEFabcdef".utf8)
    let kept = Set("/:@!$&'()*+,;=".utf8)
    var encoded = ""
    for (index, byte) in bytes.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.count && digits.contains(bytes[index + 1])
        && digits.contains(bytes[index + 2])
      if isEscape {
        encoded += "%"
      } else {
        encoded += FormEncoding.encode(bytes[index], keeping: kept.contains)
      }
    }
    return encoded
  }
}
