import SessionCore

// Answers. What an answer says is in `Specs/Answers.md`, row by row.
extension Wire {
  /// Reads the answer to a login; who the user is must be in it where the backend promises so.
  public func readLogin(_ response: HTTPResponse) throws(AnswerFailure) -> TokenAnswer {
    let answer = try readTokens(.login, response, context: keys.context)
    if needsUser, answer.user == nil {
      throw AnswerFailure(unreadable: "\(keys.user) is missing", status: response.status)
    }
    return answer
  }

  /// Reads the answer to a refresh, with or without a new refresh token (REF-5).
  public func readRefresh(_ response: HTTPResponse) throws(AnswerFailure) -> TokenAnswer {
    try readTokens(.refresh, response, context: keys.context)
  }

  /// Reads the answer to a switch of the context (CTX-1).
  public func readSwitch(_ response: HTTPResponse) throws(AnswerFailure) -> TokenAnswer {
    try readTokens(.switchContext, response, context: keys.switchedContext)
  }

  /// Reads the answer to a revocation: 2xx, and 401 as well, for the token is good for nothing then.
  public func readRevocation(_ response: HTTPResponse) throws(AnswerFailure) {
    guard !response.isSuccess, response.status != 401 else { return }
    throw AnswerFailure(failure: failure(response))
  }

  private func readTokens(
    _ step: Step, _ response: HTTPResponse, context: String
  ) throws(AnswerFailure) -> TokenAnswer {
    guard response.isSuccess else { throw AnswerFailure(failure: failure(response)) }
    if let read {
      let answer = try read(step, response)
      guard answer.user?.id.isAddress != true else {
        throw AnswerFailure(
          unreadable: "the user's id is \(Identifier.addressProblem); read another member for it",
          status: response.status)
      }
      return answer
    }
    do throws(Unreadable) {
      var members = try JSONMembers(body: response.body)
      if let envelope {
        guard let inner = try members.object(envelope) else { throw members.missing(envelope) }
        members = inner
      }
      return try tokens(members, context: context, date: response.header("Date"))
    } catch {
      throw AnswerFailure(unreadable: error.problem, status: response.status)
    }
  }

  private func tokens(
    _ members: JSONMembers, context: String, date: String?
  ) throws(Unreadable) -> TokenAnswer {
    guard let access = try members.token(keys.accessToken) else {
      throw members.missing(keys.accessToken)
    }
    if let type = try members.string(keys.tokenType), type.lowercased() != "bearer" {
      throw Unreadable("\(keys.tokenType) is not Bearer")
    }
    let claims = try claims(of: access)
    let context = try members.object(context)
    var answer = TokenAnswer(
      access: access, refresh: try members.token(keys.refreshToken),
      lifetime: try members.lifetime(keys.lifetime))
    answer.tokenID = claims?.tokenID
    answer.tokenContext = claims?.context
    answer.user = try user(members)
    if let context { answer.context = try keys.contexts.read(context) }
    answer.serverTime = date.flatMap { Timestamp(httpDate: $0) }
    return answer
  }

  private func claims(of token: Secret) throws(Unreadable) -> TokenClaims? {
    do {
      return try TokenClaims(token, keys: keys.contexts)
    } catch {
      // What the second part holds is for the server; that there are three parts was promised.
      guard tokenForm == .jwt, error == .notThreeParts else { return nil }
      throw Unreadable("\(keys.accessToken) is not a token of three parts")
    }
  }

  private func user(_ members: JSONMembers) throws(Unreadable) -> UserProfile? {
    guard let user = try members.object(keys.user) else { return nil }
    guard let id = try user.identifier(keys.userID) else { throw user.missing(keys.userID) }
    guard !id.isAddress else {
      throw Unreadable(
        "\(keys.user).\(keys.userID) is \(Identifier.addressProblem); "
          + "name another member in keys.userID")
    }
    return UserProfile(
      id: id, email: try user.string(keys.email), firstName: try user.string(keys.firstName),
      lastName: try user.string(keys.lastName))
  }
}

extension Identifier {
  fileprivate static let addressProblem = "an e-mail address, which may not be journaled"

  /// Whether it is an e-mail address: a user's id goes into the journal, an address must not (STO-3).
  fileprivate var isAddress: Bool { description.utf8.contains(UInt8(ascii: "@")) }
}

extension HTTPResponse {
  fileprivate var isSuccess: Bool { (200...299).contains(status) }
}

extension AnswerFailure {
  fileprivate init(unreadable problem: String, status: Int) {
    self.init(
      failure: RequestFailure(kind: .unreadable, status: UInt16(clamping: status)),
      problem: problem)
  }
}
