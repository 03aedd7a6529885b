@_spi(Internals) package import SessionCore
package import SessionJSON

/// A fold of a journal's records that results in a row for each session that ended or is open.
package typealias SessionRows = SessionEnds<SessionRow>

/// A fold of a journal's records that results in the explanation of each session that ended, and in
/// how the open session stands.
package typealias EndAnswers = SessionEnds<EndAnswer>

extension SessionRow: EndRow {
  package init(_ session: SessionRow, _ evidence: Evidence) {
    let explanation = Explainer.judge(evidence)
    self = session
    (cause, certainty) = (explanation.cause, explanation.certainty)
    (state, reason) = (explanation.after, explanation.reason)
  }
}

/// The end of a session with all of its explanation, or how an open session stands.
package struct EndAnswer: EndRow {
  private let explanation: Explanation
  private let user: Identifier?
  /// Whether the session ended; else only the cause and the certainty are there.
  package let isEnd: Bool

  package init(_ session: SessionRow, _ evidence: Evidence) {
    isEnd = session.sequence != nil
    explanation = isEnd ? Explainer.explain(evidence) : Explainer.judge(evidence)
    user = session.device.user
  }

  package var cause: Cause { explanation.cause }
  package var moment: Timestamp? { explanation.time }

  /// Returns the explanation with the names that the source shows.
  package func explanation(in source: RowSource) -> Explanation {
    var named = (source.isRedacted ? explanation.redacted : explanation).opened(by: source.opening)
    (named.origin.user, named.origin.journal) = (source.user(user), source.journal)
    return named
  }

  /// Writes the explanation as `why --json` does, with the file and the journal.
  package func write(to json: inout JSONWriter, of source: RowSource) {
    json.object { json in
      json.field("v", 1)
      json.field("file", source.file)
      json.field("journal", source.journal)
      json.explanation(explanation(in: source))
    }
  }
}
