@_spi(Internals) import SessionCore

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
///
/// A field can have several, and each of them several parameters, all with commas between them. What
/// follows the first text that is neither is not read.
package struct AuthenticationChallenge: Hashable, Sendable {
  /// The scheme in lower case.
  package let scheme: String
  /// The parameters, by names in lower case; of two with one name, the first.
  package private(set) var parameters: [String: String] = [:]

  /// Returns the challenges of a field's value, in order.
  package static func all(in value: String) -> [AuthenticationChallenge] {
    var reader = FieldReader(value)
    var challenges: [AuthenticationChallenge] = []
    while let name = reader.nameAfterCommas() {
      if let parameter = reader.parameter() {
        guard let last = challenges.indices.last else { break }
        // No quoted text ends: the rest is not what it seems.
        guard let text = parameter.text else { break }
        if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = text }
      } else {
        challenges.append(AuthenticationChallenge(scheme: name))
        reader.skipToken68()
      }
    }
    return challenges
  }

  /// Returns why a server refuses a call in a challenge of DPoP (RFC 9449 §7.1); `nil` if it has none.
  package static func proofError(in fields: [(name: String, value: String)]) -> String? {
    fields.lazy.filter { $0.name.lowercased() == "www-authenticate" }
      .flatMap { all(in: $0.value) }.first { $0.scheme == "dpop" }?.parameters["error"]
  }

  /// Returns what a server demands of the user by RFC 9470; `nil` if it demands nothing.
  ///
  /// `codes` are the meanings of the backend's own codes.
  static func demand(
    in fields: [(name: String, value: String)], _ codes: [String: ErrorMeaning]
  ) -> (code: String, demand: AuthenticationDemand?)? {
    for field in fields where field.name.lowercased() == "www-authenticate" {
      for challenge in all(in: field.value) {
        // A challenge of DPoP has the same parameters (RFC 9449 §7.1).
        guard challenge.scheme == "bearer" || challenge.scheme == "dpop",
          let code = challenge.parameters["error"],
          code == "insufficient_user_authentication" || codes[code] == .userNeeded
        else { continue }
        let demand = AuthenticationDemand(
          acrValues: challenge.parameters["acr_values"], maxAge: challenge.parameters["max_age"],
          scope: challenge.parameters["scope"])
        return (code, demand)
      }
    }
    return nil
  }
}

/// A reader of the tokens and quoted strings of a header field (RFC 9110 §5.6).
private struct FieldReader {
  private let bytes: [UInt8]
  private var index = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skip(_ skipped: Set<UInt8>) {
    while let byte = next, skipped.contains(byte) { index += 1 }
  }

  private mutating func token() -> String? {
    let start = index
    while let byte = next, Self.isOfToken(byte) { index += 1 }
    return start < index ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
  }

  /// Reads the next scheme or name; `nil` if there is none.
  mutating func nameAfterCommas() -> String? {
    skip(Self.space.union([UInt8(ascii: ",")]))
    return token()?.lowercased()
  }

  /// Reads `=` and a value; `nil` if there is no `=`, and without a text if no value can be read.
  mutating func parameter() -> (text: String?, Void)? {
    let start = index
    skip(Self.space)
    guard next == UInt8(ascii: "=") else {
      index = start
      return nil
    }
    index += 1
    skip(Self.space)
    return (next == UInt8(ascii: "\"") ? quoted() : token(), ())
  }

  private mutating func quoted() -> String? {
    index += 1
    var text: [UInt8] = []
    while let byte = next {
      index += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard let escaped = next else { return nil }
      text.append(escaped)
      index += 1
    }
    return nil
  }

  /// Skips credentials such as `SPNEGO` data, which stand alone after a scheme.
  mutating func skipToken68() {
    let start = index
    skip(Self.space)
    while let byte = next, Self.isOfToken(byte) || byte == UInt8(ascii: "/") { index += 1 }
    skip([UInt8(ascii: "=")])
    skip(Self.space)
    if next != nil, next != UInt8(ascii: ",") { index = start }
  }

  private static let space: Set<UInt8> = [UInt8(ascii: " "), UInt8(ascii: "\t")]

  private static func isOfToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
