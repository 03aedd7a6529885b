// Descriptions in one line of plain text, without names, addresses and secrets.

extension SessionState: CustomStringConvertible {
  /// One line for a log: `authenticated: user 7 by password since …, tok#2 until …`.
  ///
  /// It holds identifiers and times, and no name of a user, no e-mail address and no secret.
  ///
  /// - Requirement: STO-3
  public var description: String {
    switch self {
    case .unauthenticated: "unauthenticated"
    case .authenticated(let session):
      "authenticated: user \(session.user.shown) \(session.method.phrase) since \(session.since), "
        + session.token.shown + (session.context.map { ", \($0.shown)" } ?? "")
        + session.failures.shown
    case .expired(let session):
      "expired: user \(session.user.shown) since \(session.since), \(session.reason)"
        + (session.context.map { ", \($0.shown)" } ?? "")
    }
  }
}

extension SessionEvent: CustomStringConvertible {
  /// One line for a log: `refreshFailed: tok#1, attempt 2 as a retry, server 503, again at …`.
  ///
  /// It holds identifiers and times, and no name of a user, no e-mail address and no secret.
  ///
  /// - Requirement: STO-3
  public var description: String {
    switch self {
    case .login(let login):
      "login: user \(login.user.shown) \(login.method.phrase), \(login.token.shown)"
        + (login.context.map { ", \($0.shown)" } ?? "")
    case .refreshSucceeded(let refresh):
      "refreshSucceeded: \(refresh.token.shown), attempt \(refresh.attempt) \(refresh.trigger.phrase)"
        + (refresh.isRotated ? ", rotated" : "")
    case .refreshFailed(let refresh):
      "refreshFailed: \(refresh.generation), attempt \(refresh.attempt) \(refresh.trigger.phrase), "
        + "\(refresh.failure)" + (refresh.retryAt.map { ", again at \($0)" } ?? "")
    case .contextSwitched(let change):
      "contextSwitched: \(change.context.shown) \(change.trigger.phrase)"
        + (change.token.map { ", \($0.shown)" } ?? "")
    case .sessionExpired(let expiry): "sessionExpired: \(expiry.reason)"
    case .logout(let logout): "logout: \(logout.reason)"
    }
  }
}

extension RecordedEvent: CustomStringConvertible {
  /// The sequence, the time and the event: `12 2026-11-21T14:00:05.205Z logout: user`.
  public var description: String { "\(sequence) \(time) \(event)" }
}

extension SessionEnd: CustomStringConvertible {
  /// The reason and the time: `expired: inactivity at …`, or `logged out: user at …`.
  ///
  /// - Requirement: STA-8
  public var description: String {
    switch reason {
    case .expired(let reason): "expired: \(reason) at \(time)"
    case .loggedOut(let reason): "logged out: \(reason) at \(time)"
    }
  }
}

extension SessionActivity: CustomStringConvertible {
  /// The name, such as `refreshing`.
  ///
  /// - Requirement: STA-3
  public var description: String {
    switch self {
    case .loading: "loading"
    case .idle: "idle"
    case .authenticating: "authenticating"
    case .refreshing: "refreshing"
    case .switching: "switching"
    case .failed: "failed"
    case .replaced: "replaced"
    }
  }
}

// `sessionreplay timeline` uses the same words.
extension LoginMethod {
  /// The words for a line, such as `by password`.
  package var phrase: String {
    switch self {
    case .password: "by password"
    case .registration: "by registration"
    case .social: "by a social login"
    case .biometric: "by biometric unlock"
    case .interactive: "interactively"
    case .silent: "silently"
    case .adoption: "by adopting held tokens"
    case .refreshToken: "by a refresh token"
    case .custom: "by the app's own credential"
    default: "by method \(self)"
    }
  }
}

extension RefreshTrigger {
  /// The words for a line, such as `after a 401`.
  package var phrase: String {
    switch self {
    case .schedule: "as scheduled"
    case .unauthorized: "after a 401"
    case .launch: "at launch"
    case .foreground: "on return to the foreground"
    case .manual: "by hand"
    case .retry: "as a retry"
    case .command: "for a command"
    case .reauthentication: "by a login of the same user"
    default: "trigger \(self)"
    }
  }
}

extension SwitchTrigger {
  /// The words for a line, such as `by the user`.
  package var phrase: String {
    switch self {
    case .user: "by the user"
    case .server: "by the server"
    default: "trigger \(self)"
    }
  }
}

extension TokenMetadata {
  fileprivate var shown: String {
    "\(generation) \(isLifetimeKnown ? "until \(expiresAt)" : "of unstated life")"
      + (isRefreshable ? "" : ", not refreshable")
  }
}

extension ActiveContext {
  /// The identifiers only.
  fileprivate var shown: String {
    "role \(role.id.shown)" + (school.map { " at \($0.id.shown)" } ?? "")
      + (unit.map { ", unit \($0.id.shown)" } ?? "")
  }
}

extension SessionState.RefreshFailures {
  fileprivate var shown: String {
    guard total > 0 else { return "" }
    return ", \(total) refresh\(total == 1 ? "" : "es") failed"
      + (last.map { ", the last with \($0)" } ?? "")
  }
}

extension Identifier {
  /// The identifier on one line; it is hidden if it may be an e-mail address.
  fileprivate var shown: String {
    let text = description
    guard !text.utf8.contains(UInt8(ascii: "@")) else { return "(not shown)" }
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { line.append(scalar.isPrinted ? scalar : "\u{FFFD}") }
    return String(line)
  }
}

extension Unicode.Scalar {
  fileprivate var isPrinted: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
    default: true
    }
  }
}
