@_spi(Internals) package import SessionCore
package import SessionJSON

/// One session as a flat row: how it ended, or that it is open.
///
/// `Specs/ReplayRows.md` describes the columns. Their names and order never change in version 1.
package struct SessionRow: FlatRow, Equatable {
  package var device: SessionDevice
  /// The sequence of the end; `nil` if the session is open.
  package var sequence: UInt64?
  package var login: UInt64?
  package var method: LoginMethod?
  package var began: Timestamp?
  package var ended: Timestamp?
  /// The state after the end; `authenticated` for an open session.
  package var state = SessionState.Kind.authenticated
  package var reason: String?
  package var cause = Cause.unexplained
  package var certainty = Certainty.possible
  /// The failure in the batch of the end.
  package var failure: RequestFailure?
  package var refreshes: UInt64 = 0
  package var failures: UInt64 = 0
  package var lostRequests: UInt64 = 0
  /// The durations of refreshes that succeeded, in milliseconds, by nearest rank.
  package var median: Int32?
  package var high: Int32?

  package static let columns = RowColumn.all(
    [
      RowColumn("sequence", .count(bits: 64), isOptional: true),
      RowColumn("login", .count(bits: 64), isOptional: true),
      RowColumn("method", .text, isOptional: true), RowColumn("began", .time, isOptional: true),
      RowColumn("ended", .time, isOptional: true),
      RowColumn("lengthMs", .milliseconds, isOptional: true), RowColumn("state", .text),
      RowColumn("reason", .text, isOptional: true), RowColumn("cause", .text),
      RowColumn("certainty", .text),
    ] + RowColumn.answer + [
      RowColumn("refreshes", .count(bits: 64)), RowColumn("failures", .count(bits: 64)),
      RowColumn("lostRequests", .count(bits: 64)),
      RowColumn("p50Ms", .count(bits: 32), isOptional: true),
      RowColumn("p95Ms", .count(bits: 32), isOptional: true),
    ])

  package init(device: SessionDevice = SessionDevice()) { self.device = device }

  /// The length in milliseconds; `nil` if it is not known, or below 0 because the clock was set.
  package var length: Int64? {
    guard let began, let ended else { return nil }
    let span = ended.milliseconds(since: began)
    return span < 0 ? nil : span
  }

  /// When it ended; when it began if it is open.
  package var moment: Timestamp? { ended ?? began }

  /// Writes the row as one JSON object.
  package func write(to json: inout JSONWriter, of source: RowSource) {
    json.row(of: device, in: source) { json in
      json.field("sequence", sequence)
      json.field("login", login)
      json.field("method", method?.description)
      json.field("began", began)
      json.field("ended", ended)
      json.field("lengthMs", length)
      json.field("state", state.description)
      json.field("reason", reason)
      json.field("cause", cause.id)
      json.field("certainty", certainty.rawValue)
      json.answer(of: failure)
      json.field("refreshes", refreshes)
      json.field("failures", failures)
      json.field("lostRequests", lostRequests)
      json.field("p50Ms", median)
      json.field("p95Ms", high)
    }
  }
}
