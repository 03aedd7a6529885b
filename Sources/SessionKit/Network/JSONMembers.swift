@_spi(Internals) package import SessionCore
package import SessionJSON

/// A problem in a response that reports success.
///
/// The text does not contain values of the response.
package struct Unreadable: Error, Hashable {
  package let problem: String
  /// Whether the body is empty or ends early, so that the rest may have been lost on its way.
  package let isCut: Bool

  package init(_ problem: String, isCut: Bool = false) {
    (self.problem, self.isCut) = (problem, isCut)
  }
}

/// The members of a JSON object, which are read by path and by type.
///
/// A member that is `null` counts as missing.
package struct JSONMembers: Sendable {
  /// The maximum size of a body, in bytes.
  ///
  /// Responses with tokens have a few thousand.
  package static let bodyLimit = 1 << 20

  private let root: JSONPart
  /// The path of the object, of which a name is made only for a problem; empty for the outermost one.
  private let place: [String]

  /// Creates the members of an object; none of another value.
  package init(_ root: JSONPart) {
    self.init(root, at: [])
  }

  private init(_ root: JSONPart, at place: [String]) {
    (self.root, self.place) = (root, place)
  }

  /// Returns the members of an object at a path within this one.
  package func members(of object: JSONPart, at steps: [String]) -> JSONMembers {
    JSONMembers(object, at: place.isEmpty ? steps : place + steps)
  }

  /// No members.
  package static let none = JSONMembers(JSONTape.emptyObject)

  /// Reads the object in a body.
  package init(body: [UInt8]) throws(Unreadable) {
    guard body.count <= JSONMembers.bodyLimit else {
      throw Unreadable("the body is longer than 1 MiB")
    }
    guard let first = JSONMembers.firstByte(of: body) else {
      throw Unreadable("the body is empty; it must be a JSON object", isCut: true)
    }
    guard first != UInt8(ascii: "<") else {
      throw Unreadable("the body is a page (HTML or XML); it must be a JSON object")
    }
    let root: JSONPart
    do { root = try JSONReader.node(body) } catch {
      // Caddy 2.6.2 and lighttpd 1.4.79 end a chunked response properly if the server stops in its
      // middle.
      guard first != UInt8(ascii: "{") || error.offset < body.count else {
        throw Unreadable(
          "the body ends early, after \(body.count) bytes; it must be a JSON object", isCut: true)
      }
      throw Unreadable("the body is not valid JSON from byte \(error.offset) on")
    }
    guard root.kind == .object else {
      throw Unreadable("the body is \(root.value.kind); it must be an object")
    }
    self.init(root)
  }

  /// Returns the first byte that is neither white space nor part of a byte order mark.
  package static func firstByte(of body: [UInt8]) -> UInt8? {
    let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    return bare.first { !" \n\r\t".utf8.contains($0) }
  }

  /// Returns the name of a member in a problem.
  package func name(at steps: [String]) -> String {
    steps.isEmpty ? "the body" : (place + steps).dotted
  }

  /// Returns the problem of a member that has the wrong type.
  package func wrong(at steps: [String], _ value: JSONValue, _ must: String) -> Unreadable {
    Unreadable("\(name(at: steps)) is \(value.kind); it must be \(must)")
  }

  /// Returns whether there is a member with this name, even if it is `null`.
  package func contains(_ name: String) -> Bool { root.member(name) != nil }

  /// Returns the value at a path; `nil` if it is missing or `null`.
  package func value(at steps: [String]) throws(Unreadable) -> JSONValue? {
    try node(at: steps)?.value
  }

  /// Returns the place of the value at a path; `nil` if it is missing or `null`.
  package func node(at steps: [String]) throws(Unreadable) -> JSONPart? {
    if let step = steps.first, steps.count == 1, root.kind == .object {
      // Most paths have one step.
      return root.member(step).flatMap { $0.kind == .null ? nil : $0 }
    }
    var node = root
    for (depth, step) in steps.enumerated() {
      let inner: JSONPart?
      switch node.kind {
      case .object: inner = node.member(step)
      case .array: inner = Int(step).flatMap(node.element)
      case .null: inner = nil
      default: throw wrong(at: Array(steps.prefix(depth)), node.value, "an object")
      }
      guard let inner else { return nil }
      node = inner
    }
    return node.kind == .null ? nil : node
  }

  package func string(at steps: [String]) throws(Unreadable) -> String? {
    guard let node = try node(at: steps) else { return nil }
    guard let text = node.text else { throw wrong(at: steps, node.value, "a string") }
    return text
  }

  /// Returns a text.
  ///
  /// A whole number is returned as its digits.
  package func textOrInteger(at steps: [String]) throws(Unreadable) -> String? {
    guard let node = try node(at: steps) else { return nil }
    if let text = node.text { return text }
    switch node.value {
    case .number(let number):
      if let integer = number.integer { return integer }
      throw Unreadable(
        "\(name(at: steps)) has a fraction or an exponent; it must be a whole number")
    case let value: throw wrong(at: steps, value, "a string or a whole number")
    }
  }

  /// Returns a text or a whole number as an identifier.
  ///
  /// Throws if it is empty.
  package func identifier(at steps: [String]) throws(Unreadable) -> Identifier? {
    guard let text = try textOrInteger(at: steps) else { return nil }
    guard !text.isEmpty else { throw Unreadable("\(name(at: steps)) is empty") }
    return Identifier(text)
  }

  /// Returns the first text at one of the paths.
  ///
  /// Other types are ignored.
  package func hint(at places: [[String]]) -> String? {
    for steps in places {
      do throws(Unreadable) {
        if let text = try string(at: steps), !text.isEmpty { return text }
      } catch {
        // The value is only a hint. If it has another type, it counts as missing.
        continue
      }
    }
    return nil
  }

  /// Returns the identifier at a path; `nil` if it is missing or has another type.
  package func identifierHint(at steps: [String]) -> Identifier? {
    do { return try identifier(at: steps) } catch { return nil }
  }

  /// Returns a time in seconds since 1970 (RFC 7519 §2).
  ///
  /// It is within ±100,000 years, the range in which milliseconds are exact.
  package func time(_ claim: String) -> Timestamp? {
    guard case .number(let number) = root.member(claim)?.value else { return nil }
    let seconds = number.value
    return abs(seconds) < 3e12 ? Timestamp(milliseconds: Int64((seconds * 1000).rounded())) : nil
  }
}

