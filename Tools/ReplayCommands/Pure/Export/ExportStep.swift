@_spi(Internals) internal import SessionCore

/// A record as an export shows it, with the session's state before and after it.
struct ExportStep {
  let record: SessionRecord
  let before: SessionFold
  let after: SessionFold
}

/// Makes one text of a journal's records.
protocol ExportPicture {
  /// Whether the text needs the first records, or a snapshot of them.
  static var needsBeginning: Bool { get }

  /// Returns the text before the first record; `fold` is the state there.
  mutating func begin(_ fold: SessionFold) -> String

  mutating func take(_ step: ExportStep) -> String

  /// Returns the text after the last record.
  mutating func end() -> String
}

extension ExportPicture {
  static var needsBeginning: Bool { false }
}
