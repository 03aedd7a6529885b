public import Foundation

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
