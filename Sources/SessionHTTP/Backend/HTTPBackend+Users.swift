@_spi(Internals) import SessionCore
import SessionKit

/// What a response has to say who the user is with.
struct UserSources {
  let members: JSONMembers
  let access: JSONMembers?
  let identity: JSONMembers?
  let userName: String?
  /// The session's user, if the response is to a refresh or a switch.
  let expected: ExpectedUser?
  /// Whether only what cannot be read is left out, since the token beside it counts in any case.
  let isBesideToken: Bool
}

// Who the user is: at a sign-in, the first source that says it.
extension HTTPBackend {
  /// The user; `nil` if no source says it, which is a fault at a login only.
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

  /// The session's user, or another one, or `nil` if that cannot be told.
  ///
  /// - Only the source that named the session's user can say that it is another one. An e-mail address
  ///   counts as well: nothing of it is kept.
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
        var found = FoundUser(
          profile: try profile(source, sources, named), origin: origin(source, named))
        if decisive != nil { found.origin = expected.origin }
        found.profile = found.profile.renamed(expected.id)
        return found
      } catch {
        if !source.isClaim { problem = problem ?? error }
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// What a source says of the user, before anything else of them is read.
  private struct Named {
    let value: String
    let id: Identifier
    /// Why it may not be journaled.
    var problem: Unreadable?

    init(value: String, id: Identifier) { (self.value, self.id) = (value, id) }

    /// What is named so at this place; `other` is what to configure in its stead.
    init(_ id: Identifier, _ place: String, _ other: String) {
      (value, self.id) = (id.description, id)
      guard id.isAddress else { return }
      problem = Unreadable("\(place) is \(Identifier.addressProblem); name \(other)")
    }
  }

  private func origin(_ source: UserSource, _ named: Named) -> UserOrigin {
    UserOrigin(source: source.label(userID: response.userID), value: named.value)
  }

  /// The same, with what cannot be read as silence.
  private func readable(_ step: Step, _ source: UserSource, _ sources: UserSources) -> Named? {
    do throws(Unreadable) { return try name(step, source, sources) } catch { return nil }
  }

  private func name(
    _ step: Step, _ source: UserSource, _ sources: UserSources
  ) throws(Unreadable) -> Named? {
    switch source {
    case .member(let path):
      // The top level of a response to a refresh is a token's, not a user's.
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

  /// The user that an object is; the identifier is required, the rest is not.
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

  /// The further members that are there; one of another type is as if it were missing.
  private func further(_ user: JSONMembers) -> [String: String] {
    var further: [String: String] = [:]
    for path in response.furtherMembers {
      do throws(Unreadable) { further[path.description] = try user.word(path) } catch { continue }
    }
    return further
  }

  /// What a profile says of how the user stands, where that ends a session.
  func standing(_ user: JSONMembers) throws(Unreadable) -> RequestFailure.Kind? {
    let standing = try user.first(response.standing) { (path) throws(Unreadable) in
      try user.word(path)
    }
    guard let standing = standing?.lowercased() else { return nil }
    if response.deleted.contains(where: { $0.lowercased() == standing }) { return .userDeleted }
    return response.inactive.contains { $0.lowercased() == standing } ? .userInactive : nil
  }

  /// What to say if no source says who the user is.
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
