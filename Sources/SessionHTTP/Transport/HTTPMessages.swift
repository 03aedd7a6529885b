public import Foundation
import SessionKit

/// A token request as a value that any transport can send.
///
/// Descriptions show only its method and path.
public struct HTTPRequest: Hashable, Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The whole address.
  public var url: URL
  /// The header fields, in order.
  public var headers: [HTTPHeader]
  /// The body; `nil` if there is none.
  public var body: [UInt8]?
  /// The time limit of the whole exchange, from 1 ms to a day.
  public var timeout: Duration

  /// Creates a request.
  ///
  /// Write methods such as `POST` in capitals.
  public init(
    method: String, url: URL, headers: [HTTPHeader] = [], body: [UInt8]? = nil,
    timeout: Duration = .seconds(30)
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }

  /// Returns the first value with that name, ignoring case.
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The method, and the path without the query, such as `POST /auth/refresh`.
  public var description: String { "\(method) \(url.path.isEmpty ? "/" : url.path)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

/// The response to an ``HTTPRequest``.
///
/// Descriptions show only its status.
public struct HTTPResponse: Hashable, Sendable {
  /// The maximum size of a body, in bytes.
  ///
  /// Responses with tokens have a few thousand.
  static let bodyLimit = JSONMembers.bodyLimit

  /// The status.
  public let status: Int
  /// The header fields.
  public let headers: [HTTPHeader]
  /// The body; empty if there is none.
  public let body: [UInt8]

  /// Creates a response.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the first value with that name, ignoring case (RFC 9110 §5.1).
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The status, such as `status 200`.
  public var description: String { "status \(status)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the status only.
  public var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}

/// A header field of a request or a response.
///
/// Descriptions show only its name.
public struct HTTPHeader: Hashable, Sendable {
  /// The name as it is written.
  ///
  /// Comparisons ignore case (RFC 9110 §5.1).
  public let name: String
  /// The value.
  public let value: String

  /// Creates a field.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// Returns whether this is the field with that name, ignoring case.
  public func isNamed(_ name: String) -> Bool {
    self.name.utf8.isNamed(name)
  }
}

extension HTTPHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name only.
  public var description: String { name }

  /// The name only.
  public var debugDescription: String { description }

  /// A mirror that shows the name only.
  public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}

extension Collection<UInt8> {
  /// Returns whether these are the bytes of a name, ignoring the case of ASCII.
  func isNamed(_ name: String) -> Bool {
    let other = name.utf8
    return count == other.count && zip(self, other).allSatisfy { $0.lowercase == $1.lowercase }
  }
}

extension UInt8 {
  /// The byte in lower case, if it is a letter of ASCII: a name has no other letters (RFC 9110 §5.1).
  fileprivate var lowercase: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension [HTTPHeader] {
  /// Returns the first value with that name, ignoring case, without the spaces around it.
  func value(of name: String) -> String? {
    guard let field = first(where: { $0.isNamed(name) }) else { return nil }
    // Most values have no spaces around them.
    let bytes = field.value.utf8
    if let first = bytes.first, let last = bytes.last, (0x21...0x7E).contains(first),
      (0x21...0x7E).contains(last)
    {
      return field.value
    }
    let trimmed = field.value.drop(while: \.isWhitespace)
    return String(trimmed.reversed().drop(while: \.isWhitespace).reversed())
  }
}
