package import Foundation
import Synchronization

/// An address in a normal form for comparison (RFC 3986 §6.2.2 and §6.2.3).
///
/// Scheme and host are in lower case, the default port is left out, and an empty path is `/`. Dot
/// segments are removed. Unreserved characters are not percent-encoded, and other escapes are in
/// capitals.
///
/// - Requirement: INT-5
struct CallAddress: Hashable, Sendable {
  /// Scheme, host and port, such as `https://api.school.test`.
  let origin: String
  /// The path, which begins with `/`.
  let path: String
  /// The query; `nil` if there is none.
  let query: String?

  /// Creates the normal form of a URL.
  ///
  /// It is `nil` if the URL has no host, or if it has a user name, which would be sent as
  /// `Authorization`.
  init?(_ url: URL) {
    guard let origin = CallAddress.origin(of: url),
      let parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
    else { return nil }
    self.origin = origin
    path = URIReference.withoutDots(CallAddress.decoded(parts.percentEncodedPath))
    query = parts.percentEncodedQuery.map(CallAddress.decoded)
  }

  /// Returns the scheme, host and port; `nil` under the same conditions as for the whole address.
  static func origin(of url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), let host = url.host?.lowercased(), !host.isEmpty,
      url.user == nil, url.password == nil
    else { return nil }
    let usual = ["https": 443, "http": 80][scheme]
    let name = host.utf8.contains(UInt8(ascii: ":")) && !host.hasPrefix("[") ? "[\(host)]" : host
    guard let port = url.port, port != usual else { return "\(scheme)://\(name)" }
    return "\(scheme)://\(name):\(port)"
  }

  /// Decodes the escapes of unreserved characters (§6.2.2.2), and writes the others in capitals
  /// (§6.2.2.1).
  private static func decoded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
        let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
      else {
        decoded.append(bytes[index])
        index += 1
        continue
      }
      let byte = UInt8(high << 4 | low)
      if FormEncoding.isUnreserved(byte) {
        decoded.append(byte)
      } else {
        decoded.append(UInt8(ascii: "%"))
        decoded += "\(Character(Unicode.Scalar(bytes[index + 1])).uppercased())".utf8
        decoded += "\(Character(Unicode.Scalar(bytes[index + 2])).uppercased())".utf8
      }
      index += 3
    }
    return String(decoding: decoded, as: UTF8.self)
  }
}

/// Combines paths of a configuration with a base address.
package enum AddressPath {
  /// Returns the address below `base`.
  ///
  /// A complete address with a host is returned unchanged.
  package static func url(_ path: String, below base: URL) -> URL {
    let place = Place(path: path, base: base)
    if let url = known.withLock({ $0[place] }) { return url }
    let url = combined(path, below: base)
    known.withLock { known in
      if known.count >= 64 { known.removeAll() }
      known[place] = url
    }
    return url
  }

  private struct Place: Hashable {
    let path: String
    let base: URL

    /// Compares bytes, as an address has them: texts with the same characters can have others.
    static func == (one: Self, other: Self) -> Bool {
      one.path.utf8.elementsEqual(other.path.utf8) && one.base == other.base
    }

    /// Uses the path alone: an app has few bases.
    func hash(into hasher: inout Hasher) { hasher.combine(path) }
  }

  /// The last addresses: an app has few endpoints, and to combine an address takes longer than to read
  /// a response.
  private static let known = Mutex<[Place: URL]>([:])

  private static func combined(_ path: String, below base: URL) -> URL {
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
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "%") ? isEscape(bytes, at: index) : kept.contains(byte) {
        encoded.append(byte)
      } else {
        FormEncoding.append(byte, to: &encoded)
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Returns whether the `%` at this place begins an escape (RFC 3986 §2.1).
  static func isEscape(_ bytes: [UInt8], at index: Int) -> Bool {
    index + 2 < bytes.count && digits.contains(bytes[index + 1])
      && digits.contains(bytes[index + 2])
  }

  private static let digits = Set("0123456789ABCDEFabcdef".utf8)
  private static let kept = Set("/:@!$&'()*+,;=".utf8)
}

/// Encodes `application/x-www-form-urlencoded`: every byte except letters, digits and `-._~` as
/// `%XX`.
package enum FormEncoding {
  package static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    for byte in text.utf8 { append(byte, to: &encoded) }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Appends one byte, which stays unchanged if it is unreserved.
  static func append(_ byte: UInt8, to encoded: inout [UInt8]) {
    guard !isUnreserved(byte) else { return encoded.append(byte) }
    let digits: StaticString = "0123456789ABCDEF"
    encoded.append(UInt8(ascii: "%"))
    for digit in [byte >> 4, byte & 15] { encoded.append(digits.utf8Start[Int(digit)]) }
  }

  /// Returns whether a byte is unreserved (RFC 3986 §2.3).
  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: isLetter(byte)
    }
  }

  static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: false
    }
  }
}
