extension PendingChange: CustomStringConvertible {
  /// One line for a log without the content, such as `update task 17, 120 bytes, waiting since …, 2
  /// attempts`.
  ///
  /// - Requirement: STO-3
  public var description: String {
    "\(change), waiting since \(since), \(attempts) attempt\(attempts == 1 ? "" : "s")"
  }
}

extension DeadLetter: CustomStringConvertible {
  /// One line for a log without the content and the reason's text, such as `update task 17, 120
  /// bytes, refused at …`.
  ///
  /// - Requirement: STO-3
  public var description: String { "\(change), \(cause) at \(time)" }
}
