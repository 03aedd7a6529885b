/// A URI reference (RFC 3986 §4.1), with its parts as they are written.
package struct URIReference: Sendable {
  private var scheme: String?
  private var authority: String?
  private var path: String
  private var query: String?
  private var fragment: String?

  /// Returns the absolute address to which a `Location` field leads; `nil` if it cannot be used.
  ///
  /// It is resolved as RFC 3986 §5.2 says, and inherits the fragment (RFC 9110 §10.2.2). Escapes
  /// stay as they are. A character that no URI may contain is escaped, as browsers do.
  ///
  /// It is `nil` for a control character, a scheme other than HTTP, no host, or a user name: RFC
  /// 9110 §4.2.4 calls that an error in an address from elsewhere. So it is for a way from HTTPS to
  /// HTTP if the request follows: its body and the app's own fields would be sent in the clear.
  package static func address(
    ofLocation location: String, at base: String, isFollowed: Bool = false
  ) -> String? {
    guard let text = escaped(location), !text.isEmpty, let origin = escaped(base) else {
      return nil
    }
    let reference = URIReference(text)
    let target = reference.resolved(at: URIReference(origin))
    guard target.scheme == "http" || target.scheme == "https",
      let authority = target.authority, !authority.isEmpty,
      reference.authority.map(isServer) ?? true,
      !isFollowed || target.scheme == "https" || URIReference(origin).scheme == "http"
    else { return nil }
    return target.text
  }

  /// Splits a text as RFC 3986 appendix B does.
  ///
  /// The text has ASCII characters only.
  private init(_ text: String) {
    var rest = text[...]
    if let hash = rest.firstIndex(of: "#") {
      fragment = String(rest[rest.index(after: hash)...])
      rest = rest[..<hash]
    }
    if let mark = rest.firstIndex(of: "?") {
      query = String(rest[rest.index(after: mark)...])
      rest = rest[..<mark]
    }
    if let colon = rest.firstIndex(of: ":"), URIReference.isScheme(rest[..<colon]) {
      scheme = rest[..<colon].lowercased()
      rest = rest[rest.index(after: colon)...]
    }
    if rest.hasPrefix("//") {
      rest = rest.dropFirst(2)
      let end = rest.firstIndex(of: "/") ?? rest.endIndex
      authority = String(rest[..<end])
      rest = rest[end...]
    }
    path = String(rest)
  }

  /// Returns the target (§5.2.2, the strict form).
  private func resolved(at base: URIReference) -> URIReference {
    var target = self
    target.path = path.isEmpty ? "" : URIReference.withoutDots(path)
    target.fragment = fragment ?? base.fragment
    guard scheme == nil else { return target }
    target.scheme = base.scheme
    guard authority == nil else { return target }
    target.authority = base.authority
    if path.isEmpty {
      target.path = base.path
      target.query = query ?? base.query
    } else if !path.hasPrefix("/") {
      // §5.2.3. An HTTP address always has an authority.
      let end = base.path.lastIndex(of: "/")
      let folder = end.map { String(base.path[...$0]) } ?? "/"
      target.path = URIReference.withoutDots(folder + path)
    }
    return target
  }

  /// The text (§5.3).
  private var text: String {
    var text = ""
    if let scheme { text += scheme + ":" }
    if let authority { text += "//" + authority }
    text += path
    if let query { text += "?" + query }
    if let fragment { text += "#" + fragment }
    return text
  }

  /// Returns an absolute path without dot segments (§5.2.4).
  ///
  /// An empty path becomes `/`.
  static func withoutDots(_ path: String) -> String {
    let segments = path.split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated() where index > 0 {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }

  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, FormEncoding.isLetter(first) else { return false }
    return text.utf8.allSatisfy { FormEncoding.isLetter($0) || "0123456789+-.".utf8.contains($0) }
  }

  /// Returns whether the authority is a name or an address of a host, and perhaps a port.
  ///
  /// Readers of other forms disagree about the host, so it would be unclear who gets the token.
  private static func isServer(_ authority: String) -> Bool {
    var host = authority[...]
    if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
      let port = host[host.index(after: colon)...]
      guard port.isEmpty || UInt16(port) != nil && !port.hasPrefix("+") else { return false }
      host = host[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      let digits = "0123456789abcdefABCDEF:.".utf8
      return host.dropFirst().dropLast().utf8.allSatisfy { digits.contains($0) }
    }
    return !host.isEmpty && host.utf8.allSatisfy(FormEncoding.isUnreserved)
  }

  /// Returns the text without spaces around it, and with escapes for the characters that no URI may
  /// contain; `nil` if it has a control character.
  ///
  /// Brackets stay in an authority alone (§3.2.2). A `%` that begins no escape is itself escaped.
  private static func escaped(_ text: String) -> String? {
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var bytes = Array(text.utf8.drop(while: isSpace))
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    let host = hostBrackets(bytes)
    var escaped: [UInt8] = []
    escaped.reserveCapacity(bytes.count)
    for (index, byte) in bytes.enumerated() {
      guard byte >= 0x20, byte != 0x7F else { return nil }
      let isKept: Bool
      switch byte {
      case UInt8(ascii: "%"): isKept = AddressPath.isEscape(bytes, at: index)
      case UInt8(ascii: "["), UInt8(ascii: "]"): isKept = host.contains(index)
      default: isKept = FormEncoding.isUnreserved(byte) || reserved.contains(byte)
      }
      if isKept { escaped.append(byte) } else { FormEncoding.append(byte, to: &escaped) }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  /// Returns the places of an authority in which brackets stay.
  private static func hostBrackets(_ bytes: [UInt8]) -> Range<Int> {
    let ends = Set("/?#".utf8)
    guard let first = bytes.firstIndex(where: ends.contains), first + 1 < bytes.count,
      bytes[first] == UInt8(ascii: "/"), bytes[first + 1] == UInt8(ascii: "/"),
      first == 0 || bytes[first - 1] == UInt8(ascii: ":")
    else { return 0..<0 }
    let start = first + 2
    return start..<(bytes[start...].firstIndex(where: ends.contains) ?? bytes.count)
  }

  /// The reserved characters without brackets (§2.2).
  private static let reserved = Set(":/?#@!$&'()*+,;=".utf8)
}
