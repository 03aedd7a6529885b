/// A complete request; its body is decoded from its transfer coding (RFC 9112).
package struct ReceivedRequest: Sendable, Equatable {
  package let method: String
  /// The path without its query; percent escapes are not decoded.
  package let path: String
  /// The query after the path's `?`, not decoded; `nil` if there is none.
  package let query: String?
  package let fields: [HTTPField]
  package let body: [UInt8]
  /// Whether the client expects further answers on the same connection (RFC 9112 §9.3).
  package let keepsConnection: Bool

  package init(
    method: String, path: String, query: String? = nil, fields: [HTTPField] = [],
    body: [UInt8] = [], keepsConnection: Bool = true
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
    self.keepsConnection = keepsConnection
  }

  /// The credential of an `Authorization: Bearer` field; `nil` if there is none (RFC 6750 §2.1).
  package var bearer: String? {
    guard let value = fields.values(of: "authorization").first else { return nil }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }

  /// Whether an `Authorization` field of any scheme was sent.
  package var hasAuthorization: Bool {
    fields.contains { $0.name == "authorization" }
  }
}

// Query, fields and body can contain tokens and passwords, so neither a print nor a dump may show
// them.
extension ReceivedRequest: CustomStringConvertible, CustomReflectable {
  package var description: String {
    "\(method) \(Self.withoutSecrets(path: path)), "
      + "\(fields.count) fields, \(body.count) bytes"
  }

  package var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension ReceivedRequest {
  /// Returns a path in which only short segments of letters, as routes have them, are shown.
  package static func withoutSecrets(path: String) -> String {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .map { segment in
        let isRoute =
          segment.utf8.count <= 24
          && segment.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
          }
        return isRoute ? String(segment) : "…"
      }
      .joined(separator: "/")
  }
}

/// An answer, before it becomes bytes.
package struct SentResponse: Sendable, Equatable {
  package var status: Int
  package var fields: [HTTPField]
  package var body: [UInt8]

  package init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// Returns the answer as bytes of HTTP/1.1, with a length (RFC 9112 §6.2).
  ///
  /// - Parameters:
  ///   - method: The method of the request. The answer to `HEAD` has a length and no body.
  ///   - closing: Whether to announce that the connection ends after this answer.
  package func bytes(answering method: String, closing: Bool) -> [UInt8] {
    var head = "HTTP/1.1 \(status) \(Self.reason(status))\r\n"
    for field in fields {
      head += "\(Self.canonical(field.name)): \(field.value)\r\n"
    }
    // A 204 must not carry a length (RFC 9110 §8.6).
    if status != 204 {
      head += "Content-Length: \(body.count)\r\n"
    }
    if closing {
      head += "Connection: close\r\n"
    }
    head += "\r\n"
    var bytes = Array(head.utf8)
    if method != "HEAD", status != 204 {
      bytes += body
    }
    return bytes
  }

  /// Returns a name such as `Retry-After` for `retry-after`: some clients compare names with their
  /// case.
  private static func canonical(_ name: String) -> String {
    name.split(separator: "-", omittingEmptySubsequences: false)
      .map { $0.prefix(1).uppercased() + $0.dropFirst() }
      .joined(separator: "-")
  }

  private static func reason(_ status: Int) -> String {
    reasons[status] ?? "Status"
  }

  private static let reasons: [Int: String] = [
    200: "OK", 204: "No Content", 302: "Found", 400: "Bad Request", 401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large", 414: "URI Too Long",
    417: "Expectation Failed", 423: "Locked", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
    502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
  ]
}
