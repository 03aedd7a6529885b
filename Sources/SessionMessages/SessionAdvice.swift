public import SessionCore

/// What an app should do next, or have its user do (LOG-8).
public enum SessionAdvice: Hashable, Sendable {
  /// Try the same again, now or when the user asks for it.
  case retry
  /// Try the same again after so many seconds; `nil` where nobody said how many.
  case wait(seconds: Int?)
  /// Let the user correct what was entered.
  case correctInput
  /// Send what was not sent (a draining, `ChangeLog.retry` of what was given up), or discard it.
  case sendOrDiscard
  /// Show the sign-in.
  case signIn
  /// Log out before anything else.
  case logOut
  /// The device has to be unlocked, or the user to say who they are; then it goes on.
  case unlock
  /// Room on the device has to be made.
  case freeSpace
  /// Close the session and open it again; for the user, the app.
  case reopen
  /// The app has to be updated.
  case update
  /// Somebody who can look behind it has to be asked.
  case contactSupport
  /// Nothing has to be done.
  case nothing

  /// The advice as a sentence for the user; empty for `nothing`.
  public func text(in language: SessionLanguage = .preferred) -> String {
    switch language {
    case .english: inEnglish
    case .spanish: inSpanish
    case .portuguese: inPortuguese
    }
  }
}

/// A wait as people say it: seconds up to two minutes, then minutes up to two hours, then hours.
enum SpokenWait: Equatable {
  case seconds(Int)
  case minutes(Int)
  case hours(Int)

  /// Rounded up, so that nobody comes back too early.
  init(seconds: Int) {
    switch max(1, seconds) {
    case let seconds where seconds <= 120: self = .seconds(seconds)
    case let seconds where seconds <= 7200: self = .minutes((seconds - 1) / 60 + 1)
    case let seconds: self = .hours((seconds - 1) / 3600 + 1)
    }
  }
}
