@_spi(Internals) package import SessionCore
package import SessionJSON

/// A fold of a journal's records that results in a row for each session that ended or is open.
package struct SessionRows: RowsFold {
  private var ends = SessionEnds()

  package init() {}

  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (SessionRow) -> Void
  ) throws(SessionFold.Failure) {
    try ends.take(record, endsBatch: endsBatch) { body($0.explained(by: Explainer.judge($1))) }
  }

  package mutating func interrupt(_ gap: EvidenceGap, _ body: (SessionRow) -> Void) {
    ends.interrupt(gap) { body($0.explained(by: Explainer.judge($1))) }
  }

  package mutating func finish(damagedAt offset: UInt64?, _ body: (SessionRow) -> Void) {
    ends.finish(damagedAt: offset) { body($0.explained(by: Explainer.judge($1))) }
  }
}

/// The end of a session with all of its explanation, or how an open session stands.
package struct EndAnswer: FlatRow {
  private let explanation: Explanation
  private let user: Identifier?
  /// Whether the session ended; else only the cause and the certainty are there.
  package let isEnd: Bool

  fileprivate init(_ row: SessionRow, _ evidence: Evidence) {
    isEnd = row.sequence != nil
    explanation = isEnd ? Explainer.explain(evidence) : Explainer.judge(evidence)
    user = row.device.user
  }

  package var cause: Cause { explanation.cause }
  package var moment: Timestamp? { explanation.time }

  /// Returns the explanation with the names that the source shows.
  package func explanation(in source: RowSource) -> Explanation {
    var named = (source.isRedacted ? explanation.redacted : explanation).opened(by: source.opening)
    (named.user, named.journal) = (source.user(user), source.journal)
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

/// A fold of a journal's records that results in the explanation of each session that ended, and in
/// how the open session stands.
package struct EndAnswers: RowsFold {
  private var ends = SessionEnds()

  package init() {}

  package mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (EndAnswer) -> Void
  ) throws(SessionFold.Failure) {
    try ends.take(record, endsBatch: endsBatch) { Self.pass(on: $0, $1, body) }
  }

  package mutating func interrupt(_ gap: EvidenceGap, _ body: (EndAnswer) -> Void) {
    ends.interrupt(gap) { Self.pass(on: $0, $1, body) }
  }

  package mutating func finish(damagedAt offset: UInt64?, _ body: (EndAnswer) -> Void) {
    ends.finish(damagedAt: offset) { Self.pass(on: $0, $1, body) }
  }

  private static func pass(
    on row: SessionRow, _ evidence: Evidence, _ body: (EndAnswer) -> Void
  ) {
    body(EndAnswer(row, evidence))
  }
}

extension SessionRow {
  fileprivate func explained(by explanation: Explanation) -> SessionRow {
    var row = self
    (row.cause, row.certainty) = (explanation.cause, explanation.certainty)
    (row.state, row.reason) = (explanation.after, explanation.reason)
    return row
  }
}
