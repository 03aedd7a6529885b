/// Why a sign-in with an identity provider failed.
///
/// It may hold a code, but never text of a server.
///
/// - Requirement: WEB-4
public enum WebSignInProblem: Error, Hashable, Sendable {
  /// The user left the page.
  case cancelledByUser
  /// The user has forgotten the password: the app shows the page that sets a new one.
  case forgottenPassword
  /// The provider has no user to sign in without a user interface.
  case noAccount
  /// The provider rejected the sign-in; the code is `nil` if there is none that may be shown.
  case refused(IdentityCode?)
  /// The provider could not be reached.
  case unreachable
  /// The app could not create or show its view.
  case viewFailed
  /// The provider's response has no token, or does not say who the user is.
  case unreadableTokens
  /// The calling task was cancelled.
  case cancelled

  /// Azure AD B2C's code if the user left the page.
  public static let cancellationCode = "AADB2C90091"
  /// Azure AD B2C's code if the user has forgotten the password.
  public static let forgottenPasswordCode = "AADB2C90118"

  /// Azure AD B2C's code if no user is signed in and the page may not ask.
  public static let noSessionCode = "AADB2C90077"

  /// Creates the problem for a provider's code.
  public init(_ code: IdentityCode?) {
    switch code?.description {
    case Self.cancellationCode: self = .cancelledByUser
    case Self.forgottenPasswordCode: self = .forgottenPassword
    case Self.noSessionCode, "interaction_required", "login_required": self = .noAccount
    default: self = .refused(code)
    }
  }

  /// Returns the problem to report: `seen` by the observer, else `found` in the error, else a
  /// rejection.
  ///
  /// A `seen` rejection without a code is less precise than `found`, so `found` wins then.
  ///
  /// - Requirement: WEB-4
  public static func told(seen: WebSignInProblem?, found: WebSignInProblem?) -> WebSignInProblem {
    guard let seen, seen != .refused(nil) else { return found ?? .refused(nil) }
    return seen
  }

  /// Whether it is no error: the sign-in was stopped, or there was no user to sign in.
  public var isQuiet: Bool {
    switch self {
    case .cancelledByUser, .forgottenPassword, .noAccount, .cancelled: true
    case .refused, .unreachable, .viewFailed, .unreadableTokens: false
    }
  }
}

extension WebSignInProblem: CustomStringConvertible {
  /// The name, with the code if there is one: `refused AADB2C90080`.
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
