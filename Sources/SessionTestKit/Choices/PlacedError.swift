/// An error that carries the place of the check that failed.
///
/// The shrinker accepts a simpler case only if it fails at the same place. Other errors are
/// distinguished by their type, and those of an enumeration also by their case.
public protocol PlacedError: Error {
  /// The file of the check, as `Module/File.swift`.
  var fileID: String { get }
  /// The line of the check.
  var line: Int { get }
}
