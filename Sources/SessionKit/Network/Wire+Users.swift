import SessionCore

/// What an answer has to say who the user is with.
struct UserSources {
  let members: JSONMembers
  let access: JSONMembers?
  let identity: JSONMembers?
  let userName: String?
  /// The session's user, where the answer is to a refresh or a switch.
  let expected: Identifier?
  /// Whether only what cannot be read is left out, since the token beside it counts in any case.
  let isBesideToken: Bool
}

// Who the user is: the first source that says it.
extension Wire {
  /// The user; `nil` where no source says it, which is a fault at a login only.
  ///
  /// Beside a session, whichever source names its user decides: at the sign-in it may have been another
  /// one that spoke first.
  func user(_ step: Step, _ sources: UserSources) throws(Unreadable) -> UserProfile? {
    if !step.signsIn, let expected = sources.expected {
      return try user(step, sources, expected)
    }
    var problem: Unreadable?
    for source in answer.user {
      do throws(Unreadable) {
        if let user = try user(step, source, sources) { return user }
      } catch {
        problem = problem ?? error
      }
    }
    if let problem { throw problem }
    return nil
  }

  /// The session's user, where any source names them; else the first other one that is named.
  ///
  /// A claim names another only where every source before it speaks: the sign-in may have been read from
  /// one that is silent now, and a claim is in every token. What cannot be read of it is as if it were
  /// not there.
  private func user(
    _ step: Step, _ sources: UserSources, _ expected: Identifier
  ) throws(Unreadable) -> UserProfile? {
    var other: UserProfile?
    var problem: Unreadable?
    var isSilent = false
    for source in answer.user {
      do throws(Unreadable) {
        guard let user = try user(step, source, sources) else {
          isSilent = true
          continue
        }
        if user.id == expected { return user }
        if !(source.isClaim && isSilent) { other = other ?? user }
      } catch {
        isSilent = true
        if !source.isClaim { problem = problem ?? error }
      }
    }
    if other == nil, let problem { throw problem }
    return other
  }

  private func user(
    _ step: Step, _ source: UserSource, _ sources: UserSources
  ) throws(Unreadable) -> UserProfile? {
    switch source {
    case .member(let path):
      // At its top level, an answer to a refresh is of a token, not of a user.
      guard step.signsIn || !path.steps.isEmpty,
        let user = try sources.members.object(path)
      else { return nil }
      return try profile(user, isBesideToken: sources.isBesideToken)
    case .claim(let path, let token):
      let claims = token == .access ? sources.access : sources.identity
      guard step.signsIn || sources.expected != nil, let claims,
        let id = try claims.identifier(path)
      else { return nil }
      guard !id.isAddress else {
        throw Unreadable(
          "claim \(path) of the \(token.rawValue) is \(Identifier.addressProblem); name another "
            + "claim")
      }
      return UserProfile(
        id: id, email: claims.hint(["email", "emails.0"]), firstName: claims.hint(["given_name"]),
        lastName: claims.hint(["family_name"]))
    case .userName(let key):
      guard step.signsIn, let name = sources.userName else { return nil }
      let isAddress = name.contains("@")
      return UserProfile(id: key.identifier(of: name), email: isAddress ? name : nil)
    }
  }

  /// The user that an object is; the identifier is required, the rest is not.
  func profile(
    _ user: JSONMembers, isBesideToken: Bool = false
  ) throws(Unreadable) -> UserProfile {
    guard let id = try user.identifier(keys.userID) else { throw user.missing(keys.userID) }
    guard !id.isAddress else {
      throw Unreadable(
        "\(user.name(keys.userID)) is \(Identifier.addressProblem); "
          + "name another member in keys.userID")
    }
    guard !isBesideToken else {
      return UserProfile(
        id: id, email: user.hint([keys.email]), firstName: user.hint([keys.firstName]),
        lastName: user.hint([keys.lastName]))
    }
    return UserProfile(
      id: id, email: try user.string(keys.email), firstName: try user.string(keys.firstName),
      lastName: try user.string(keys.lastName))
  }

  /// What a profile says of how the user stands, where that ends a session.
  func standing(_ user: JSONMembers) throws(Unreadable) -> RequestFailure.Kind? {
    let standing = try user.first(answer.standing) { (path) throws(Unreadable) in
      try user.word(path)
    }
    guard let standing = standing?.lowercased() else { return nil }
    if answer.deleted.contains(where: { $0.lowercased() == standing }) { return .userDeleted }
    return answer.inactive.contains { $0.lowercased() == standing } ? .userInactive : nil
  }

  /// What to say where no source says who the user is.
  var missingUser: String {
    let sources = answer.user.map { source in
      switch source {
      case .member(let path): path.description
      case .claim(let path, let token): "claim \(path) of the \(token.rawValue)"
      case .userName: "the user name"
      }
    }
    guard sources.count > 1 else { return "\(sources.first ?? "the user") is missing" }
    return "\(sources.joined(separator: " and ")) are missing"
  }
}

extension UserSource {
  fileprivate var isClaim: Bool {
    if case .claim = self { true } else { false }
  }
}

extension Identifier {
  static let addressProblem = "an e-mail address, which may not be journaled"

  /// Whether it is an e-mail address: a user's id goes into the journal, an address must not (STO-3).
  var isAddress: Bool { description.utf8.contains(UInt8(ascii: "@")) }
}
