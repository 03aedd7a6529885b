/// How large a terminal is, in cells.
struct ScreenSize: Equatable, Sendable {
  let rows: Int
  let columns: Int

  /// Below this nothing can be told apart.
  static let smallest = ScreenSize(rows: 12, columns: 60)

  var isEnough: Bool { rows >= Self.smallest.rows && columns >= Self.smallest.columns }
}

/// What a part of a line is, which says how it looks.
enum ScreenRole: Equatable, Sendable, CaseIterable {
  case plain
  case dim
  case bold
  case good
  case warn
  case bad
  /// What the record under the cursor changed.
  case changed

  /// As a terminal is told (ECMA-48, SGR).
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

/// One row of a screen: texts, each with the column that it begins at.
struct ScreenLine: Equatable, Sendable {
  struct Span: Equatable, Sendable {
    /// From 0.
    let column: Int
    let text: String
    let role: ScreenRole
  }

  private(set) var spans: [Span] = []
  /// How many columns are taken.
  private(set) var width = 0
  /// How many there are.
  let columns: Int

  init(columns: Int) {
    self.columns = columns
  }

  /// Adds what there is room for, up to the column `end` or that of the line; a text that is cut
  /// ends with `…`.
  mutating func append(_ text: String, _ role: ScreenRole = .plain, upTo end: Int? = nil) {
    let shown = DisplayWidth.cut(text, min(end ?? columns, columns) - width)
    guard !shown.isEmpty else { return }
    spans.append(Span(column: width, text: shown, role: role))
    width += DisplayWidth.of(shown)
  }

  /// Leaves columns free up to this one.
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

/// What a terminal shows.
struct Screen: Equatable, Sendable {
  struct Cell: Equatable, Sendable {
    /// From 0.
    let row: Int
    /// From 0.
    let column: Int
  }

  let size: ScreenSize
  /// As many as the size has rows.
  private(set) var lines: [ScreenLine] = []
  /// Where a text is entered; `nil` hides the cursor.
  var cursor: Cell?

  /// A screen of these lines; missing ones are empty, further ones are left out.
  init(_ size: ScreenSize, _ lines: [ScreenLine], cursor: Cell? = nil) {
    self.size = size
    self.lines = Array(lines.prefix(size.rows))
    while self.lines.count < size.rows { self.lines.append(ScreenLine(columns: size.columns)) }
    self.cursor = cursor
  }

  /// The same with another last line.
  func replacingLastLine(_ line: ScreenLine) -> Screen {
    guard size.rows > 0 else { return self }
    return Screen(size, lines.dropLast() + [line])
  }

  /// The rows as text, without spaces at their ends.
  var text: String {
    lines.map { line in
      var text = line.text
      while text.last == " " { text.removeLast() }
      return text + "\n"
    }.joined()
  }

  /// What makes a terminal that shows `old` show this: only rows that differ are drawn.
  ///
  /// Without colours no text has an attribute.
  func bytes(replacing old: Screen?, isColored: Bool) -> [UInt8] {
    var text = ""
    let old = old?.size == size ? old : nil
    if old == nil { text += "\u{1B}[0m\u{1B}[2J" }
    for (row, line) in lines.enumerated() where old?.lines[row] != line {
      if old == nil, line.spans.isEmpty { continue }
      // Cleared before and not after: behind the last column the cursor is not where it seems.
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