extension [String] {
  /// The texts with dots between them; most paths have one step.
  package var dotted: String { count == 1 ? self[0] : joined(separator: ".") }
}

/// The claims of a token (RFC 7519).
///
/// They are hints: never verified, and never the only basis of a decision.
package enum TokenPayload {
  /// Why a text is no token with claims.
  package enum Flaw: Error, Hashable {
    case notThreeParts, notBase64URL, notObject
  }

  /// Returns the members of a token's second part.
  package static func read(_ token: Secret) throws(Flaw) -> JSONMembers {
    var text = token.plaintext
    let payload = try text.withUTF8 { secondPart(of: $0) }.get()
    let root: JSONPart
    do { root = try JSONReader.node(payload) } catch { throw .notObject }
    guard root.kind == .object else { throw .notObject }
    return JSONMembers(root)
  }

  /// Returns the bytes that the second of three parts encodes.
  private static func secondPart(of token: UnsafeBufferPointer<UInt8>) -> Result<[UInt8], Flaw> {
    let dot = UInt8(ascii: ".")
    guard let first = token.firstIndex(of: dot), first > 0,
      let second = token[(first + 1)...].firstIndex(of: dot), second > first + 1,
      second + 1 < token.count, token[(second + 1)...].firstIndex(of: dot) == nil
    else { return .failure(.notThreeParts) }
    let part = UnsafeBufferPointer(rebasing: token[(first + 1)..<second])
    return Base64.decode(url: part).map { .success($0) } ?? .failure(.notBase64URL)
  }

  /// Returns the members of a token's second part; `nil` for an opaque token, which has no claims.
  package static func hints(_ token: Secret) -> JSONMembers? {
    do { return try read(token) } catch { return nil }
  }
}

extension Secret {
  /// Whether the text consists of visible ASCII, as a token in a header field must (RFC 6750 §2.1).
  package var isToken: Bool {
    var text = plaintext
    return text.withUTF8 { bytes in
      // Without an early end, so that many bytes are compared at a time.
      var others: UInt8 = 0
      for byte in bytes { others |= byte &- 0x21 > 0x7E - 0x21 ? 1 : 0 }
      return !bytes.isEmpty && others == 0
    }
  }
}

/// Base64 (RFC 4648): encodes with the standard and the URL alphabet, and decodes the URL alphabet.
package enum Base64 {
  package static func encode(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        text.append(
          place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : "=")
      }
    }
    return text
  }

  /// Encodes bytes as base64url (RFC 4648 §5), without padding.
  package static func encode(url bytes: [UInt8]) -> String {
    encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Decodes base64url (RFC 4648 §5), with or without padding.
  ///
  /// Returns `nil` if the text is malformed.
  package static func decode(url symbols: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
    let padding = symbols.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding == 0 || symbols.count % 4 == 0 && padding <= 2 else { return nil }
    let count = symbols.count - padding
    guard count % 4 != 1 else { return nil }
    var invalid: UInt32 = 0
    let digits = sixBits
    func digit(_ symbol: UInt8) -> UInt32 { UInt32(digits[Int(symbol)]) }
    let bytes = [UInt8](unsafeUninitializedCapacity: count * 3 / 4) { bytes, written in
      var place = 0
      while place + 4 <= count {
        var group: UInt32 = 0
        for symbol in symbols[place..<place + 4] {
          let value = digit(symbol)
          invalid |= value
          group = group << 6 | value
        }
        bytes[written] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[written + 1] = UInt8(truncatingIfNeeded: group >> 8)
        bytes[written + 2] = UInt8(truncatingIfNeeded: group)
        (place, written) = (place + 4, written + 3)
      }
      var (pending, bits): (UInt32, UInt32) = (0, 0)
      for symbol in symbols[place..<count] {
        let value = digit(symbol)
        invalid |= value
        pending = pending << 6 | value
        bits += 6
        guard bits >= 8 else { continue }
        bits -= 8
        bytes[written] = UInt8(truncatingIfNeeded: pending >> bits)
        written += 1
      }
    }
    return invalid > 63 ? nil : bytes
  }

  /// The digit of each symbol; 64 if it is none.
  private static let sixBits: [UInt8] = (UInt8.min...UInt8.max).map { (symbol: UInt8) -> UInt8 in
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): symbol &- UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): symbol &- UInt8(ascii: "a") &+ 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): symbol &- UInt8(ascii: "0") &+ 52
    case UInt8(ascii: "-"): 62
    case UInt8(ascii: "_"): 63
    default: 64
    }
  }
}
