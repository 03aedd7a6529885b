@_spi(Internals) internal import SessionCore

/// The subject of a line of JSON: its `class` in a timeline and in an export.
enum LineClass: String, CaseIterable, Sendable {
  case event = "event"
  case note = "note"
  case snapshot = "snapshot"
  case unknown = "unknown"
  /// A record of a change log.
  case change = "change"
  /// The first line of an export.
  case header = "header"
  /// A watermark, a record of the journal itself.
  case watermark = "watermark"
  /// The last line of an export.
  case end = "end"

  init(_ content: SessionRecord.Content) {
    switch content {
    case .event: self = .event
    case .note: self = .note
    case .snapshot: self = .snapshot
    case .unknown: self = .unknown
    }
  }

  /// The classes of lines that may follow the first line of an export.
  static let exported: [LineClass] = [.event, .note, .snapshot, .unknown, .watermark, .end]
}
