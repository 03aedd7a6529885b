@_spi(Internals) import SessionCore
import SessionKit

/// The parts of a response that may name the user.
struct UserSources {
  let members: JSONMembers
  let access: JSONMembers?
  let identity: JSONMembers?
  let userName: String?
  /// The session's user, if the response is to a refresh or a switch.
  let expected: ExpectedUser?
  /// Whether values that cannot be read are left out, because the token next to them counts in any
  /// case.
  let isBesideToken: Bool
}

// The user: at a sign-in, the first source that names one.
extension HTTPBackend {
  /// Returns the user; `nil` if no source names one, which is an error at a login only.
  func user(_ step: Step, _ sources: UserSources) throws(Unreadable) -> FoundUser? {
    if !step.signsIn, let expected = sources.expected {
      return try user(step, sources, expected)
    }
    var problem: Unreadable?
    for source in response.user {
      do throws(Unreadable) {
        guard let named = try name(step, source, sources) else { continue }
        if let problem = named.problem { throw problem }
        return FoundUser(
          profile: try profile(source, sources, named), origin: origin(source, named))
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// Returns the session's user or another one; `nil` if that cannot be decided.
  ///
  /// - Only the source that named the session's user can decide that it is another one. An e-mail
  ///   address counts too, because nothing of it is kept.
  /// - If that source is silent or not known, another source counts only if it agrees.
  private func user(
    _ step: Step, _ sources: UserSources, _ expected: ExpectedUser
  ) throws(Unreadable) -> FoundUser? {
    let decisive = response.user.first {
      $0.label(userID: response.userID) == expected.origin?.source
    }
    if let decisive, let named = readable(step, decisive, sources),
      named.value != expected.origin?.value
    {
      return .another(by: decisive.naming)
    }
    var problem: Unreadable?
    for source in response.user {
      do throws(Unreadable) {
        guard let named = try name(step, source, sources),
          source == decisive || named.problem == nil && named.id == expected.id
        else { continue }
        let profile = try profile(source, sources, named).renamed(expected.id)
        return FoundUser(
          profile: profile,
          origin: decisive == nil ? origin(source, named) : expected.origin)
      } catch {
        if !source.isClaim { problem = problem ?? error }
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// The value with which a source names the user, before other data of the user is read.
  private struct Named {
    let value: String
    let id: Identifier
    /// Why the value must not be journaled.
    var problem: Unreadable?

    init(value: String, id: Identifier) { (self.value, self.id) = (value, id) }

    /// Creates the value at this place.
    ///
    /// `other` is what to configure instead.
    init(_ id: Identifier, _ place: String, _ other: String) {
      (value, self.id) = (id.description, id)
      guard id.isAddress else { return }
      problem = Unreadable("\(place) is \(Identifier.addressProblem); name \(other)")
    }
  }

  private func origin(_ source: UserSource, _ named: Named) -> UserOrigin {
    UserOrigin(source: source.label(userID: response.userID), value: named.value)
  }

  /// Returns the value of a source.
  ///
  /// If it cannot be read, the source counts as silent.
  private func readable(_ step: Step, _ source: UserSource, _ sources: UserSources) -> Named? {
    do throws(Unreadable) { return try name(step, source, sources) } catch { return nil }
  }

  private func name(
    _ step: Step, _ source: UserSource, _ sources: UserSources
  ) throws(Unreadable) -> Named? {
    switch source {
    case .member(let path):
      // The top level of a response to a refresh describes a token, not a user.
      guard step.signsIn || !path.steps.isEmpty, let user = try sources.members.object(path)
      else { return nil }
      return try name(of: user)
    case .claim(let path, let token):
      let claims = token == .access ? sources.access : sources.identity
      guard step.signsIn || sources.expected != nil, let id = try claims?.identifier(path)
      else { return nil }
      return Named(id, "claim \(path) of the \(token.rawValue)", "another claim")
    case .digest(let path, let key):
      return try sources.members.identifier(path).map { digest($0.description, key) }
    case .userName(let key):
      return step.signsIn ? sources.userName.map { digest($0, key) } : nil
    }
  }

  private func name(of user: JSONMembers) throws(Unreadable) -> Named {
    guard let id = try user.identifier(response.userID) else { throw user.missing(response.userID) }
    return Named(id, user.name(response.userID), "another member in response.userID")
  }

  private func digest(_ text: String, _ key: UserNameKey) -> Named {
    Named(value: UserNameKey.plain(text), id: key.identifier(of: text))
  }

  private func profile(
    _ source: UserSource, _ sources: UserSources, _ named: Named
  ) throws(Unreadable) -> UserProfile {
    switch source {
    case .member(let path):
      guard let user = try sources.members.object(path) else { return UserProfile(id: named.id) }
      return try profile(user, as: named.id, isBesideToken: sources.isBesideToken)
    case .claim(_, let token):
      let claims = token == .access ? sources.access : sources.identity
      return UserProfile(
        id: named.id, email: claims?.hint(["email", "emails.0"]),
        firstName: claims?.hint(["given_name"]), lastName: claims?.hint(["family_name"]))
    case .digest(let path, _):
      let name = try sources.members.identifier(path)
      return UserProfile(
        id: named.id, email: name.flatMap { $0.isAddress ? $0.description : nil })
    case .userName:
      let name = sources.userName.map { Identifier($0) }
      return UserProfile(
        id: named.id, email: name.flatMap { $0.isAddress ? $0.description : nil })
    }
  }

  /// Returns the user that an object describes.
  ///
  /// The identifier is required, other members are not.
  func profile(
    _ user: JSONMembers, isBesideToken: Bool = false
  ) throws(Unreadable) -> UserProfile {
    let named = try name(of: user)
    if let problem = named.problem { throw problem }
    return try profile(user, as: named.id, isBesideToken: isBesideToken)
  }

  private func profile(
    _ user: JSONMembers, as id: Identifier, isBesideToken: Bool
  ) throws(Unreadable) -> UserProfile {
    guard !isBesideToken else {
      return UserProfile(
        id: id, email: user.hint([response.email]), firstName: user.hint([response.firstName]),
        lastName: user.hint([response.lastName]), further: further(user))
    }
    return UserProfile(
      id: id, email: try user.string(response.email),
      firstName: try user.string(response.firstName),
      lastName: try user.string(response.lastName), further: further(user))
  }

  /// Returns the further members that are present.
  ///
  /// A member of another type counts as missing.
  private func further(_ user: JSONMembers) -> [String: String] {
    var further: [String: String] = [:]
    for path in response.furtherMembers {
      // A member of another type counts as missing: no login fails because of it.
      do throws(Unreadable) { further[path.description] = try user.word(path) } catch { continue }
    }
    return further
  }

  /// Returns the failure that a profile states, if the user's status ends a session.
  func accountFailure(_ user: JSONMembers) throws(Unreadable) -> RequestFailure.Kind? {
    let status = try user.first(response.accountStatus) { (path) throws(Unreadable) in
      try user.word(path)
    }
    guard let status = status?.lowercased() else { return nil }
    if response.deleted.contains(where: { $0.lowercased() == status }) { return .userDeleted }
    return response.inactive.contains { $0.lowercased() == status } ? .userInactive : nil
  }

  /// The error message if no source names the user.
  var missingUser: String {
    let sources = response.user.map { source in
      switch source {
      case .member(let path): path.description
      case .claim(let path, let token): "claim \(path) of the \(token.rawValue)"
      case .digest(let path, _): path.description
      case .userName: "the user name"
      }
    }
    guard sources.count > 1 else { return "\(sources.first ?? "the user") is missing" }
    return "\(sources.joined(separator: " and ")) are missing"
  }
}
