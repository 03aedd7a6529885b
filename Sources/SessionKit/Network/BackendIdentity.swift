public import Foundation

/// Identifies the backend to which stored tokens belong: its origins, and the app's client
/// identifier.
///
/// Stored tokens are sent to no other backend. Paths do not count: a new path on the same origin
/// has the same operator. See `Specs/Decisions/bind-secrets-to-their-backend.md`.
///
/// - Requirement: STO-6
public struct BackendIdentity: Hashable, Codable, Sendable {
  /// The origins, such as `https://api.school.test`: in lower case, without the default port, and
  /// sorted.
  let origins: [String]
  let client: String?

  init(origins: [String], client: String?) {
    (self.origins, self.client) = (origins, client)
  }

  /// Creates the identity of a backend at these addresses, for this client of the app.
  ///
  /// Only the origins count.
  public init(origins: [URL], clientID: String? = nil) {
    self.init(origins: Set(origins.compactMap(\.bareOrigin)).sorted(), client: clientID)
  }

  /// Creates the identity of a backend without an address, by a unique name such as
  /// `com.example.accounts`.
  public init(_ name: String) {
    self.init(origins: [name], client: nil)
  }

  /// The identity of an unknown backend, which cannot use the tokens of a named backend.
  ///
  /// Two unnamed backends count as the same.
  public static let unnamed = BackendIdentity(origins: [String](), client: nil)

  /// Returns whether secrets of this backend may be sent to every origin of the other one.
  func covers(_ other: BackendIdentity) -> Bool {
    guard !other.origins.isEmpty else { return self == other }
    return client == other.client && Set(other.origins).isSubset(of: origins)
  }
}

extension BackendIdentity: CustomStringConvertible {
  /// The origins and the client, such as `https://api.school.test (client app-1)`.
  public var description: String {
    let place = origins.isEmpty ? "(unnamed)" : origins.joined(separator: ", ")
    return client.map { "\(place) (client \($0))" } ?? place
  }
}

extension URL {
  /// The scheme, host and port, also of an address with a user name.
  fileprivate var bareOrigin: String? {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    return parts.url.flatMap(CallAddress.origin)
  }
}
