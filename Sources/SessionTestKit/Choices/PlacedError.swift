/// An error that knows which check it comes from.
///
/// A case is made simpler only as long as it fails at the same place. Other errors are told apart by
/// their type, and those of an enumeration by their case.
public protocol PlacedError: Error {
  /// The file of the check, as `Module/File.swift`.
  var fileID: String { get }
  /// The line of the check.
  var line: Int { get }
}
