@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Formats a record as one line, for people or for programs.
///
/// One buffer is used for all records.
struct EntryLine: Sendable {
  /// Values of a line in addition to the record.
  struct Marks: Sendable {
    /// The time since the record on the line above, in milliseconds.
    var delta: Int64?
    var isContext = false
    var isBehind = false
  }

  /// The marks that the user asked for.
  struct Asked: Sendable {
    var delta = false
    var context = false
  }

  private let isJSON: Bool
  private let words: RecordFormatter
  private let style: Style
  private let asked: Asked
  private let columns: Int?
  private var json = JSONWriter()

  /// `columns` is the width at which lines for people are cut; `nil` for whole lines.
  init(display: DisplayOptions, style: Style, asked: Asked, columns: Int? = nil) {
    self.columns = columns
    isJSON = display.isJSON
    words = RecordFormatter(zone: display.zone, style: style)
    self.style = style
    self.asked = asked
  }

  /// Whether it is JSON that does not depend on the lines around it.
  var isAlone: Bool { isJSON && !asked.delta && !asked.context }

  /// Formats the line with its line feed, and lends it to `take`.
  mutating func write<Answer>(
    _ entry: JournalEntry, _ marks: Marks, to take: (ArraySlice<UInt8>) -> Answer
  ) -> Answer {
    guard isJSON else {
      let delta = asked.delta ? DeltaFormatter.column(marks.delta) : nil
      let line = words.line(entry.record, delta: delta)
      return take(Array(((columns.map { StyledLine(line).cut(to: $0) } ?? line) + "\n").utf8)[...])
    }
    removeAll()
    append(entry.record, at: entry.offset, left: entry.remainingInBatch, marks)
    return take(json.bytes)
  }

  /// The lines of JSON that were appended.
  var bytes: ArraySlice<UInt8> { json.bytes }

  /// Discards the lines of JSON and keeps their memory.
  mutating func removeAll() { json.removeAll() }

  /// Appends the line of JSON with its line feed; `left` records of the batch follow the record.
  mutating func append(
    _ record: SessionRecord, at offset: UInt64, left: UInt16, _ marks: Marks = Marks()
  ) {
    let asked = asked
    json.object { json in
      json.field("v", 1)
      json.field("sequence", record.sequence)
      json.field("offset", offset)
      json.field("remainingInBatch", left)
      if let change = record.change {
        json.begin(.change, marks, asked)
        json.readable(change)
      } else {
        json.begin(.of(record.content), marks, asked)
        json.readable(record)
      }
    }
    json.endLine()
  }
}

extension JSONWriter {
  /// Writes the class of a line and its marks.
  fileprivate mutating func begin(
    _ kind: LineClass, _ marks: EntryLine.Marks, _ asked: EntryLine.Asked
  ) {
    field("class", kind.rawValue)
    if asked.delta { field("delta", marks.delta) }
    if asked.context { field("isContext", marks.isContext) }
    if marks.isBehind { field("behind", true) }
  }
}

/// Formats the time between two records.
private enum DeltaFormatter {
  private static let width = 12

  /// Returns `+250 ms`, `+1.250 s`, `+3 d 4 h`, `-9 h`; blanks for the first record.
  static func column(_ milliseconds: Int64?) -> (text: String, isBack: Bool) {
    guard let milliseconds else { return ("".leftPadded(to: width), false) }
    return (text(milliseconds).leftPadded(to: width), milliseconds < 0)
  }

  static func text(_ milliseconds: Int64) -> String {
    let sign = milliseconds < 0 ? "-" : "+"
    let span = Int64(clamping: milliseconds.magnitude)
    guard (1000..<60_000).contains(span) else {
      return sign + DurationFormatter.text(milliseconds: span)
    }
    let fraction = String(span % 1000)
    let zeros = String(repeating: "0", count: 3 - fraction.count)
    return "\(sign)\(span / 1000).\(zeros)\(fraction) s"
  }
}

/// The last records of a pass, as long as they fit into memory.
struct LastEntries {
  /// The maximum number of records.
  static let most: UInt64 = 20_000
  /// The maximum size of their payloads, in bytes.
  private static let mostBytes = 8 * 1024 * 1024

  private let number: Int
  private var entries: [JournalEntry] = []
  private var oldest = 0
  private var bytes = 0

  /// Whether it holds all requested records; if not, the caller must read them in another way.
  private(set) var isWhole = true

  init(_ number: Int) {
    self.number = number
  }

  /// The records, first to last.
  var inOrder: [JournalEntry] { Array(entries[oldest...] + entries[..<oldest]) }

  /// Forgets all records: the caller must read them in another way.
  mutating func giveUp() {
    isWhole = false
    entries = []
    oldest = 0
  }

  mutating func take(_ entry: JournalEntry) {
    guard isWhole, number > 0 else { return }
    bytes += Int(entry.size)
    if entries.count < number {
      entries.append(entry)
    } else {
      bytes -= Int(entries[oldest].size)
      entries[oldest] = entry
      oldest = (oldest + 1) % number
    }
    if bytes > Self.mostBytes { giveUp() }
  }
}
