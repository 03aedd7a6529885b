/// The reason why bytes are not a valid request; the connection ends after the answer.
package struct HTTPRejection: Error, Sendable, Equatable, CustomStringConvertible {
  /// The status of the answer: 400, 413, 414, 417, 431, 501 or 505.
  package let status: Int
  /// A sentence that says what is wrong; it contains none of the received bytes.
  package let reason: String

  package init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }

  package var description: String { "\(status): \(reason)" }
}
