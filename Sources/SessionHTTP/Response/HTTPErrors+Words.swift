public import Foundation
@_spi(Internals) import SessionCore
package import SessionKit

// The text for users of the errors of HTTP, in English.

extension TransportError: WordedError {
  package var text: ErrorText {
    switch self {
    case .noConnection: .noConnection
    case .noReply: .noAnswer
    case .badAddress: .appNotSetUp
    case .insecure, .notTrusted: .insecureConnection
    case .cancelled: .cancelled
    }
  }
}

extension TransportError: LocalizedError {
  /// What happened, for the user.
  ///
  /// - Requirement: LOG-8
  public var errorDescription: String? { spokenProblem }

  /// What to do, for the user; `nil` if nothing has to be done.
  public var recoverySuggestion: String? { spokenSuggestion }
}

extension TokenClaims.Problem: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension AnswerFailure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
