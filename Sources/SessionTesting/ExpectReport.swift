#if canImport(Testing)
  public import SessionTestKit
  public import Testing

  /// Records a property's report in Swift Testing: one issue at the caller's line, or none.
  ///
  /// ```swift
  /// @Test func everyLogoutEndsTheSession() {
  ///   expect(Property("a logout ends every session").check { choices in … })
  /// }
  /// ```
  ///
  /// The journals of a failing case are attached to the test, under their files' names
  /// (`swift test --attachments-path FOLDER` keeps them); one that cannot be read is named in the
  /// issue. A property that held but has something to say, such as a stale saved case, records a
  /// warning, which fails nothing; built by a compiler older than Swift 6.3, which knows no warnings, it
  /// prints the text to standard error. XCTest users write `XCTAssert(report.hasPassed, report.text)` for
  /// the same text.
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
