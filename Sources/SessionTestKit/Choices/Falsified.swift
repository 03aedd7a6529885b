/// Thrown by the body of a property that does not hold.
///
/// Any other error than `Discard` falsifies a property too; this one carries a sentence and a place.
public struct Falsified: PlacedError, Hashable, Sendable, CustomStringConvertible {
  /// What does not hold.
  public let message: String
  /// The file of the check, as `Module/File.swift`.
  public let fileID: String
  /// The line of the check.
  public let line: Int

  /// A check that failed here.
  public init(_ message: String, fileID: String = #fileID, line: Int = #line) {
    self.message = message
    self.fileID = fileID
    self.line = line
  }

  /// The message and its place.
  public var description: String { "\(message) (\(fileID):\(line))" }
}
