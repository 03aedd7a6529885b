import SessionJSON

/// A token's name in a text: `<A1>`, or with its form at the first use `<A1: jwt 3600s sub=u-7>`.
struct ScenarioName: Sendable {
  /// A token of three parts: its lifetime in milliseconds (`nil` for no `exp`) and further claims.
  struct Claims: Sendable {
    var life: Int64?
    var fields: [ScenarioLine.Field] = []
  }

  let name: String
  /// The form of a token; `nil` for a random text.
  let claims: Claims?

  enum Piece: Sendable {
    case text(String)
    case name(ScenarioName)
  }

  /// Splits a text into pieces; what is in angle brackets and no name is text.
  static func pieces(of text: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      if open > rest.startIndex { pieces.append(.text(String(rest[..<open]))) }
      let inner = rest[rest.index(after: open)..<close]
      pieces.append(ScenarioName(inner).map { .name($0) } ?? .text("<\(inner)>"))
      rest = rest[rest.index(after: close)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    return pieces
  }

  private init?(_ text: Substring) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    name = String(parts[0])
    guard let first = name.first, first.isUppercase,
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
    else { return nil }
    guard parts.count == 2 else {
      claims = nil
      return
    }
    let words = parts[1].split(separator: " ").map(String.init)
    guard words.first == "jwt" else { return nil }
    var claims = Claims()
    for word in words.dropFirst() {
      let pair = word.split(separator: "=", maxSplits: 1).map(String.init)
      if pair.count == 2 {
        claims.fields.append(ScenarioLine.Field(name: pair[0], value: pair[1]))
      } else if let duration = ScenarioDuration.milliseconds(word) {
        claims.life = duration
      } else {
        return nil
      }
    }
    self.claims = claims
  }
}

/// A parser of durations: `55m1s`, `1h30m`, `500ms`, `+9h`, `-3h`.
enum ScenarioDuration {
  private static let units: [Substring: Int64] = [
    "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
  ]

  /// Parses a duration to milliseconds; `nil` if it is invalid.
  static func milliseconds(_ text: String) -> Int64? {
    var rest = text[...]
    if let sign = rest.first, "+-".contains(sign) { rest = rest.dropFirst() }
    guard !rest.isEmpty else { return nil }
    var sum: Int64 = 0
    while !rest.isEmpty {
      let digits = rest.prefix(while: \.isNumber)
      let letters = rest.dropFirst(digits.count).prefix(while: \.isLetter)
      rest = rest.dropFirst(digits.count + letters.count)
      guard digits.count <= 9, let number = Int64(digits), let unit = units[letters] else {
        return nil
      }
      sum += number * unit
    }
    return text.first == "-" ? -sum : sum
  }
}

/// A JSON text in which `<A1>` is replaced by a token, and `"*"` matches any value.
struct JSONTemplate: Sendable {
  let value: JSONValue

  /// Returns the value with its strings changed.
  func filled(_ change: (String) -> String) -> JSONValue { JSONTemplate.change(value, change) }

  private static func change(_ value: JSONValue, _ change: (String) -> String) -> JSONValue {
    switch value {
    case .string(let text): .string(change(text))
    case .array(let values): .array(values.map { self.change($0, change) })
    case .object(let members): .object(members.mapValues { self.change($0, change) })
    case .null, .bool, .number, .unreadable: value
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
