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

  /// Formats the line with its line feed, and lends it to `take`.
  mutating func write<Answer>(
    _ entry: JournalEntry, _ marks: Marks, to take: (ArraySlice<UInt8>) -> Answer
  ) -> Answer {
    guard isJSON else {
      let delta = asked.delta ? DeltaFormatter.column(marks.delta) : nil
      let line = words.line(entry.record, delta: delta)
      return take(Array(((columns.map { StyledLine(line).cut(to: $0) } ?? line) + "\n").utf8)[...])
    }
    json.removeAll()
    let asked = asked
    json.object { json in
      json.field("v", 1)
      json.field("sequence", entry.record.sequence)
      json.field("offset", entry.offset)
      json.field("remainingInBatch", entry.remainingInBatch)
      if let change = entry.record.change {
        json.begin(.change, marks, asked)
        json.readable(change)
      } else if let (name, account) = entry.record.account {
        json.begin(.account, marks, asked)
        json.readable(account, named: name)
      } else {
        json.begin(.of(entry.record.content), marks, asked)
        json.readable(entry.record)
      }
    }
    json.endLine()
    return take(json.bytes)
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
