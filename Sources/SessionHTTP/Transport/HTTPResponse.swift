import SessionKit

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
