/// The request line and the header fields while they are parsed, and the framing of the body.
struct HTTPRequestHead: Sendable {
  /// How the end of the body is found (RFC 9112 §6.3).
  enum Framing: Equatable {
    case none
    case length(Int)
    case chunked
  }

  private var method = ""
  private var path = ""
  private var query: String?
  private var isVersion11 = true
  private var fields: [HTTPField] = []

  init() {}

  init(requestLine line: ArraySlice<UInt8>) throws(HTTPRejection) {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3, Self.isToken(parts[0]), !parts[1].isEmpty,
      parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else {
      throw HTTPRejection(400, "the request line is not method, target and version")
    }
    switch String(decoding: parts[2], as: UTF8.self) {
    case "HTTP/1.1": isVersion11 = true
    case "HTTP/1.0": isVersion11 = false
    case let other where other.hasPrefix("HTTP/"):
      throw HTTPRejection(505, "the server supports only HTTP/1.1 and HTTP/1.0")
    default:
      throw HTTPRejection(400, "the request line does not end in an HTTP version")
    }
    method = String(decoding: parts[0], as: UTF8.self)
    (path, query) = try Self.split(target: String(decoding: parts[1], as: UTF8.self))
  }

  mutating func add(fieldLine line: ArraySlice<UInt8>) throws(HTTPRejection) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), Self.isToken(line[..<colon]) else {
      throw HTTPRejection(400, "a header field has no valid name")
    }
    var value = line[(colon + 1)...]
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    value = value.drop(while: isSpace)
    while let last = value.last, isSpace(last) { value.removeLast() }
    guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == UInt8(ascii: "\t") }) else {
      throw HTTPRejection(400, "a header field contains a control character")
    }
    fields.append(
      HTTPField(
        String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
  }

  /// Checks the fields before the body is read, and returns how the body ends.
  func framing(_ limits: HTTPLimits) throws(HTTPRejection) -> Framing {
    let hosts = fields.values(of: "host").count
    guard hosts == 1 || (hosts == 0 && !isVersion11) else {
      throw HTTPRejection(400, "a request must contain exactly one Host field")
    }
    guard fields.tokens(of: "expect").allSatisfy({ $0 == "100-continue" }) else {
      throw HTTPRejection(417, "the server supports only the expectation 100-continue")
    }
    let lengths = fields.values(of: "content-length")
    let codings = fields.tokens(of: "transfer-encoding")
    if !codings.isEmpty {
      guard lengths.isEmpty, isVersion11 else {
        throw HTTPRejection(400, "a length or HTTP/1.0 forbids a transfer coding")
      }
      guard codings == ["chunked"] else {
        throw HTTPRejection(501, "the server supports only the transfer coding chunked")
      }
      return .chunked
    }
    guard let text = lengths.first else { return .none }
    guard lengths.count == 1, let length = Self.number(Array(text.utf8)[...], radix: 10) else {
      throw HTTPRejection(400, "the content length is not one number")
    }
    guard length <= limits.bodyBytes else {
      throw HTTPRejection(413, "the body is longer than \(limits.bodyBytes) bytes")
    }
    return length == 0 ? .none : .length(length)
  }

  var expectsContinue: Bool {
    isVersion11 && !fields.values(of: "expect").isEmpty
  }

  func request(body: [UInt8]) -> ReceivedRequest {
    let options = fields.tokens(of: "connection")
    let keeps = isVersion11 ? !options.contains("close") : options.contains("keep-alive")
    return ReceivedRequest(
      method: method, path: path, query: query, fields: fields, body: body,
      keepsConnection: keeps)
  }

  /// Parses digits without a sign, unlike `Int("+5")`; `nil` if there is any other character.
  static func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
    // Fifteen digits of either radix cannot overflow.
    guard !digits.isEmpty, digits.count <= 15 else { return nil }
    var number = 0
    for digit in digits {
      let value: Int
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = Int(digit) - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = Int(digit) - 0x57
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = Int(digit) - 0x37
      default: return nil
      }
      guard value < radix else { return nil }
      number = number * radix + value
    }
    return number
  }

  private static func split(
    target: String
  ) throws(HTTPRejection) -> (path: String, query: String?) {
    var rest = Substring(target)
    // A client that uses a proxy sends the absolute URL (RFC 9112 §3.2.2).
    if rest.lowercased().hasPrefix("http://") {
      rest = rest.dropFirst(7).drop { $0 != "/" && $0 != "?" }
      if !rest.hasPrefix("/") { rest = "/" + rest }
    }
    guard rest.hasPrefix("/") else {
      throw HTTPRejection(400, "the request target is not a path")
    }
    let whole = rest.prefix { $0 != "#" }
    let path = whole.prefix { $0 != "?" }
    return (
      String(path),
      path.endIndex == whole.endIndex ? nil : String(whole[path.endIndex...].dropFirst())
    )
  }

  private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
    let marks = Array("!#$%&'*+-.^_`|~".utf8)
    return !bytes.isEmpty
      && bytes.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "A")...UInt8(ascii: "Z"):
          true
        default: marks.contains(byte)
        }
      }
  }
}

/// One header field of an HTTP message; its name is stored in lower case (RFC 9110 §5.1).
package struct HTTPField: Sendable, Equatable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name.lowercased()
    self.value = value
  }
}

extension [HTTPField] {
  /// Returns all values of the named field, in order of arrival.
  package func values(of name: String) -> [String] {
    filter { $0.name == name }.map(\.value)
  }

  /// Returns the comma-separated members of the named field, in lower case (RFC 9110 §5.6.1).
  package func tokens(of name: String) -> [String] {
    values(of: name)
      .flatMap { $0.split(separator: ",") }
      .map { member in
        let bare = member.drop { $0 == " " || $0 == "\t" }
        return bare.prefix { $0 != " " && $0 != "\t" }.lowercased()
      }
  }
}

/// The limits of a request's parts; a longer request is rejected.
package struct HTTPLimits: Sendable, Equatable {
  /// The greatest size of the request line in bytes; a longer one is answered with 414.
  package var requestLineBytes = 8 * 1024
  /// The greatest size of all header or trailer fields in bytes; more are answered with 431.
  package var fieldBytes = 32 * 1024
  /// The greatest size of the decoded body in bytes; a longer one is answered with 413.
  package var bodyBytes = 1024 * 1024

  package init() {}
}

/// The reason why bytes are not a valid request; the connection ends after the answer.
package struct HTTPRejection: Error, Sendable, Equatable, CustomStringConvertible {
  /// The status of the answer: 400, 413, 414, 417, 431, 501 or 505.
  package let status: Int
  /// A sentence that says what is wrong; it contains none of the received bytes.
  package let reason: String

  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  package var description: String { "\(status): \(reason)" }
}
