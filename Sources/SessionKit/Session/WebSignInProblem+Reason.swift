import SessionCore

extension WebSignInProblem {
  /// A description of what happened and what to do, for developers.
  var reason: String {
    switch self {
    case .cancelledByUser: "the user left the page. Nothing is to be done."
    case .forgottenPassword:
      "the user has forgotten the password. Show the page that sets a new one, and sign in again."
    case .noAccount:
      "the identity provider knows no account that it could sign in without showing anything. Sign in "
        + "with a page."
    case .refused(let code):
      "the identity provider refused\(code.map { " (\($0))" } ?? ""). Look the code up at the provider, "
        + "or try again."
    case .unreachable: "the identity provider was not reached. Check the connection and try again."
    case .viewFailed: "the app could not make or show its view. See what the view threw."
    case .unreadableTokens:
      "what the identity provider gave is no token, or does not say who the user is. Check the "
        + "backend's sources of the user, and what the provider is asked for."
    case .cancelled: "the calling task was cancelled. Nothing is to be done."
    }
  }
}
