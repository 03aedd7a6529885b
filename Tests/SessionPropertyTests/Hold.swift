import SessionTestKit
import Testing

/// Checks a property and records its report where it does not hold.
func hold(
  _ name: String, cases: Int, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Choices) throws -> Void
) {
  let report = Property(name, cases: cases).check(body)
  if !report.hasPassed { Issue.record("\(report.text)", sourceLocation: sourceLocation) }
}
