@testable import ReplayCommands

/// The screen of a terminal after the sequences that `step` sends; it knows no others.
struct TerminalGrid: Sendable {
  struct Cell: Equatable, Sendable {
    /// What is drawn in it; empty for the second half of a wide one.
    var text = " "
    var attribute = "0"
  }

  private enum State: Equatable {
    case ground
    case escape
    case sequence(String)
  }

  private(set) var rows: Int
  private(set) var columns: Int
  private(set) var cells: [[Cell]]
  private var normal: [[Cell]]?
  private(set) var row = 0
  private(set) var column = 0
  private(set) var isCursorVisible = true
  private(set) var isWrapping = true
  private(set) var isPasteMarked = false
  private(set) var bells = 0
  /// Sequences that are not known.
  private(set) var strange: [String] = []
  private var attribute = "0"
  private var state = State.ground
  private var scalar: [UInt8] = []

  /// Whether the terminal's own screen is set aside.
  var isAlternate: Bool { normal != nil }

  init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
    cells = Self.blank(rows, columns)
  }

  private static func blank(_ rows: Int, _ columns: Int) -> [[Cell]] {
    Array(repeating: Array(repeating: Cell(), count: columns), count: rows)
  }

  /// A row as text, without spaces at its end.
  func line(_ row: Int) -> String {
    var text = cells[row].map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  var text: String { (0..<rows).map { line($0) + "\n" }.joined() }

  /// The text that has an attribute, row by row.
  func text(with attribute: String) -> [String] {
    cells.compactMap { row in
      let text = row.filter { $0.attribute == attribute }.map(\.text).joined()
      return text.isEmpty ? nil : text
    }
  }

  /// Changes the size and clears the screen.
  mutating func resize(rows: Int, columns: Int) {
    (self.rows, self.columns) = (rows, columns)
    cells = Self.blank(rows, columns)
    if normal != nil { normal = Self.blank(rows, columns) }
    (row, column) = (0, 0)
  }

  mutating func feed(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { feed(byte) }
  }

  private mutating func feed(_ byte: UInt8) {
    switch state {
    case .ground: ground(byte)
    case .escape:
      state = byte == UInt8(ascii: "[") ? .sequence("") : .ground
      if state == .ground { strange.append("ESC \(byte)") }
    case .sequence(let text):
      if (0x40...0x7E).contains(byte) {
        state = .ground
        obey(text, Unicode.Scalar(byte))
      } else {
        state = .sequence(text + String(Unicode.Scalar(byte)))
      }
    }
  }

  private mutating func ground(_ byte: UInt8) {
    switch byte {
    case 0x1B: state = .escape
    case 0x07: bells += 1
    case 0x0D: column = 0
    case 0x0A: lineFeed()
    case 0x00..<0x20, 0x7F: strange.append("byte \(byte)")
    default:
      scalar.append(byte)
      let text = String(decoding: scalar, as: UTF8.self)
      guard let found = text.unicodeScalars.first, found != "\u{FFFD}" || scalar.count > 3 else {
        return
      }
      scalar = []
      put(found)
    }
  }

  private mutating func lineFeed() {
    guard row + 1 == rows else {
      row += 1
      return
    }
    cells.removeFirst()
    cells.append(Array(repeating: Cell(), count: columns))
  }

  private mutating func put(_ scalar: Unicode.Scalar) {
    let width = DisplayWidth.of(scalar)
    guard width > 0 else {
      let last = max(0, column - 1)
      cells[row][last].text.unicodeScalars.append(scalar)
      return
    }
    if column + width > columns {
      guard isWrapping else { return strange.append("beyond the last column: \(scalar)") }
      column = 0
      lineFeed()
    }
    cells[row][column] = Cell(text: String(scalar), attribute: attribute)
    if width == 2 { cells[row][column + 1] = Cell(text: "", attribute: attribute) }
    column += width
  }

  private mutating func obey(_ text: String, _ last: Unicode.Scalar) {
    let numbers = text.split(separator: ";").compactMap { Int($0) }
    switch (last, text) {
    case ("H", _) where numbers.count == 2:
      (row, column) = (numbers[0] - 1, numbers[1] - 1)
      if row >= rows || column >= columns { strange.append("outside: \(text)H") }
      (row, column) = (min(row, rows - 1), min(column, columns - 1))
    case ("K", ""):
      for index in column..<columns { cells[row][index] = Cell() }
    case ("J", "2"): cells = Self.blank(rows, columns)
    case ("m", _): attribute = text.isEmpty ? "0" : text
    case ("h", "?25"): isCursorVisible = true
    case ("l", "?25"): isCursorVisible = false
    case ("h", "?7"): isWrapping = true
    case ("l", "?7"): isWrapping = false
    case ("h", "?2004"): isPasteMarked = true
    case ("l", "?2004"): isPasteMarked = false
    case ("h", "?1049"):
      if normal == nil { normal = cells }
      cells = Self.blank(rows, columns)
    case ("l", "?1049"):
      cells = normal ?? cells
      normal = nil
      (row, column) = (0, 0)
    default: strange.append("ESC[\(text)\(last)")
    }
  }
}
