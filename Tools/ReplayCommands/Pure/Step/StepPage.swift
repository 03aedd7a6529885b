@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A text that is shown instead of the records; longer texts scroll.
struct StepPage: Equatable, Sendable {
  let title: String
  /// The lines in printable characters, not yet wrapped.
  let lines: [String]
  /// The number of wrapped lines above the screen.
  private(set) var scroll = 0

  init(title: String, lines: [String]) {
    self.title = title
    self.lines = lines
  }

  /// Creates the page of a record as `timeline --json` prints it, with one field on a line.
  init(record entry: JournalEntry) {
    var json = JSONWriter()
    json.object { json in
      json.field("sequence", entry.record.sequence)
      json.field("offset", entry.offset)
      json.field("remainingInBatch", entry.remainingInBatch)
      json.readable(entry.record)
    }
    self.init(title: "@\(entry.record.sequence)", lines: Self.indented(json.text))
  }

  /// The page of all keys and their effects.
  static let help = StepPage(
    title: "Keys",
    lines: StepAction.allCases.map { action in
      let keys = action.keys.map(\.name).joined(separator: " ")
      return "  \(keys.padded(to: 16))  \(action.meaning)"
    } + [
      "",
      "  ▶ is the record that is looked at, ┌│└ its batch: what was decided together.",
      "  ◂ is the request that it answers, ▸ the answer to it, ◆ the record compared with.",
      "  The state is that after the record; what it changed is shown as old → new.",
    ])

  /// Handles a key; returns false if the key closes the page.
  mutating func handle(_ key: StepKey, rows: Int, columns: Int) -> Bool {
    let most = max(0, wrapped(columns).count - rows)
    switch key {
    case .down, .right, .character("j"), .character("l"): scroll += 1
    case .up, .left, .character("k"), .character("h"): scroll -= 1
    case .pageDown, .character("f"), .character(" "): scroll += rows
    case .pageUp, .character("b"), .backspace: scroll -= rows
    case .home, .character("g"): scroll = 0
    case .end, .character("G"): scroll = most
    case .escape, .enter, .character("q"): return false
    case .character, .control, .pasted, .help: break
    }
    scroll = min(max(0, scroll), most)
    return true
  }

  /// Returns the lines, broken if they are longer than the screen is wide.
  func wrapped(_ columns: Int) -> [String] {
    // A line without blanks can still be too long.
    lines.flatMap { StyledLine($0).wrapped(to: columns) }.flatMap { Self.wrap($0, columns) }
  }

  static func wrap(_ line: String, _ columns: Int) -> [String] {
    guard columns > 20, DisplayWidth.of(line) > columns else { return [line] }
    let indent = String(line.prefix { $0 == " " }.prefix(columns / 2)) + "  "
    var (rows, rest) = ([String](), line[...])
    while DisplayWidth.of(String(rest)) > columns {
      var end = DisplayWidth.prefix(String(rest), columns).text.endIndex
      let row = String(rest)[..<end]
      // The line is broken between two words, unless that leaves more than half of the row empty.
      if let space = row.lastIndex(of: " "),
        row.distance(from: row.startIndex, to: space) > columns / 2
      {
        end = space
      }
      rows.append(String(row[..<end]))
      rest = Substring(indent + String(rest)[end...].drop { $0 == " " })
    }
    return rows + [String(rest)]
  }

  /// Returns JSON with one line for each field.
  static func indented(_ json: String) -> [String] {
    var (lines, line, depth) = ([String](), "", 0)
    var (isText, isEscaped) = (false, false)
    func margin(_ depth: Int) -> String { String(repeating: "  ", count: depth) }
    for character in json.unicodeScalars {
      if isText {
        line.unicodeScalars.append(character)
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isText = false
        }
        continue
      }
      switch character {
      case "\"":
        isText = true
        line += "\""
      case "{", "[":
        depth += 1
        lines.append(line + String(character))
        line = margin(depth)
      case "}", "]":
        depth -= 1
        let isEmpty = line.allSatisfy { $0 == " " }
        if isEmpty, let opened = lines.popLast() {
          // Empty brackets stay on one line.
          line = opened + String(character)
        } else {
          lines.append(line)
          line = margin(depth) + String(character)
        }
      case ",":
        lines.append(line + ",")
        line = margin(depth)
      case ":": line += ": "
      default: line.unicodeScalars.append(character)
      }
    }
    return lines + [line]
  }
}
