@_spi(Internals) import SessionCore
public import SessionKit

// Reading of responses. `Specs/Answers.md` lists what each response means.
extension HTTPBackend {
  /// Reads the response to a login.
  ///
  /// It must name the user, unless there is an endpoint of the profile.
  ///
  /// - Requirement: LOG-6
  public func readLogin(
    _ response: HTTPResponse, to credential: Credential? = nil,
    in context: RequestContext = RequestContext()
  ) throws(AnswerFailure) -> TokenResponse {
    try readSignIn(.login, response, userName: credential?.userName, context)
  }

  /// Reads the response to a registration.
  ///
  /// It is a login's response if it has an access token; otherwise returns `nil`.
  ///
  /// Throws if the response is a failure, is incomplete JSON, or has a token that cannot be read.
  ///
  /// - Requirement: LOG-5, LOG-14
  public func readRegistration(
    _ response: HTTPResponse, of account: Credential? = nil,
    in context: RequestContext = RequestContext()
  ) throws(AnswerFailure) -> TokenResponse? {
    if let failure = failure(.register, response) { throw refusal(failure) }
    do throws(Unreadable) {
      guard JSONMembers.firstByte(of: response.body) == UInt8(ascii: "{"),
        let members = try JSONMembers(body: response.body).object(self.response.envelope),
        try members.first(self.response.accessToken, members.token) != nil
      else { return nil }
    } catch {
      throw AnswerFailure(.unreadable, error.problem, status: response.status)
    }
    return try readSignIn(.register, response, userName: account?.userName, context)
  }

  /// Reads the response to a refresh that begins a session.
  ///
  /// The server may have replaced the token that was sent. So a new token is kept even if other
  /// members cannot be read.
  ///
  /// - Requirement: LOG-15, REF-7
  func readFirstRefresh(
    _ response: HTTPResponse, in context: RequestContext
  ) throws(AnswerFailure) -> TokenResponse {
    if let failure = failure(.refresh, response) { throw refusal(failure) }
    return try readTokens(.login, response, context, isFirstRefresh: true)
  }

  /// Reads the response to a login with the token of another service.
  ///
  /// - Requirement: LOG-5
  public func readSocial(
    _ response: HTTPResponse, in context: RequestContext = RequestContext()
  ) throws(AnswerFailure) -> TokenResponse {
    try readSignIn(.social, response, userName: nil, context)
  }

  private func readSignIn(
    _ step: Step, _ response: HTTPResponse, userName: String?, _ context: RequestContext
  ) throws(AnswerFailure) -> TokenResponse {
    let found = try readTokens(step, response, context, userName: userName)
    guard found.user != nil || self.profile != nil else {
      throw AnswerFailure(unreadable: missingUser, status: response.status)
    }
    return found
  }

  /// Reads the response to a refresh, with or without a new refresh token.
  ///
  /// The old refresh token is consumed. So a new one is kept even if other members cannot be read.
  ///
  /// A source of the user counts if it agrees with the user of `context`. Only a session can decide
  /// that a response belongs to another user, since it knows the source that named its user.
  ///
  /// - Requirement: REF-5, REF-7
  public func readRefresh(
    _ response: HTTPResponse, in context: RequestContext = RequestContext()
  ) throws(AnswerFailure) -> TokenResponse {
    try readTokens(.refresh, response, context)
  }

  /// Reads the response to a switch of the context.
  ///
  /// If the response has a new refresh token, the old one is consumed. It is then read like the
  /// response to a refresh.
  ///
  /// - Requirement: CTX-1
  public func readSwitch(
    _ response: HTTPResponse, in context: RequestContext = RequestContext()
  ) throws(AnswerFailure) -> TokenResponse {
    try readTokens(.switchContext, response, context)
  }

