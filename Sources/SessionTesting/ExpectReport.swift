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
  /// A property that held but has something to say, such as a stale saved case, records a warning, which
  /// fails nothing. XCTest users write `XCTAssert(report.hasPassed, report.text)` for the same text.
  public func expect(
    _ report: PropertyReport, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    if !report.hasPassed {
      Issue.record(Comment(rawValue: report.text), sourceLocation: sourceLocation)
    } else if !report.warnings.isEmpty {
      Issue.record(
        Comment(rawValue: report.text), severity: .warning, sourceLocation: sourceLocation)
    }
  }
#endif
