/// A reader of JSON (RFC 8259); if an object holds a name twice, the last one counts.
///
/// The structure is read strictly. A value that cannot be decoded does not fail the rest:
/// - A number of any size keeps its digits.
/// - A string that cannot be decoded is ``JSONValue/unreadable(_:)``. A member whose name cannot be
///   decoded is left out.
/// - An object or array that is nested too deeply is ``JSONValue/unreadable(_:)`` too.
package enum JSONReader {
  package typealias Problem = JSONTape.Problem

  /// Parses the one value that these bytes are.
  package static func read(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
    try node(bytes).value
  }

  /// Parses the one value that these bytes are, and makes values only of the parts that are used.
  package static func node(_ bytes: [UInt8]) throws(Problem) -> JSONPart {
    var tape = JSONTape()
    try tape.read(bytes[...], .tolerant)
    return tape.root
  }
}