  /// Reads the user's profile.
  ///
  /// Throws a failure if the user is inactive or deleted.
  ///
  /// - Requirement: LOG-6
  public func readProfile(_ response: HTTPResponse) throws(AnswerFailure) -> UserProfile {
    let found = try readProfileResponse(response)
    if let failure = found.failure { throw AnswerFailure(failure: failure) }
    return found.user
  }

  func readProfileResponse(_ response: HTTPResponse) throws(AnswerFailure) -> ProfileResponse {
    if let failure = failure(.profile, response) { throw AnswerFailure(failure: failure) }
    do throws(Unreadable) {
      let body = try enveloped(response)
      guard let members = try body.first(self.response.profile, body.object) else {
        throw Unreadable("the response contains no profile of the user")
      }
      let failure = try accountFailure(members).map {
        RequestFailure(kind: $0, status: UInt16(clamping: response.status))
      }
      // For a user who is inactive or deleted, the time does not matter.
      let changedAt = try HTTPBackend.beside(failure != nil) { () throws(Unreadable) in
        try members.first(self.response.statusChangedAt) { (path) throws(Unreadable) in
          try members.instant(path, must: "a time", assumesUTC: self.response.assumesUTC)
        }
      }
      return ProfileResponse(
        user: try profile(members), failure: failure, changedAt: changedAt,
        serverTime: response.header("Date").flatMap { Timestamp(httpDate: $0) })
    } catch {
      throw AnswerFailure(unreadable: error.problem, status: response.status)
    }
  }

  /// Reads the response to a revocation.
  ///
  /// ``revoked`` decides whether it is done, unless a proxy's page was returned.
  public func readRevocation(_ response: HTTPResponse) throws(AnswerFailure) {
    _ = try readRevocation(response, needsAccess: false)
  }

  /// Reads the response to a revocation that the access token may authenticate.
  ///
  /// If it does, a 401 concerns that token. Then the revocation is not done unless the server's
  /// code says so.
  package func readRevocation(
    _ response: HTTPResponse, needsAccess: Bool
  ) throws(AnswerFailure) -> RevocationRun.Reply {
    let failure = failure(.revocation, response)
    // A page with a success or a 401 may be a network's own. Another status that the app lists is the
    // server's: Prosody 13.0.1 answers a token that is revoked already with a 404 page.
    // A proxy, a limiter or a timeout is never (407, 408, 425, 429, 5xx).
    let isOwn =
      revoked.lists(response.status) && 400...499 ~= response.status
      && ![401, 407, 408, 425, 429].contains(response.status)
    if let failure, failure.kind == .intercepted, !isOwn { throw AnswerFailure(failure: failure) }
    let signs = signs(response, at: .revocation)
    let isUnauthorized = response.status == 401
    // RFC 6750 §3.1: a code about the access token that authenticates the request.
    if needsAccess, isUnauthorized, signs.code == "invalid_token" {
      return .unauthorized(status: 401)
    }
    if revoked.saysSo(signs) { return .done }
    // The client or the request is refused, so the token lives (RFC 6749 §5.2, RFC 7009 §2.2.1).
    let isOfClient = isUnauthorized && !needsAccess && client.isBasic && !signs.concernsToken
    let isRefused = signs.concernsRequest || isOfClient
    if needsAccess, isUnauthorized, !isRefused {
      return revoked.unauthorizedConfirms && !signs.concernsToken
        ? .done : .unauthorized(status: 401)
    }
    if revoked.isDone(signs), !isRefused {
      return isUnauthorized ? .refused(status: 401) : .done
    }
    throw refusal(
      failure ?? RequestFailure(kind: .unexpected, status: UInt16(clamping: response.status)))
  }

