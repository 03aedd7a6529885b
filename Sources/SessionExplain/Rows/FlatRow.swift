@_spi(Internals) package import SessionCore
package import SessionJSON

/// A column of a flat table.
package struct RowColumn: Sendable {
  /// What its values are.
  package enum Kind: Sendable {
    case text
    /// A time in UTC as in RFC 3339, with milliseconds.
    case time
    case flag
    /// A whole number from 0 on that fits in this many bits.
    case count(bits: Int)
    /// A whole number from 0 on that fits in 63 bits.
    case milliseconds
  }

  package let name: String
  package let kind: Kind
  /// Whether a row can have no value there.
  package let isOptional: Bool

  init(_ name: String, _ kind: Kind, isOptional: Bool = false) {
    (self.name, self.kind, self.isOptional) = (name, kind, isOptional)
  }
}

/// A row of a flat table, as one line of JSON.
package protocol FlatRow: Sendable {
  /// When what it describes happened; `nil` if that is not known.
  var moment: Timestamp? { get }

  /// Writes the row as one JSON object with every column.
  func write(to json: inout JSONWriter, of source: RowSource)
}

/// A fold of a journal's records that results in rows.
package protocol RowsFold: Sendable {
  associatedtype Row: FlatRow

  init()

  /// Folds the next record, and passes on each row that is complete.
  ///
  /// If the record cannot be folded, it throws, and the fold does not change.
  mutating func take(
    _ record: SessionRecord, endsBatch: Bool, _ body: (Row) -> Void
  ) throws(SessionFold.Failure)

  /// Notes that records are missing here, and continues after them.
  mutating func interrupt(_ gap: EvidenceGap, _ body: (Row) -> Void)

  /// Passes on the rows that are left; `offset` is the place of damage that ends the reading.
  mutating func finish(damagedAt offset: UInt64?, _ body: (Row) -> Void)
}

/// The time from a request to its end.
enum RequestSpan {
  /// The longest possible time in milliseconds; a longer one shows that the clock was set.
  static let longest: Int64 = 600_000

  /// Returns the time in milliseconds; `nil` if it is below 0 or above ``longest``.
  static func milliseconds(from start: Timestamp, to end: Timestamp) -> Int32? {
    let span = end.milliseconds(since: start)
    return (0...longest).contains(span) ? Int32(clamping: span) : nil
  }
}

/// What every row of a journal has.
package struct RowSource: Sendable {
  private let names: JournalNames
  /// Whether the records have pseudonyms in place of all names.
  let isRedacted: Bool
  /// The file's path, as the user gave it.
  package let file: String
  /// Whether the file has damage, or an event that is not possible.
  let isDamaged: Bool
  /// The app and the platform of an opening that the file leaves out; `nil` if it is not known.
  let opening: SessionDevice?

  /// Creates the source of a journal with these names.
  package init(
    _ names: JournalNames, isRedacted: Bool, file: String, isDamaged: Bool,
    opening: SessionDevice? = nil
  ) {
    self.names = names
    self.opening = opening
    (self.isRedacted, self.file, self.isDamaged) = (isRedacted, file, isDamaged)
  }

  /// The journal's identifier, as it is shown.
  var journal: String? { names.journal }

  /// Returns the pseudonym of a user.
  func user(_ user: Identifier?) -> String? { user.flatMap(names.user) }
}

extension RowColumn {
  /// The columns of every row, with a row's own between them.
  static func all(_ own: [RowColumn]) -> [RowColumn] {
    [
      RowColumn("v", .count(bits: 8)), RowColumn("journal", .text, isOptional: true),
      RowColumn("user", .text, isOptional: true), RowColumn("app", .text, isOptional: true),
      RowColumn("platform", .text, isOptional: true),
    ] + own + [RowColumn("damaged", .flag), RowColumn("file", .text)]
  }

  /// The columns of `JSONWriter.answer(of:)`.
  static let answer = [
    RowColumn("code", .text, isOptional: true),
    RowColumn("status", .count(bits: 16), isOptional: true),
  ]
}

extension JSONWriter {
  /// Writes a row as one JSON object: the columns that every row has, and between them its own.
  mutating func row(
    of device: SessionDevice, in source: RowSource, _ columns: (inout JSONWriter) -> Void
  ) {
    object { json in
      json.field("v", 1)
      json.field("journal", source.journal)
      json.field("user", source.user(device.user))
      json.field("app", (device.app ?? source.opening?.app)?.description)
      json.field("platform", (device.platform ?? source.opening?.platform)?.metricLabel)
      columns(&json)
      json.field("damaged", source.isDamaged)
      json.field("file", source.file)
    }
  }

  /// Writes the server's code and status of a failure.
  mutating func answer(of failure: RequestFailure?) {
    field("code", failure?.serverCode)
    field("status", failure.flatMap { $0.status == 0 ? nil : $0.status })
  }
}
