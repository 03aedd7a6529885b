@_spi(Internals) package import SessionCore
package import SessionJSON

/// One refresh request as a flat row.
///
/// `Specs/ReplayRows.md` describes the columns. Their names and order never change in version 1.
package struct RefreshRow: FlatRow, Equatable {
  /// The outcome of a request.
  package enum Outcome: String, CaseIterable, Sendable {
    /// A new token is journaled.
    case succeeded = "succeeded"
    /// It failed, and it is known how.
    case failed = "failed"
    /// A process noted that no response arrived. The server may have acted.
    case lost = "lost"
    /// The response arrived and was not used: another process had stored a newer token.
    case superseded = "superseded"
    /// No record ends it.
    case open = "open"
  }

  package var device = SessionDevice()
  /// The sequence of the request.
  package var request: UInt64
  package var login: UInt64?
  package var time: Timestamp
  package var sent: SessionNote.RequestSent
  package var outcome = Outcome.open
  package var failure: RequestFailure?
  /// The time to the end in milliseconds; `nil` if no response is known or the clock was set.
  package var duration: Int32?
  /// Whether the response had a new refresh token; `nil` unless it succeeded.
  package var isRotated: Bool?

  package static let columns = RowColumn.all(
    [
      RowColumn("request", .count(bits: 64)),
      RowColumn("login", .count(bits: 64), isOptional: true), RowColumn("time", .time),
      RowColumn("generation", .count(bits: 64)), RowColumn("trigger", .text),
      RowColumn("attempt", .count(bits: 32)), RowColumn("outcome", .text),
      RowColumn("failure", .text, isOptional: true),
    ] + RowColumn.answer + [
      RowColumn("durationMs", .count(bits: 32), isOptional: true),
      RowColumn("rotated", .flag, isOptional: true), RowColumn("process", .count(bits: 32)),
    ])

  package init(request: UInt64, time: Timestamp, sent: SessionNote.RequestSent) {
    (self.request, self.time, self.sent) = (request, time, sent)
  }

  package var moment: Timestamp? { time }

  /// Writes the row as one JSON object.
  package func write(to json: inout JSONWriter, of source: RowSource) {
    json.row(of: device, in: source) { json in
      json.field("request", request)
      json.field("login", login)
      json.field("time", time)
      json.field("generation", sent.generation.number)
      json.field("trigger", sent.trigger.description)
      json.field("attempt", sent.attempt)
      json.field("outcome", outcome.rawValue)
      json.field("failure", failure?.kind.description)
      json.answer(of: failure)
      json.field("durationMs", duration)
      if let isRotated { json.field("rotated", isRotated) } else { json.null("rotated") }
      json.field("process", sent.process)
    }
  }
}
