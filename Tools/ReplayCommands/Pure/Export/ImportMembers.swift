@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The members of an object in a line of an export, each read by its key.
///
/// They are asked for in the order in which `export` writes them.
protocol ImportMembers: FieldPass where Failure == ImportProblem {
  /// Returns whether the object has the key, with any value.
  mutating func has(_ key: StaticString) -> Bool

  /// Returns the value that `read` returns for the member; `nil` if the member is `null`.
  mutating func optional<Value>(
    _ key: StaticString, _ read: (inout Self, StaticString) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value?

  /// Returns what `read` returns for an object, of which no member may remain.
  mutating func object<Value>(
    _ key: StaticString, _ read: (inout Self) throws(ImportProblem) -> Value
  ) throws(ImportProblem) -> Value

  mutating func texts(_ key: StaticString) throws(ImportProblem) -> [String]
  mutating func numbers<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem)
    -> [Value]
  mutating func text(_ key: StaticString) throws(ImportProblem) -> String
  mutating func flag(_ key: StaticString) throws(ImportProblem) -> Bool
  mutating func number<Value: FixedWidthInteger>(_ key: StaticString) throws(ImportProblem) -> Value
  mutating func time(_ key: StaticString) throws(ImportProblem) -> Timestamp
  mutating func identifier(_ key: StaticString) throws(ImportProblem) -> Identifier

  /// Returns the problem with the member of this key; `next` is the next step if it is known.
  func problem(_ key: StaticString, _ message: @autoclosure () -> String, next: String?)
    -> ImportProblem
}

extension ImportMembers {
  /// Returns the problem with the member of this key.
  func problem(_ key: StaticString, _ message: @autoclosure () -> String) -> ImportProblem {
    problem(key, message(), next: nil)
  }

  mutating func code<Value: OpenEnum>(_ key: StaticString) throws(ImportProblem) -> Value {
    let word = try text(key)
    guard let code = Value(word: word) else {
      let near = Suggestion.nearest(to: word, in: Value.words)
      throw problem(key, "cannot be \"\(word.shortened)\"", next: near.map { "\"\($0)\"" })
    }
    return code
  }

  mutating func generation(_ key: StaticString) throws(ImportProblem) -> Generation {
    Generation(try number(key))
  }

  mutating func bytes(_ key: StaticString) throws(ImportProblem) -> [UInt8] {
    let digits = Array(try text(key).utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard place + 1 < digits.count, let high = hexadecimalDigit(digits[place]),
        let low = hexadecimalDigit(digits[place + 1])
      else { throw problem(key, "is not written as pairs of hexadecimal digits") }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}
