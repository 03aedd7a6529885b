@_spi(Internals) package import SessionCore

/// A formatter of events for people.
///
/// A place in the journal is written as the selector that finds it: `@410`.
package enum EventFormatter {
  package static func text(_ event: SessionEvent, at time: Timestamp) -> String {
    switch event {
    case .login(let login):
      var parts = ["user \(short(login.user))", login.method.phrase]
      parts.append(token(login.token))
      if let context = login.context { parts.append(self.context(context)) }
      return parts.joined(separator: ", ")
    case .refreshSucceeded(let refresh):
      return join([
        token(refresh.token), refresh.trigger.phrase, attempt(refresh.attempt),
        refresh.isRotated ? "refresh token rotated" : nil, answering(refresh.request),
      ])
    case .refreshFailed(let refresh):
      return join([
        "\(refresh.generation)", FailureFormatter.text(refresh.failure),
        refresh.configuredMeaning.map { "which means \($0)" }, refresh.trigger.phrase,
        attempt(refresh.attempt),
        refresh.retryAt.map {
          "next try in \(DurationFormatter.text(milliseconds: $0.milliseconds(since: time)))"
        } ?? "no further try",
        answering(refresh.request),
      ])
    case .contextSwitched(let change):
      return join([
        context(change.context), change.trigger.phrase, change.token.map(token) ?? "same token",
        answering(change.request),
      ])
    case .sessionExpired(let expiry): return reason(expiry.reason)
    case .logout(let logout): return reason(logout.reason)
    }
  }

  /// Returns the first eight digits of a UUID, which are enough to compare; `state` and `--json`
  /// show all.
  package static func short(_ id: Identifier) -> String {
    let text = id.description
    return id.uuid == nil ? text.printable : "\(text.prefix(8))…"
  }

  package static func join(_ parts: [String?]) -> String {
    parts.compactMap { $0 }.joined(separator: ", ")
  }

  package static func token(_ token: TokenMetadata) -> String {
    let life =
      !token.isLifetimeKnown
      ? "of unstated life"
      : token.lifetimeMilliseconds == 0
        ? "expired on arrival"
        : "lives \(DurationFormatter.text(milliseconds: token.lifetimeMilliseconds))"
    return "\(token.generation) \(life)" + (token.isRefreshable ? "" : ", not refreshable")
  }

  package static func context(_ context: ActiveContext) -> String {
    var text = "role \(name(context.role))"
    if let school = context.school { text += " at \(name(school))" }
    if let unit = context.unit { text += " in \(name(unit))" }
    return text + ", " + count(context.permissions.count, "permission")
  }

  package static func name(_ named: ActiveContext.Named) -> String {
    (named.name.isEmpty ? named.id.description : named.name).printable
  }

  package static func attempt(_ attempt: UInt32) -> String? {
    attempt == 1 ? nil : "attempt \(attempt)"
  }

  private static func answering(_ request: UInt64) -> String? {
    request == 0 ? nil : "request @\(request)"
  }

  package static func reason(_ reason: ExpiryReason) -> String {
    switch reason {
    case .tokenExpired: "the token's lifetime ended, and it was not refreshed"
    case .refreshRejected: "the token could not be refreshed"
    case .attemptsExhausted: "attempts exhausted"
    case .secretsMissing: "a stored secret is missing"
    case .corruptStorage: "a stored secret cannot be read"
    case .secretsOutdated: "the stored token is older than the journal's"
    case .userInactive: "the account is inactive"
    case .inactivity: "unused for too long"
    case .lifetimeEnded: "lasted for as long as the policy or the backend allows"
    case .endedByServer: "ended by the server"
    case .proofKeyLost: "the key to which the tokens are bound is lost"
    case .secretsNewer: "a newer version wrote the stored secrets; a sign-in replaces them"
    default: "reason \(reason)"
    }
  }

  private static func reason(_ reason: LogoutReason) -> String {
    switch reason {
    case .user: "by the user"
    case .policy: "by policy, after the expiry"
    case .userDeleted: "the account is deleted"
    default: "reason \(reason)"
    }
  }
}

/// A formatter of request failures.
package enum FailureFormatter {
  package static func text(_ failure: RequestFailure) -> String {
    var text = kind(failure)
    if failure.status != 0 { text += " \(failure.status)" }
    if let code = failure.serverCode { text += " \(code)" }
    if let wait = failure.retryAfterMilliseconds {
      text += ", asked to wait \(DurationFormatter.text(milliseconds: wait))"
    }
    return text
  }

  private static func kind(_ failure: RequestFailure) -> String {
    switch failure.kind {
    case .noConnection: "no connection"
    case .noReply where 200...299 ~= failure.status: "an incomplete response"
    case .noReply where failure.status == 408: "request not received in time"
    case .noReply: "no response"
    case .server: "server error"
    case .rateLimited: "rate limited"
    case .unreadable: "unreadable response"
    case .rejected: "rejected"
    case .noRefreshToken: "no refresh token"
    case .unexpected: "unexpected response"
    case .userInactive: "account inactive"
    case .userDeleted: "account deleted"
    case .secretsUnavailable: "refresh token not readable yet"
    // Neither a redirect nor these statuses say that a page responded.
    case .intercepted where 300...399 ~= failure.status: "a redirect"
    case .intercepted where [403, 404, 405].contains(failure.status):
      "a response without the server's form"
    case .intercepted: "a page in place of a response"
    case .otherUser: "another user's token"
    default: "failure \(failure.kind)"
    }
  }
}
