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

/// The number of terminal columns that a text takes.
///
/// Each scalar has the width that `wcwidth` reports, because terminals agree on that. A font may
/// still draw several scalars as one picture.
enum DisplayWidth {
  static func of(_ text: String) -> Int {
    text.unicodeScalars.reduce(0) { $0 + of($1) }
  }

  /// Returns 0 for scalars that are drawn over the one before, and 2 for wide ones.
  static func of(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value == 0 ? 0 : 1 }
    if (0x1160...0x11FF).contains(value) { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return isWide(value) ? 2 : 1
    }
  }

  /// Returns the longest beginning of the text in at most `columns` columns.
  ///
  /// Scalars that are drawn over its last one are included.
  static func prefix(_ text: String, _ columns: Int) -> (text: String, width: Int) {
    var kept = String.UnicodeScalarView()
    var width = 0
    for scalar in text.unicodeScalars {
      let more = of(scalar)
      guard width + more <= columns else { break }
      kept.append(scalar)
      width += more
    }
    return (String(kept), width)
  }

  /// Returns the text in at most `columns` columns; a longer text ends with `…`.
  static func cut(_ text: String, _ columns: Int) -> String {
    guard columns > 0 else { return "" }
    guard of(text) > columns else { return text }
    return prefix(text, columns - 1).text + "…"
  }

  private static func isWide(_ value: UInt32) -> Bool {
    var (low, high) = (0, wide.count)
    while low < high {
      let middle = (low + high) / 2
      if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wide.count && wide[low].contains(value)
  }

  /// East Asian Width W or F of Unicode 14 (Annex 11), and unassigned scalars between two such
  /// ranges.
  static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
    0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
    0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
    0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
    0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
    0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
    0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C,
    0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A,
    0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA,
    0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440,
    0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A,
    0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC,
    0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0,
    0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3FFFD,
  ]
}
