public import Foundation
@_spi(Internals) public import SessionCore

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

extension TokenClaims.Problem: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}

extension AnswerFailure: LocalizedError {
  /// The same as the description.
  public var errorDescription: String? { description }
}
