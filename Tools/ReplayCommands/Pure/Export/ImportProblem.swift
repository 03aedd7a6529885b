/// Why a line cannot be a line of an export.
struct ImportProblem: Error, Equatable, Sendable {
  /// A stable name for programs.
  enum Name: String, CaseIterable, Sendable {
    /// The line is not JSON, or a member is missing or has the wrong type.
    case badLine = "badLine"
    /// The line has an unknown key.
    case unknownField = "unknownField"
    /// The sequence is not the next one.
    case gap = "gap"
    /// The session's state does not allow this record.
    case illegalLine = "illegalLine"
    /// The export leaves records out, so that it cannot be imported.
    case partial = "partial"
  }

  let name: Name
  /// The problem, to be printed after "line 7: ".
  let message: String
  /// The next step; `nil` if it is to look at the line.
  let next: String?

  init(_ name: Name, _ message: String, next: String? = nil) {
    self.name = name
    self.message = message
    self.next = next
  }
}
