@_spi(Internals) package import SessionCore

/// A formatter of request failures.
package enum FailureFormatter {
  package static func text(_ failure: RequestFailure) -> String {
    var text = kind(failure.kind)
    if failure.status != 0 { text += " \(failure.status)" }
    if let code = failure.serverCode { text += " \(code)" }
    if let wait = failure.retryAfterMilliseconds {
      text += ", asked to wait \(DurationFormatter.text(milliseconds: wait))"
    }
    return text
  }

  private static func kind(_ kind: RequestFailure.Kind) -> String {
    switch kind {
    case .noConnection: "no connection"
    case .noReply: "no reply"
    case .server: "server error"
    case .rateLimited: "rate limited"
    case .unreadable: "unreadable answer"
    case .rejected: "rejected"
    case .noRefreshToken: "no refresh token"
    case .unexpected: "unexpected answer"
    case .userInactive: "account inactive"
    case .userDeleted: "account deleted"
    case .secretsUnavailable: "refresh token not readable yet"
    case .intercepted: "a page in place of an answer"
    case .otherUser: "another user's token"
    default: "failure \(kind)"
    }
  }
}
