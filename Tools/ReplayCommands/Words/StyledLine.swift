/// A line for a terminal, with codes for colours, that is fitted to a number of columns.
struct StyledLine {
  private struct Word {
    var text = ""
    var width = 0
    var isBlank = false
  }

  private let text: String
  /// The words and the blanks between them; codes belong to what follows them.
  private let words: [Word]

  init(_ text: String) {
    self.text = text
    words = Self.words(of: text)
  }

  private static func words(of text: String) -> [Word] {
    var words: [Word] = []
    var word = Word()
    var isCode = false
    for scalar in text.unicodeScalars {
      if scalar == "\u{1B}" || isCode {
        word.text.unicodeScalars.append(scalar)
        isCode = scalar != "m"
        continue
      }
      let isBlank = scalar == " "
      if word.width > 0, word.isBlank != isBlank {
        words.append(word)
        word = Word()
      }
      word.isBlank = isBlank
      word.text.unicodeScalars.append(scalar)
      word.width += DisplayWidth.of(scalar)
    }
    return words + [word]
  }

  private var width: Int { words.reduce(0) { $0 + $1.width } }

  /// Returns the line in at most `columns` columns; a longer one ends with `…`.
  ///
  /// All codes stay, so that the next line has the colours that it should have.
  func cut(to columns: Int) -> String {
    guard width > columns else { return text }
    var (kept, room, isCode) = ("", columns - 1, false)
    for scalar in text.unicodeScalars {
      if scalar == "\u{1B}" || isCode {
        kept.unicodeScalars.append(scalar)
        isCode = scalar != "m"
        continue
      }
      guard room >= 0 else { continue }
      let more = DisplayWidth.of(scalar)
      if more <= room {
        kept.unicodeScalars.append(scalar)
        room -= more
      } else {
        kept += "…"
        room = -1
      }
    }
    return kept
  }

  /// Returns the line as lines of at most `columns` columns, broken between words.
  ///
  /// Further lines begin in the column in which the text of the first one begins.
  func wrapped(to columns: Int) -> [String] {
    guard width > columns else { return [text] }
    let indent = self.indent(in: columns)
    var lines: [String] = []
    var line = Word(isBlank: true)
    for word in words {
      if !word.isBlank, !line.isBlank, line.width + word.width > columns {
        lines.append(line.text.withoutBlanksAtEnd)
        line = Word(text: String(repeating: " ", count: indent), width: indent, isBlank: true)
      }
      guard !word.isBlank || !line.isBlank || lines.isEmpty else {
        // The blanks of a break are left out, and the codes among them are not.
        line.text += word.text.replacing(" ", with: "")
        continue
      }
      line.text += word.text
      line.width += word.width
      line.isBlank = line.isBlank && word.isBlank
    }
    return lines + [line.text]
  }

  /// The last column within the first half at which a text begins after two blanks or more.
  private func indent(in columns: Int) -> Int {
    var (place, indent) = (0, 2)
    for word in words {
      place += word.width
      if word.isBlank, word.width > 1, place <= columns / 2 { indent = place }
    }
    return indent
  }
}

extension String {
  fileprivate var withoutBlanksAtEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
