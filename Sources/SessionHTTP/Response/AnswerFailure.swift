@_spi(Internals) public import SessionCore

/// Why an answer is no token: the class for decisions, and what is wrong with it in words.
public struct AnswerFailure: Error, Hashable, Sendable {
  /// The class, with status, server's code and `Retry-After` where there are.
  public let failure: RequestFailure
  /// What cannot be read and how it should be; names members, never holds what they are.
  public let problem: String?

  /// A failure.
  public init(failure: RequestFailure, problem: String? = nil) {
    self.failure = failure
    self.problem = problem
  }
}

extension AnswerFailure: CustomStringConvertible {
  /// `unreadable 200: expires_in is missing`.
  public var description: String {
    problem.map { "\(failure): \($0)" } ?? failure.description
  }
}
