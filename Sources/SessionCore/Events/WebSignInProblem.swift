/// Why a sign-in with an identity provider came to nothing; holds a code at most, no text of a
/// server.
///
/// - Requirement: WEB-4
public enum WebSignInProblem: Error, Hashable, Sendable {
  /// The user left the page.
  case cancelledByUser
  /// The user says that the password is forgotten: the app shows the page that sets a new one.
  case forgottenPassword
  /// The provider knows nobody whom it could sign in without showing anything.
  case noAccount
  /// The provider refused, by this code; `nil` where it said none that may be shown.
  case refused(IdentityCode?)
  /// The provider was not reached.
  case unreachable
  /// The app could not make, or not show, its view.
  case viewFailed
  /// What the provider gave is no token, or does not say who the user is.
  case unreadableTokens
  /// The calling task was cancelled.
  case cancelled

  /// Azure AD B2C's code of a user who left the page.
  public static let cancellationCode = "AADB2C90091"
  /// Azure AD B2C's code of a user who has forgotten the password.
  public static let forgottenPasswordCode = "AADB2C90118"

  /// Azure AD B2C's code of a browser in which nobody is signed in, where the page may not ask.
  public static let noSessionCode = "AADB2C90077"

  /// What a code of a provider says.
  public init(_ code: IdentityCode?) {
    switch code?.description {
    case Self.cancellationCode: self = .cancelledByUser
    case Self.forgottenPasswordCode: self = .forgottenPassword
    case Self.noSessionCode, "interaction_required", "login_required": self = .noAccount
    default: self = .refused(code)
    }
  }

  /// What is told where more than one thing says what went wrong: what the observer saw, then what
  /// the error held, then that it was refused.
  ///
  /// An address that tells of an error without a code says less than an error that says something.
  ///
  /// - Requirement: WEB-4
  public static func told(seen: WebSignInProblem?, found: WebSignInProblem?) -> WebSignInProblem {
    guard let seen, seen != .refused(nil) else { return found ?? .refused(nil) }
    return seen
  }

  /// Whether nothing went wrong: somebody stopped it, or nobody was there to be signed in.
  public var isQuiet: Bool {
    switch self {
    case .cancelledByUser, .forgottenPassword, .noAccount, .cancelled: true
    case .refused, .unreachable, .viewFailed, .unreadableTokens: false
    }
  }
}

extension WebSignInProblem: CustomStringConvertible {
  /// The name, with the code where there is one: `refused AADB2C90080`.
  public var description: String {
    switch self {
    case .cancelledByUser: "cancelledByUser"
    case .forgottenPassword: "forgottenPassword"
    case .noAccount: "noAccount"
    case .refused(let code): code.map { "refused \($0)" } ?? "refused"
    case .unreachable: "unreachable"
    case .viewFailed: "viewFailed"
    case .unreadableTokens: "unreadableTokens"
    case .cancelled: "cancelled"
    }
  }
}
