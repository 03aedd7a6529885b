public import Foundation
@_spi(Internals) public import SessionCore
package import SessionKit

/// Why a response contains no token: the failure for decisions, and a description of the problem.
public struct AnswerFailure: Error, Hashable, Sendable {
  /// The failure, with the status, the server's code and `Retry-After` if they exist.
  public let failure: RequestFailure
  /// What cannot be read and how it should be.
  ///
  /// It names members but never contains their values.
  public let problem: String?

  /// Creates a failure.
  public init(failure: RequestFailure, problem: String? = nil) {
    self.failure = failure
    self.problem = problem
  }
}

extension AnswerFailure: CustomStringConvertible {
  /// One line, such as `unreadable 200: expires_in is missing`.
  public var description: String {
    problem.map { "\(failure): \($0)" } ?? failure.description
  }
}

extension TransportError: WordedError, MessageChoosing {
  package func userMessage<Message: UserMessage>() -> Message {
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