  private func readTokens(
    _ step: Step, _ response: HTTPResponse, _ context: RequestContext, userName: String? = nil,
    isFirstRefresh: Bool = false
  ) throws(AnswerFailure) -> TokenResponse {
    if !isFirstRefresh, let failure = failure(step, response) {
      throw refusal(failure)
    }
    var found: TokenResponse
    do throws(Unreadable) {
      found = try tokens(step, response, context, userName, isFirstRefresh: isFirstRefresh)
    } catch {
      // The server may have replaced the token, and nothing says by which. After a sign-in no token
      // is spent, and a repetition is the caller's decision.
      let isLost = error.isCut && (step.mayReplace || isFirstRefresh)
      throw AnswerFailure(isLost ? .noReply : .unreadable, error.problem, status: response.status)
    }
    found.isRead = true
    guard found.access.isToken, found.refresh?.isToken ?? true else {
      throw AnswerFailure(
        .unreadable, "a token is empty or contains a character that no token may contain",
        status: response.status)
    }
    if found.tokenID?.isAddress == true { found.tokenID = nil }
    if self.refresh == nil { found.refresh = nil }
    return found
  }

  private func enveloped(_ response: HTTPResponse) throws(Unreadable) -> JSONMembers {
    let body = try JSONMembers(body: response.body)
    guard let inner = try body.object(self.response.envelope) else {
      throw body.missing(self.response.envelope)
    }
    return inner
  }

  private func tokens(
    _ step: Step, _ response: HTTPResponse, _ context: RequestContext, _ userName: String?,
    isFirstRefresh: Bool
  ) throws(Unreadable) -> TokenResponse {
    let members = try enveloped(response)
    guard let access = try members.first(self.response.accessToken, members.token) else {
      throw members.missing(self.response.accessToken.first ?? .whole)
    }
    let refresh = try HTTPBackend.beside(step == .refresh || isFirstRefresh) {
      () throws(Unreadable) in
      try members.first(self.response.refreshToken, members.token)
    }
    let isSpent = isFirstRefresh || step.spends(refresh)
    // If the token is spent, the type is not checked, and what cannot be read counts as missing.
    // The server has replaced the token already, so a rejection would throw away the only one that
    // it accepts. Calls that are refused because of the type are repaired by a new version of the
    // app. A session that ended is not. At a sign-in nothing is lost, and a wrong configuration is
    // found on the first day.
    if !isSpent { try checkType(members) }
    let payload = try payload(of: access)
    var start = InstantStart(
      response, device: self.response.usesDeviceClock ? context.now : nil)
    let stated = try HTTPBackend.beside(isSpent) { () throws(Unreadable) in
      try lifetime(members, claims: payload, since: &start)
    }
    var found = TokenResponse(
      access: access, refresh: refresh,
      lifetime: stated
        ?? unstatedLifetime(
          payload, since: &start, before: context.lifetimeBefore?.wholeMilliseconds))
    found.sessionLifetime = try HTTPBackend.beside(isSpent) { () throws(Unreadable) in
      try sessionLifetime(members, claims: payload, since: &start)
    }
    found.refreshTokenLifetime = hint(members, at: self.response.refreshTokenLifetime)
    found.boundKey = try HTTPBackend.beside(isSpent) { () throws(Unreadable) in
      try boundKey(members)
    }
    found.tokenID = payload.flatMap(TokenClaims.tokenID)
    found.tokenContext = payload.flatMap { TokenClaims.context($0, contextKeys) }
    let identity = try HTTPBackend.beside(isSpent) { () throws(Unreadable) in
      try members.first(self.response.identityToken, members.token)
    }
    found.identity = identity
    let sources = UserSources(
      members: members, access: payload, identity: identity.flatMap(hints), userName: userName,
      expected: context.expected, isBesideToken: isSpent)
    found.identitySubject = sources.identity?.identifierHint(at: ["sub"])?.description
    found.take(
      try HTTPBackend.beside(isSpent) { () throws(Unreadable) in try user(step, sources) })
    if let identity, var expected = identityToken {
      expected.subject = step.signsIn ? nil : context.expected?.identitySubject
      do throws(IdentityTokenError) {
        try IdentityToken.check(identity, against: expected, at: start.date)
      } catch {
        found.identityProblem = error
      }
      // Also if another claim names the user, or another check failed first (OpenID Connect §12.2).
      if let before = expected.subject, let now = found.identitySubject, now != before {
        found.take(.another(by: .identityToken))
      }
    }
    // The end of the authorization and of the session at the provider. The earliest end counts.
    var ends = [found.sessionLifetime, hint(members, at: ["authorization_expires_in"])]
    if found.identityProblem == nil, let end = sources.identity?.time("session_expiry"),
      let now = start.date ?? sources.identity?.time("iat")
    {
      let rest = TokenMetadata.boundedSessionLifetime(end.milliseconds(since: now))
      ends.append(.milliseconds(rest))
    }
    found.sessionLifetime = ends.compactMap(\.self).min()
    found.context = try HTTPBackend.beside(isSpent) { () throws(Unreadable) in
      let paths = step == .switchContext ? self.response.switchedContext : self.response.context
      guard let object = try members.first(paths, members.object) else {
        let role = try members.first(self.response.role, members.identifier)
        return role.map(ActiveContext.init(roleAlone:))
      }
      return try contextKeys.read(object)
    }
    (found.serverTime, found.isMeasuredByDevice) = (start.date, start.isOfDevice)
    return found
  }

