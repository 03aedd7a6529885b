import SessionKit

/// The answer to an ``HTTPRequest``; shown as its status only.
public struct HTTPResponse: Hashable, Sendable {
  /// The bytes of the longest body that is read; answers of tokens have a few thousand.
  static let bodyLimit = JSONMembers.bodyLimit

  /// The status.
  public let status: Int
  /// The header fields.
  public let headers: [HTTPHeader]
  /// The body; empty where there is none.
  public let body: [UInt8]

  /// An answer.
  public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first value under that name, in whatever case (RFC 9110 §5.1).
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension HTTPResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The status: `status 200`.
  public var description: String { "status \(status)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the status only.
  public var customMirror: Mirror { Mirror(self, children: ["status": status]) }
}
