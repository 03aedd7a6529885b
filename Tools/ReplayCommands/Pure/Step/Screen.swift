/// The size of a terminal in cells.
struct ScreenSize: Equatable, Sendable {
  let rows: Int
  let columns: Int

  /// The smallest size at which the records can be shown.
  static let smallest = ScreenSize(rows: 12, columns: 60)

  var isEnough: Bool { rows >= Self.smallest.rows && columns >= Self.smallest.columns }
}

/// The role of a text on the screen, which determines its style.
enum ScreenRole: Equatable, Sendable, CaseIterable {
  case plain
  case dim
  case bold
  case good
  case warn
  case bad
  /// A value that the record under the cursor changed.
  case changed

  /// The code of the style for a terminal (ECMA-48, SGR).
  var code: String {
    switch self {
    case .plain: "0"
    case .dim: "2"
    case .bold: "1"
    case .good: "32"
    case .warn: "33"
    case .bad: "31"
    case .changed: "7"
    }
  }
}

/// One row of a screen: texts, each with its first column.
struct ScreenLine: Equatable, Sendable {
  struct Span: Equatable, Sendable {
    /// The first column, from 0.
    let column: Int
    let text: String
    let role: ScreenRole
  }

  private(set) var spans: [Span] = []
  /// The number of columns in use.
  private(set) var width = 0
  /// The number of columns of the row.
  let columns: Int

  init(columns: Int) {
    self.columns = columns
  }

  /// Adds the text as far as it fits, up to the column `end` or the end of the row.
  ///
  /// A text that is cut ends with `…`.
  mutating func append(_ text: String, _ role: ScreenRole = .plain, upTo end: Int? = nil) {
    let shown = DisplayWidth.cut(text, min(end ?? columns, columns) - width)
    guard !shown.isEmpty else { return }
    spans.append(Span(column: width, text: shown, role: role))
    width += DisplayWidth.of(shown)
  }

  /// Leaves the columns before this one empty.
  mutating func skip(to column: Int) {
    width = min(columns, max(width, column))
  }

  /// The row as text.
  var text: String {
    var (text, column) = ("", 0)
    for span in spans {
      text += String(repeating: " ", count: span.column - column) + span.text
      column = span.column + DisplayWidth.of(span.text)
    }
    return text
  }
}

/// The content of a terminal's screen.
struct Screen: Equatable, Sendable {
  struct Cell: Equatable, Sendable {
    /// The row, from 0.
    let row: Int
    /// The column, from 0.
    let column: Int
  }

  let size: ScreenSize
  /// The rows, as many as the size has.
  private(set) var lines: [ScreenLine] = []
  /// The place at which the user enters text; `nil` hides the cursor.
  var cursor: Cell?

  /// Creates a screen of these lines; missing lines are empty, and lines that do not fit are left out.
  init(_ size: ScreenSize, _ lines: [ScreenLine], cursor: Cell? = nil) {
    self.size = size
    self.lines = Array(lines.prefix(size.rows))
    while self.lines.count < size.rows { self.lines.append(ScreenLine(columns: size.columns)) }
    self.cursor = cursor
  }

  /// Returns the screen with another last line.
  func replacingLastLine(_ line: ScreenLine) -> Screen {
    guard size.rows > 0 else { return self }
    return Screen(size, lines.dropLast() + [line])
  }

  /// The rows as text, without blanks at their ends.
  var text: String {
    lines.map { line in
      var text = line.text
      while text.last == " " { text.removeLast() }
      return text + "\n"
    }.joined()
  }

  /// Returns the bytes that change a terminal from `old` to this screen; only different rows are
  /// drawn.
  ///
  /// If `isColored` is false, no text has an attribute.
  func bytes(replacing old: Screen?, isColored: Bool) -> [UInt8] {
    var text = ""
    let old = old?.size == size ? old : nil
    if old == nil { text += "\u{1B}[0m\u{1B}[2J" }
    for (row, line) in lines.enumerated() where old?.lines[row] != line {
      if old == nil, line.spans.isEmpty { continue }
      // The row is cleared first: after a full row, the cursor is not in the column where it appears.
      text += "\u{1B}[\(row + 1);1H\u{1B}[K"
      var column = 0
      for span in line.spans {
        if span.column != column { text += "\u{1B}[\(row + 1);\(span.column + 1)H" }
        let isPlain = span.role == .plain || !isColored
        text += isPlain ? span.text : "\u{1B}[\(span.role.code)m\(span.text)\u{1B}[0m"
        column = span.column + DisplayWidth.of(span.text)
      }
    }
    if let cursor {
      text += "\u{1B}[\(cursor.row + 1);\(cursor.column + 1)H\u{1B}[?25h"
    } else if old == nil || old?.cursor != nil {
      text += "\u{1B}[?25l"
    }
    return Array(text.utf8)
  }
}
