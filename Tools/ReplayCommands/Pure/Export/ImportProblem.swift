/// Why a line is not one that an export has.
struct ImportProblem: Error, Equatable, Sendable {
  /// A stable word for programs.
  enum Name: String, CaseIterable, Sendable {
    /// The line is no JSON, or lacks something, or has something of the wrong type.
    case badLine = "badLine"
    /// It has a key that is not known.
    case unknownField = "unknownField"
    /// Its sequence is not the one that is due.
    case gap = "gap"
    /// The session cannot have gone on like this.
    case illegalLine = "illegalLine"
    /// The export leaves records out, and was not made to be imported.
    case partial = "partial"
  }

  let name: Name
  /// What is wrong, to stand behind "line 7: ".
  let message: String
  /// What to do next, where that is not to look at the line.
  let next: String?

  init(_ name: Name, _ message: String, next: String? = nil) {
    self.name = name
    self.message = message
    self.next = next
  }
}
