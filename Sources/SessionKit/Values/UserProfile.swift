public import SessionCore

/// The user's profile, for display.
///
/// It is stored in the user item, never in the journal.
///
/// - Requirement: STO-3
public struct UserProfile: Hashable, Sendable {
  /// The server's identifier of the user, the only name of the user in the journal.
  public let id: Identifier
  /// The e-mail address.
  public let email: String?
  /// The given name.
  public let firstName: String?
  /// The family name.
  public let lastName: String?
  /// Further members of the profile, by the names of `response.furtherMembers` of an `HTTPBackend`.
  ///
  /// - Requirement: STA-4
  public let further: [String: String]

  /// Creates a profile.
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

  /// Returns a further member, such as `full_name`; `nil` if the backend did not state it.
  public subscript(member: String) -> String? { further[member] }

  /// The given and family name, as far as they exist.
  ///
  /// Without a name it is the e-mail address, else the identifier.
  public var displayName: String {
    let names = [firstName, lastName].compactMap { $0 }.filter { !$0.isEmpty }
    return names.isEmpty ? email ?? id.description : names.joined(separator: " ")
  }
}

extension UserProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The word `user` and the identifier, without other members.
  public var description: String { "user \(id)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the identifier only.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The status of a user's account at the server.
///
/// - Requirement: LOG-6
public enum AccountStatus: Hashable, Sendable {
  /// The user may use the account.
  case active
  /// The account is inactive.
  ///
  /// The session has expired for this reason.
  case inactive
  /// The account was deleted.
  ///
  /// The session was logged out, and the app's local data is cleared.
  case deleted
  /// The response is older than what the app knows of the user
  /// (``SessionHost/lastKnownStatus(of:)``), or than the response to a newer request.
  ///
  /// It does not show the current status.
  case outdated

  init?(_ kind: RequestFailure.Kind?) {
    switch kind {
    case .userInactive: self = .inactive
    case .userDeleted: self = .deleted
    default: return nil
    }
  }
}

extension RequestFailure.Kind {
  /// Whether the server reports that the user's account is inactive or deleted.
  package var isOfAccount: Bool { self == .userInactive || self == .userDeleted }
}
