#if canImport(Testing)
public import Testing

/// Records a property's report in Swift Testing: one issue at the caller's line, or none.
///
/// ```swift
/// @Test func everyLogoutEndsTheSession() {
///   expect(Property("a logout ends every session").check { choices in … })
/// }
/// ```
///
/// The journals of a failing case are attached to the test under their file names.
/// `swift test --attachments-path FOLDER` keeps them. If a journal cannot be read, the issue
/// names it.
///
/// If a property holds with warnings, such as a stale saved case, the function records a warning,
/// which does not fail the test. Compilers before Swift 6.3 do not support warnings; the text is
/// then printed to standard error.
///
/// With XCTest, write `XCTAssert(report.hasPassed, report.text)` for the same text.
public func expect(
  _ report: PropertyReport, sourceLocation: SourceLocation = #_sourceLocation
) {
  if !report.hasPassed {
    var text = report.text
    for path in report.journals {
      if let journal = PropertyReport.journal(at: path) {
        Attachment.record(
          journal.bytes, named: journal.name, sourceLocation: sourceLocation)
      } else {
        text += "\nNot attached, since it cannot be read: \(path)"
      }
    }
    Issue.record(Comment(rawValue: text), sourceLocation: sourceLocation)
  } else if !report.warnings.isEmpty {
    #if compiler(>=6.3)
    Issue.record(
      Comment(rawValue: report.text), severity: .warning, sourceLocation: sourceLocation)
    #else
    report.tell()
    #endif
  }
}
#endif
