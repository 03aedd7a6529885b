/// The error by which the body of a property reports that the property does not hold.
///
/// Any error other than `Discard` falsifies a property too. This one carries a message and the
/// place of the check.
public struct Falsified: PlacedError, Hashable, Sendable, CustomStringConvertible {
  /// A sentence that says what does not hold.
  public let message: String
  /// The file of the check, as `Module/File.swift`.
  public let fileID: String
  /// The line of the check.
  public let line: Int

  /// Creates the error for a check at the place of the call.
  public init(_ message: String, fileID: String = #fileID, line: Int = #line) {
    self.message = message
    self.fileID = fileID
    self.line = line
  }

  /// The message and its place.
  public var description: String { "\(message) (\(fileID):\(line))" }
}
