import SessionCore

extension WebSignInProblem {
  /// A description of what happened and what to do, for developers.
  var reason: String {
    switch self {
    case .cancelledByUser: "the user left the page. No action is needed."
    case .forgottenPassword:
      "the user has forgotten the password. Show the page that sets a new one, and log in again."
    case .noAccount:
      "the identity provider has no account that can log in without a page. Log in with a page."
    case .refused(let code):
      "the identity provider refused the request\(code.map { " (\($0))" } ?? ""). Look up the code "
        + "at the provider, or try again."
    case .unreachable: "the identity provider was not reached. Check the connection and try again."
    case .viewFailed:
      "the app could not create or show its view. Check the error that the view threw."
    case .unreadableTokens:
      "the identity provider returned no valid token, or did not identify the user. Check the "
        + "backend's sources of the user, and the request to the provider."
    case .cancelled: "the calling task was cancelled. No action is needed."
    }
  }
}
