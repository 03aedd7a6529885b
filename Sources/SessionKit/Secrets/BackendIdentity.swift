public import Foundation

/// Which backend stored tokens belong to: its origins, and the app's client identifier there.
///
/// Stored tokens are sent to no other backend. Paths do not count: a new path on the same origin has the same
/// operator. See `Specs/Decisions/bind-secrets-to-their-backend.md`.
///
/// - Requirement: STO-6
public struct BackendIdentity: Hashable, Codable, Sendable {
  /// `https://api.school.test`, in small letters, without the default port, and sorted.
  let origins: [String]
  let client: String?

  init(origins: [String], client: String?) {
    (self.origins, self.client) = (origins, client)
  }

  /// A backend at these addresses, of which only the origins count, that knows the app as this client.
  public init(origins: [URL], clientID: String? = nil) {
    self.init(origins: Set(origins.compactMap(\.bareOrigin)).sorted(), client: clientID)
  }

  /// A backend that is not at an address, by a name that only it has, such as `com.example.accounts`.
  public init(_ name: String) {
    self.init(origins: [name], client: nil)
  }

  /// A backend of which nothing is known: it uses the tokens of no named backend.
  ///
  /// Two backends without a name are not told apart.
  public static let unnamed = BackendIdentity(origins: [String](), client: nil)

  /// Whether secrets of this backend may be sent to everything that the other one names.
  func covers(_ other: BackendIdentity) -> Bool {
    guard !other.origins.isEmpty else { return self == other }
    return client == other.client && Set(other.origins).isSubset(of: origins)
  }
}

extension BackendIdentity: CustomStringConvertible {
  /// `https://api.school.test (client app-1)`.
  public var description: String {
    let place = origins.isEmpty ? "nowhere" : origins.joined(separator: ", ")
    return client.map { "\(place) (client \($0))" } ?? place
  }
}

/// Which stored secrets a session may use: those of its backend, at its present or an earlier address.
struct BackendBinding: Sendable {
  let backend: BackendIdentity
  let former: [BackendIdentity]

  /// Throws if an item is of another backend: then it is neither used nor changed.
  func refuse<Item: StoredItem>(_: Item.Type, _ bytes: [UInt8]) throws(SecretStoreError) {
    guard Item.isBound, let stored = BackendIdentity(ofItem: bytes),
      !([backend] + former).contains(where: stored.covers)
    else { return }
    throw .otherBackend(
      item: Item.item, stored: stored.description, configured: backend.description)
  }

  /// The problem with a stored token of another backend; `nil` if there is none, or it cannot be read.
  ///
  /// What a revocation needs at another backend keeps no user from signing in: it stays unread and unsent.
  func problem(in store: any SecretStore) -> SecretStoreError? {
    do throws(SecretStoreError) {
      if let bytes = try store.read(.token) { try refuse(StoredToken.self, bytes) }
    } catch {
      if case .otherBackend = error { return error }
    }
    return nil
  }
}

extension SessionConfiguration {
  var binding: BackendBinding {
    BackendBinding(backend: backend.identity, former: formerBackends)
  }
}

extension URL {
  /// Scheme, host and port, also if the address has a user name.
  fileprivate var bareOrigin: String? {
    guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
    (parts.user, parts.password) = (nil, nil)
    return parts.url.flatMap(CallAddress.origin)
  }
}
