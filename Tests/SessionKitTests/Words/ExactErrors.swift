import SessionKit

extension SessionError {
  /// Whether both errors are equal also in the details that only the description has.
  func isExactly(_ other: SessionError) -> Bool {
    self == other && description == other.description
  }
}

extension Optional where Wrapped == SessionError {
  func isExactly(_ other: SessionError) -> Bool { map { $0.isExactly(other) } ?? false }
}
