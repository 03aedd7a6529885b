import SessionJSON

/// What is wrong with a line.
struct ScenarioProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// A line with content, split into words, and the lines that are indented below it.
///
/// Words end at spaces outside double quotes and angle brackets. A `#` at the start of a word
/// begins a comment.
struct ScenarioLine: Sendable {
  /// A `name=value` word.
  struct Field: Hashable, Sendable {
    let name: String
    let value: String
  }

  let number: Int
  var words: [String]
  /// The text after the first word, with the lines that continue it.
  var rest: String
  var details: [ScenarioLine] = []

  /// Splits a file; what is indented by more than two spaces continues the line above.
  static func lines(of text: String) -> [ScenarioLine] {
    var lines: [ScenarioLine] = []
    for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = words(of: raw)
      guard let first = words.first else { continue }
      let rest = raw.drop(while: \.isWhitespace).dropFirst(first.count).drop(while: \.isWhitespace)
      let line = ScenarioLine(number: index + 1, words: words, rest: String(rest))
      let last = lines.count - 1
      switch raw.prefix(while: { $0 == " " }).count {
      case 1... where last < 0, 0: lines.append(line)
      case 3... where !lines[last].details.isEmpty:
        lines[last].details[lines[last].details.count - 1].rest += "\n" + raw
      default: lines[last].details.append(line)
      }
    }
    return lines
  }

  private static func words(of raw: Substring) -> [String] {
    var words: [String] = []
    var rest = raw.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      var (text, depth, isQuoted) = ("", 0, false)
      while let character = rest.first, isQuoted || depth > 0 || !character.isWhitespace {
        switch character {
        case "\"": isQuoted.toggle()
        case "<" where !isQuoted: depth += 1
        case ">" where !isQuoted: depth = max(0, depth - 1)
        default: break
        }
        if character != "\"" { text.append(character) }
        rest.removeFirst()
      }
      words.append(text)
      rest = rest.drop(while: \.isWhitespace)
    }
    return words
  }

  /// Removes `word NAME` from the end; returns the name and the rest.
  func taking(_ word: String) -> (name: String?, rest: ScenarioLine) {
    guard words.count > 2, words[words.count - 2] == word else { return (nil, self) }
    var line = self
    let name = line.words.removeLast()
    line.words.removeLast()
    return (name, line)
  }

  /// Returns a word; throws if there is none.
  func word(_ index: Int) throws(ScenarioProblem) -> String {
    guard words.indices.contains(index) else {
      throw ScenarioProblem("\"\(words[0])\" needs a further word")
    }
    return words[index]
  }

  /// Returns the `name=value` words from an index on.
  func fields(from index: Int = 1) throws(ScenarioProblem) -> [Field] {
    var fields: [Field] = []
    for word in words.dropFirst(index) {
      let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else {
        throw ScenarioProblem("\"\(word)\" does not have the form name=value")
      }
      fields.append(Field(name: String(pair[0]), value: String(pair[1])))
    }
    return fields
  }

  /// Parses the JSON text after the first word.
  func json() throws(ScenarioProblem) -> JSONTemplate {
    do {
      return JSONTemplate(value: try JSONReader.read(Array(rest.utf8)))
    } catch { throw ScenarioProblem("the JSON is invalid at byte \(error.offset)") }
  }

  /// Returns a duration in milliseconds, as the first argument.
  func duration() throws(ScenarioProblem) -> Int64 {
    guard let duration = ScenarioDuration.milliseconds(try word(1)) else {
      throw ScenarioProblem("\"\(words[1])\" is not a duration such as 55m1s or -3h")
    }
    return duration
  }

  /// Returns a count, as the first argument.
  func count() throws(ScenarioProblem) -> Int {
    guard let count = Int(try word(1)) else { throw ScenarioProblem("expected a count") }
    return count
  }

  /// Returns whether the first argument is the first of two words.
  func choice(_ yes: String, _ no: String) throws(ScenarioProblem) -> Bool {
    let word = try word(1)
    guard word == yes || word == no else {
      throw ScenarioProblem("\"\(word)\" is neither \(yes) nor \(no)")
    }
    return word == yes
  }
}
