internal import SessionExplain
internal import SessionJSON

/// The explanation in a support report, which the app made of its whole journal.
struct ReportedExplanation: Equatable, Sendable {
  let cause: String
  let certainty: String
  let summary: String
  let app: String?
  /// The sequence of the record that it explains; `nil` if the journal had no record.
  let sequence: UInt64?

  /// Creates it from the object of the line; `nil` if this version cannot tell what it says.
  init?(_ part: JSONPart) {
    guard let cause = part.member("cause")?.text,
      let certainty = part.member("certainty")?.text,
      let summary = part.member("summary")?.text
    else { return nil }
    (self.cause, self.certainty) = (cause.shortened, certainty.shortened)
    self.summary = String(summary.prefix(2_000))
    app = part.member("app")?.text?.shortened
    sequence = part.member("sequence")?.integer()
  }

  /// Returns whether it says something else than an explanation of the records.
  func differs(from explanation: Explanation) -> Bool {
    cause != explanation.cause.id || certainty != explanation.certainty.rawValue
      || sequence != explanation.sequence
  }

  /// The line that shows it, which begins with `The app's own explanation`.
  var words: String {
    "The app's own explanation, made from the whole journal: \(summary) [\(cause), \(certainty)]"
      .printable
  }

  func write(to json: inout JSONWriter) {
    json.object("appExplanation") { json in
      json.field("cause", cause)
      json.field("certainty", certainty)
      json.field("summary", summary)
      json.field("app", app)
      json.field("sequence", sequence)
    }
  }
}
