/// A word of a line, and the column at which it begins, from 1.
struct ScenarioWord: Hashable, Sendable {
  let text: String
  let column: Int
}

/// A line with content, split into words.
///
/// Words end at spaces outside double quotes and angle brackets. A `#` at the start of a word
/// begins a comment.
struct ScenarioLine: Sendable {
  let number: Int
  let indent: Int
  let raw: String
  let words: [ScenarioWord]
  /// The column of a quote that is not closed; `nil` if there is none.
  let openQuote: Int?

  /// Splits a line; `nil` for an empty line and for a comment.
  init?(_ raw: Substring, number: Int) {
    let characters = Array(raw)
    var words: [ScenarioWord] = []
    var open: Int?
    var index = 0
    while index < characters.count {
      if characters[index].isWhitespace {
        index += 1
        continue
      }
      if characters[index] == "#" { break }
      let column = index + 1
      var text = ""
      var depth = 0
      var isQuoted = false
      while index < characters.count {
        let character = characters[index]
        if !isQuoted, depth == 0, character.isWhitespace { break }
        switch character {
        case "\"":
          isQuoted.toggle()
          open = isQuoted ? index + 1 : nil
        case "<" where !isQuoted:
          depth += 1
          text.append(character)
        case ">" where !isQuoted:
          depth = max(0, depth - 1)
          text.append(character)
        default: text.append(character)
        }
        index += 1
      }
      words.append(ScenarioWord(text: text, column: column))
    }
    guard !words.isEmpty else { return nil }
    self.number = number
    self.raw = String(raw)
    self.words = words
    indent = characters.prefix { $0 == " " }.count
    openQuote = open
  }

  /// The text after the first word, unchanged.
  var rest: String {
    let behind = raw.drop { $0.isWhitespace }.drop { !$0.isWhitespace }
    return String(behind.drop { $0.isWhitespace })
  }
}

/// A line and the lines that are indented below it.
struct ScenarioBlock: Sendable {
  let head: ScenarioLine
  var details: [ScenarioLine] = []
}
