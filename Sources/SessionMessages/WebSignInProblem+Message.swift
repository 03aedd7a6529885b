@_spi(Internals) public import SessionCore
public import SessionKit

extension WebSignInProblem: UserFacingError {
  /// The message for the user.
  public var message: SessionMessage {
    switch self {
    case .cancelledByUser, .forgottenPassword, .cancelled: .cancelled
    case .noAccount: .notSignedIn
    case .refused: .providerSignInMissing
    case .unreachable: .noConnection
    case .viewFailed: .appNotSetUp
    case .unreadableTokens: .unreadableAnswer
    }
  }
}
