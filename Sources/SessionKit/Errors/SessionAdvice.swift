/// What an app should do next, or let its user do.
///
/// - Requirement: LOG-8
public enum SessionAdvice: Hashable, Sendable {
  /// Try again, now or when the user asks for it.
  case retry
  /// Try again after this time, in whole seconds; `nil` if it is not known.
  case wait(Duration?)
  /// Let the user correct what was entered.
  case correctInput
  /// Send the changes that were not sent, or discard them.
  case sendOrDiscard
  /// Show the login.
  case signIn
  /// Log out before anything else.
  case logOut
  /// Ask the user to unlock the device, or to prove their presence.
  case unlock
  /// Let the user unlock the app, with ``Session/unlock(isolation:after:)``.
  case unlockApp
  /// Ask the user to free space on the device.
  case freeSpace
  /// Close the session and open it again.
  ///
  /// A user restarts the app.
  case reopen
  /// Ask the user to update the app.
  case update
  /// Ask the user to contact support.
  case contactSupport
  /// Nothing has to be done.
  case nothing
}

/// A waiting time in words: seconds up to two minutes, minutes up to two hours, then hours.
package enum SpokenWait: Equatable {
  case seconds(Int)
  case minutes(Int)
  case hours(Int)

  /// Creates a waiting time, rounded up so that no attempt is too early.
  package init(_ wait: Duration) {
    let milliseconds = wait.milliseconds(atLeast: 1)
    switch Int(clamping: (milliseconds - 1) / 1_000 + 1) {
    case let seconds where seconds <= 120: self = .seconds(seconds)
    case let seconds where seconds <= 7200: self = .minutes((seconds - 1) / 60 + 1)
    case let seconds: self = .hours((seconds - 1) / 3600 + 1)
    }
  }
}

extension SessionAdvice {
  /// The advice, in English.
  package var inEnglish: String {
    switch self {
    case .retry: "Try again."
    case .wait(nil): "Try again later."
    case .wait(let wait?): "Try again in \(SpokenWait(wait).inEnglish)."
    case .correctInput: "Check what you entered."
    case .sendOrDiscard: "Try to send again, or discard what you do not need."
    case .signIn: "Log in to continue."
    case .logOut: "Log out first."
    case .unlock: "Unlock the device."
    case .unlockApp: "Unlock the app."
    case .freeSpace: "Free some space."
    case .reopen: "Close the app and open it again."
    case .update: "Update the app."
    case .contactSupport: "Contact support."
    case .nothing: ""
    }
  }
}

extension SpokenWait {
  fileprivate var inEnglish: String {
    switch self {
    case .seconds(let count): count == 1 ? "1 second" : "\(count) seconds"
    case .minutes(let count): "\(count) minutes"
    case .hours(let count): "\(count) hours"
    }
  }
}