  /// Reads a member next to a token.
  ///
  /// If the previous token is consumed, a member that cannot be read counts as missing.
  private static func beside<Value>(
    _ isSpent: Bool, _ read: () throws(Unreadable) -> Value?
  ) throws(Unreadable) -> Value? {
    do throws(Unreadable) {
      return try read()
    } catch {
      guard isSpent else { throw error }
      return nil
    }
  }

  /// Throws if the response states another type of the token than the accepted ones.
  package func checkType(_ members: JSONMembers) throws(Unreadable) {
    let type = try members.first(self.response.tokenType, members.string)
    let accepted = self.response.tokenTypes
    if let type, !accepted.contains(where: { $0.lowercased() == type.lowercased() }),
      try boundKey(members) == nil
    {
      let hint = type.lowercased() == "dpop" ? "; set proof to use bound tokens" : ""
      throw members.problem(self.response.tokenType, "is not \(acceptedTypes)\(hint)")
    }
  }

  /// The accepted token types, for an error message.
  private var acceptedTypes: String {
    self.response.tokenTypes == ["bearer"]
      ? "Bearer" : self.response.tokenTypes.sorted().joined(separator: " or ")
  }

  private func payload(of token: Secret) throws(Unreadable) -> JSONMembers? {
    do {
      return try TokenClaims.payload(of: token)
    } catch {
      // The second part is meant for the server. Only its presence was promised.
      guard tokenForm == .jwt, error == .notThreeParts else { return nil }
      throw Unreadable(
        "\(self.response.accessToken.first ?? .whole) is not a token of three parts; "
          + "set tokenForm to .opaque if it need not be one")
    }
  }

  /// Returns the claims of a token; `nil` if it has none.
  private func hints(_ token: Secret) -> JSONMembers? {
    TokenPayload.hints(token)
  }
}

extension ActiveContext {
  /// Creates the context of a role without school, unit and permissions.
  fileprivate init(roleAlone role: Identifier) {
    self.init(role: Named(id: role, name: role.description))
  }
}

extension HTTPBackend.Step {
  /// Whether the server may replace the token that the request used.
  fileprivate var mayReplace: Bool { self == .refresh || self == .switchContext }

  /// Returns whether the request's token is consumed if the response contains this refresh token.
  func spends(_ refresh: Secret?) -> Bool {
    self == .refresh || self == .switchContext && refresh != nil
  }
}

extension AnswerFailure {
  fileprivate init(unreadable problem: String, status: Int) {
    self.init(.unreadable, problem, status: status)
  }

  fileprivate init(_ kind: RequestFailure.Kind, _ problem: String, status: Int) {
    self.init(
      failure: RequestFailure(kind: kind, status: UInt16(clamping: status)), problem: problem)
  }
}
