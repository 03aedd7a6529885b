public import SessionCore

/// Who the user is, for people: kept in the user item, never in the journal.
///
/// - Requirement: STO-3
public struct UserProfile: Hashable, Sendable {
  /// The server's identifier, by which alone the journal names the user.
  public let id: Identifier
  /// The e-mail address.
  public let email: String?
  /// The given name.
  public let firstName: String?
  /// The family name.
  public let lastName: String?
  /// What else the backend says of the user, by the names that `response.furtherMembers` of an `HTTPBackend` has.
  ///
  /// - Requirement: STA-4
  public let further: [String: String]

  /// A profile.
  public init(
    id: Identifier, email: String? = nil, firstName: String? = nil, lastName: String? = nil,
    further: [String: String] = [:]
  ) {
    self.id = id
    self.email = email
    self.firstName = firstName
    self.lastName = lastName
    self.further = further
  }

  /// A further member, such as `full_name`; `nil` if the backend has not said it.
  public subscript(member: String) -> String? { further[member] }

  /// The names that there are, else the e-mail address, else the identifier.
  public var displayName: String {
    let names = [firstName, lastName].compactMap { $0 }.filter { !$0.isEmpty }
    return names.isEmpty ? email ?? id.description : names.joined(separator: " ")
  }
}

extension UserProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The identifier only.
  public var description: String { "user \(id)" }

  /// The identifier only.
  public var debugDescription: String { description }

  /// A mirror that shows the identifier only.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
