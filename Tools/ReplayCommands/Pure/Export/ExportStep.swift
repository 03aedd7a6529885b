@_spi(Internals) internal import SessionCore

/// A record as an export shows it, and what the session was before and after it.
struct ExportStep {
  let record: SessionRecord
  let before: SessionFold
  let after: SessionFold
}

/// Makes one text of a journal's records.
protocol ExportPicture {
  /// Whether it is of no use without the records, or the snapshot of them, that come first.
  static var needsBeginning: Bool { get }

  /// The text of what comes before the first record, where the session is in this state.
  mutating func begin(_ fold: SessionFold) -> String

  mutating func take(_ step: ExportStep) -> String

  /// The text behind the last record.
  mutating func end() -> String
}

extension ExportPicture {
  static var needsBeginning: Bool { false }
}
