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
