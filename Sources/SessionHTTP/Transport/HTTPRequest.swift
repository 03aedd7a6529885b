public import Foundation

/// A request for a token, as a value that any transport can carry; shown as method and path only.
public struct HTTPRequest: Hashable, Sendable {
  /// The method, such as `POST`.
  public var method: String
  /// The whole address.
  public var url: URL
  /// The header fields, in order.
  public var headers: [HTTPHeader]
  /// The body, or `nil` for none.
  public var body: [UInt8]?
  /// How long the whole exchange may take: from 1 ms to a day.
  public var timeout: Duration

  /// A request; `POST` and the other methods in capitals.
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

  /// The first value under that name, in whatever case.
  public func header(_ name: String) -> String? { headers.value(of: name) }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The method and the path without the query: `POST /auth/refresh`.
  public var description: String { "\(method) \(url.path.isEmpty ? "/" : url.path)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}
