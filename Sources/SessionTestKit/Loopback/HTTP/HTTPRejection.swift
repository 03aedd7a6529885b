/// Why bytes could not be read as a request; the connection ends after the answer.
package struct HTTPRejection: Error, Sendable, Equatable, CustomStringConvertible {
  /// The status to answer: 400, 413, 414, 417, 431, 501 or 505.
  package let status: Int
  /// What was wrong, without any byte of what was sent.
  package let reason: String

  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  package var description: String { "\(status): \(reason)" }
}
