import SessionJSON

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

/// A line with content, split into words.
///
/// Words end at spaces outside double quotes and angle brackets. A `#` at the start of a word
/// begins a comment.
struct ScenarioLine: Sendable {
  let number: Int
  let indent: Int
  let raw: String
  let words: [String]
  /// Whether a quote is not closed.
  let isOpen: Bool

  /// The line before the first one.
  static let none = ScenarioLine(number: 1, indent: 0, raw: "", words: [], isOpen: false)

  /// Splits a line; `nil` for an empty line and for a comment.
  init?(_ raw: Substring, number: Int) {
    let characters = Array(raw)
    var words: [String] = []
    var isOpen = false
    var index = 0
    while index < characters.count {
      if characters[index].isWhitespace {
        index += 1
        continue
      }
      if characters[index] == "#" { break }
      var text = ""
      var depth = 0
      var isQuoted = false
      while index < characters.count {
        let character = characters[index]
        if !isQuoted, depth == 0, character.isWhitespace { break }
        switch character {
        case "\"":
          isQuoted.toggle()
          isOpen = isQuoted
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
      words.append(text)
    }
    guard !words.isEmpty else { return nil }
    self.init(
      number: number, indent: characters.prefix { $0 == " " }.count, raw: String(raw), words: words,
      isOpen: isOpen)
  }

  private init(number: Int, indent: Int, raw: String, words: [String], isOpen: Bool) {
    (self.number, self.indent, self.raw) = (number, indent, raw)
    (self.words, self.isOpen) = (words, isOpen)
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

/// A JSON text in which `<A1>` is replaced by a token, and `"*"` matches any value.
struct JSONTemplate: Sendable {
  let value: JSONValue

  /// Returns the value with its strings changed.
  func filled<Failure: Error>(_ change: (String) throws(Failure) -> String) throws(Failure)
    -> JSONValue
  { try JSONTemplate.change(value, change) }

  private static func change<Failure: Error>(
    _ value: JSONValue, _ change: (String) throws(Failure) -> String
  ) throws(Failure) -> JSONValue {
    switch value {
    case .string(let text): return .string(try change(text))
    case .array(let values):
      var changed: [JSONValue] = []
      for value in values { changed.append(try self.change(value, change)) }
      return .array(changed)
    case .object(let members):
      var changed: [String: JSONValue] = [:]
      for (name, value) in members { changed[name] = try self.change(value, change) }
      return .object(changed)
    case .null, .bool, .number, .unreadable: return value
    }
  }

  /// Returns the first difference without the values themselves; `nil` if there is none.
  static func difference(_ expected: JSONValue, _ actual: JSONValue, at path: String = "")
    -> String?
  {
    let place = path.isEmpty ? "the body" : path
    switch (expected, actual) {
    case (.string("*"), _): return nil
    case (.object(let left), .object(let right)):
      for name in left.keys.sorted() {
        let inner = path.isEmpty ? name : "\(path).\(name)"
        guard let value = left[name], let other = right[name] else { return "\(inner) is missing" }
        if let difference = difference(value, other, at: inner) { return difference }
      }
      let extra = Set(right.keys).subtracting(left.keys).sorted()
      return extra.isEmpty ? nil : "\(place) also has \(extra.joined(separator: ", "))"
    case (.array(let left), .array(let right)):
      guard left.count == right.count else { return "\(place) has \(right.count) values" }
      for (index, pair) in zip(left, right).enumerated() {
        let inner = "\(path)[\(index)]"
        if let difference = difference(pair.0, pair.1, at: inner) { return difference }
      }
      return nil
    default: return expected == actual ? nil : "\(place) is another"
    }
  }
}

extension JSONValue {
  /// Whether no value in it is unreadable.
  var isReadable: Bool {
    switch self {
    case .null, .bool, .number, .string: true
    case .array(let values): values.allSatisfy(\.isReadable)
    case .object(let members): members.values.allSatisfy(\.isReadable)
    case .unreadable: false
    }
  }
}
