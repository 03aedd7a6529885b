internal import SessionExplain

/// Rows of text in columns; the first column is left-aligned, the others are right-aligned.
struct StatsTable {
  private var rows: [[String]] = []

  mutating func add(_ cells: [String]) {
    rows.append(cells)
  }

  /// The rows as lines, with two blanks between columns and none at the end.
  var lines: [String] {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line +=
          column == 0
          ? cell.padded(to: widths[0]) : "  " + cell.leftPadded(to: widths[column])
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}

/// Formats a part of a whole for people.
enum Share {
  /// Returns `98.8 %`; cut and not rounded, so that only the whole is `100.0 %`.
  static func text(_ part: UInt64, of whole: UInt64) -> String {
    guard whole > 0 else { return "–" }
    let (high, low) = part.multipliedFullWidth(by: 1_000)
    guard high < whole else { return "–" }
    let tenths = whole.dividingFullWidth((high, low)).quotient
    return "\((tenths / 10).grouped).\(tenths % 10) %"
  }
}
