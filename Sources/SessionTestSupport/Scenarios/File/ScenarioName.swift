/// A token's name in a text: `<A1>`, or with its form at the first use `<A1: jwt 3600s sub=u-7>`.
struct ScenarioName: Hashable, Sendable {
  /// The form of a token.
  enum Form: Hashable, Sendable {
    /// A random text.
    case opaque
    /// Three parts, with a lifetime in milliseconds (`nil` for no `exp`) and further claims.
    case jwt(life: Int64?, claims: [ScenarioStep.Field])
  }

  let name: String
  /// The form; `nil` if only the name is given.
  let form: Form?

  enum Piece: Hashable, Sendable {
    case text(String)
    case name(ScenarioName)
    /// Text in angle brackets that is not a name.
    case malformed(String)
  }

  /// Splits a text into pieces; a `<` without a `>` after it is an ordinary character.
  static func pieces(of text: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      if open > rest.startIndex { pieces.append(.text(String(rest[..<open]))) }
      let inner = String(rest[rest.index(after: open)..<close])
      pieces.append(ScenarioName(inner).map { .name($0) } ?? .malformed(inner))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    return pieces
  }

  init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first.map(String.init) ?? ""
    guard let first = name.first, first.isASCII, first.isUppercase, name.count <= 24,
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    self.name = name
    guard parts.count == 2 else {
      form = nil
      return
    }
    let words = parts[1].split(separator: " ").map(String.init)
    guard words.first == "jwt" else { return nil }
    var life: Int64?
    var claims: [ScenarioStep.Field] = []
    for word in words.dropFirst() {
      let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
      if pair.count == 2 {
        claims.append(ScenarioStep.Field(name: pair[0], value: pair[1]))
      } else if life == nil, let duration = ScenarioDuration.milliseconds(word) {
        life = duration
      } else {
        return nil
      }
    }
    form = .jwt(life: life, claims: claims)
  }
}

/// A parser of durations: `55m1s`, `1h30m`, `500ms`, `+9h`, `-3h`.
enum ScenarioDuration {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  /// Parses a duration to milliseconds; `nil` if it is invalid, or longer than 115 days.
  static func milliseconds(_ text: String) -> Int64? {
    var rest = text[...]
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest = rest.dropFirst() }
    guard !rest.isEmpty else { return nil }
    var sum: Int64 = 0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      let letters = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(letters.count)
      guard digits.count <= 9, let number = Int64(digits),
        let unit = units.first(where: { $0.name == letters })
      else { return nil }
      sum += number.multipliedReportingOverflow(by: unit.milliseconds).partialValue
      guard sum <= 10_000_000_000 else { return nil }
    }
    return isNegative ? -sum : sum
  }
}

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
    let rest = raw.drop { $0.isWhitespace }.drop { !$0.isWhitespace }
    return String(rest.drop { $0.isWhitespace })
  }
}

/// A line and the lines that are indented below it.
struct ScenarioBlock: Sendable {
  let head: ScenarioLine
  var details: [ScenarioLine] = []
}
