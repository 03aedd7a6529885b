import SessionJSON
import SessionTestKit
import Testing

/// The flat structure of a JSON text, compared with the grammar of RFC 8259.
@Suite("JSONTape")
struct JSONTapeTests {
  /// Lines with each form of a value.
  private static let lines = [
    #"{"v":1,"class":"event","facts":{"token":{"id":null,"is":true},"list":["a","é\u00e9",[]]}}"#,
    #"{"a":-0,"b":-12.50e+3,"c":0.0,"\u0061":18446744073709551615,"d":{}, "e" : [ 1 , 2 ]}"#,
    #" [false,"\"\\\/\b\f\n\r\t\ud83d\ude00",9223372036854775808,-9223372036854775808] "#,
    #""x""#, "0", "null", "{}",
  ]

  /// Returns a value as ``Grammar`` spells it.
  private func spelled(_ part: JSONPart) -> String {
    switch part.kind {
    case .object:
      var members = JSONPart.Members(part)
      let keys = members?.keys ?? []
      let values = keys.map { members?.find($0).map { spelled($0.value) } ?? "" }
      return Grammar.object(zip(keys, values).map { ($0, $1) })
    case .array: return Grammar.array(part.elements.map(spelled))
    case .text: return (part.text ?? "").debugDescription
    case .number, .yes, .no, .null, .unreadable: return part.spelling
    }
  }

  private func read(_ bytes: [UInt8]) -> JSONTape? {
    var tape = JSONTape()
    do throws(JSONTape.Problem) { try tape.read(bytes[...]) } catch { return nil }
    return tape
  }

  private func read(_ text: String) -> JSONTape? { read(Array(text.utf8)) }

  @Test("RPL-4 a tape accepts what the grammar of JSON accepts, and has its values")
  func agreement() {
    let report = Property("JSON as a tape", cases: 3_000, regressions: RegressionFolder())
      .check { choices in
        var bytes = Array((choices.pick(Self.lines) ?? "").utf8)
        for _ in 0..<choices.draw(below: 4) {
          let place = choices.draw(in: 0...bytes.count - 1)
          switch choices.draw(below: 4) {
          case 0: bytes[place] = UInt8(choices.draw(in: 0...255))
          case 1: bytes.insert(choices.pick(Array("\"\\u:,{}[]0e-. ".utf8)) ?? 0, at: place)
          case 2: bytes.insert(choices.pick(bytes) ?? 0, at: place)
          default: if bytes.count > 1 { bytes.remove(at: place) }
          }
        }
        let found = read(bytes).map { spelled($0.root) }
        choices.label(found == nil ? "no JSON" : "JSON")
        try choices.require(found == Grammar.spelled(bytes), "\(bytes)")
      }
    expect(report)
    #expect(report.coverage == .replayed || report.labels["JSON"] ?? 0 > 300, "\(report.labels)")
  }

  @Test("RPL-4 a tape refuses what is nested too deep, and a key that occurs twice among many")
  func bounds() {
    func agree(_ text: String) -> Bool {
      let found = read(text).map { spelled($0.root) }
      #expect(found == Grammar.spelled(Array(text.utf8)))
      return found != nil
    }
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(agree(nested(32)))
    #expect(!agree(nested(33)))
    for count in [2, 31, 32, 33, 34, 100] {
      let members = (0..<count).map { "\"k\($0)\":[\($0)]" }
      #expect(agree("{" + members.joined(separator: ",") + "}"))
      for again in [0, count - 1] {
        #expect(!agree("{" + (members + ["\"\\u006b\(again)\":0"]).joined(separator: ",") + "}"))
      }
    }
  }

  @Test("RPL-4 a whole number is read as its type reads it")
  func numbers() throws {
    for digits in [
      "0", "-0", "1", "-1", "127", "128", "-128", "-129", "255", "256", "1.0", "1e3",
      "18446744073709551615", "18446744073709551616", "9223372036854775807", "-9223372036854775808",
      "-9223372036854775809", "99999999999999999999999",
    ] {
      let tape = try #require(read(digits))
      func agree<Value: FixedWidthInteger>(_: Value.Type) -> Bool {
        tape.root.integer(Value.self) == (digits == "-0" ? nil : Value(digits))
      }
      #expect(agree(UInt8.self) && agree(Int8.self) && agree(UInt64.self) && agree(Int64.self))
    }
  }

  @Test("RPL-4 members are found in any order, and a missing one is not")
  func members() throws {
    let tape = try #require(read(#"{"a":1,"b":{"a":2},"\u0063":3}"#))
    var members = try #require(JSONPart.Members(tape.root))
    #expect(members.count == 3 && members.keys == ["a", "b", "c"])
    for (key, number) in [("a", 0), ("b", 1), ("c", 2), ("a", 0), ("c", 2), ("b", 1), ("b", 1)] {
      let (found, missing) = (members.find(key), members.find("d"))
      #expect(found?.number == number)
      #expect(missing == nil)
    }
  }

  @Test("RPL-4 a text of any length holds any byte at any place that JSON allows there")
  func bytesOfTexts() {
    for length in 1...20 {
      for place in 0..<length {
        for byte in UInt8.min...UInt8.max {
          var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
          text[place] = byte
          let tape = read([0x22] + text + [0x22])
          // A byte beyond ASCII alone is not UTF-8, and no escape is an `a`.
          let isAllowed =
            (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
          #expect((tape != nil) == isAllowed)
          if let tape { #expect(tape.root.text == String(decoding: text, as: UTF8.self)) }
        }
      }
    }
  }
}

/// JSON as RFC 8259 writes its rules, without a key that occurs twice and at most 32 deep.
///
/// It shares nothing with the parser, and is slow.
private struct Grammar {
  private var rest: Substring
  private let number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/
  private let text =
    /"(?:[^"\\\u{0}-\u{1F}]|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*"/
    .matchingSemantics(.unicodeScalar)

  /// Returns the value, with its texts as Swift writes them; `nil` if the bytes are not JSON.
  static func spelled(_ bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var grammar = Grammar(rest: text[...])
    let value = grammar.value(1)
    return grammar.isAt("") && grammar.rest.isEmpty ? value : nil
  }

  static func object(_ members: [(key: String, value: String)]) -> String {
    "{\(members.map { "\($0.key.debugDescription):\($0.value)" }.joined(separator: ","))}"
  }

  static func array(_ elements: [String]) -> String { "[\(elements.joined(separator: ","))]" }

  private init(rest: Substring) { self.rest = rest }

  /// Passes white space, and then these characters if they are next.
  private mutating func isAt(_ token: String) -> Bool {
    let space: Set<Unicode.Scalar> = [" ", "\t", "\n", "\r"]
    let scalars = rest.unicodeScalars.drop { space.contains($0) }
    let isHere = scalars.starts(with: token.unicodeScalars)
    rest = Substring(isHere ? scalars.dropFirst(token.unicodeScalars.count) : scalars)
    return isHere
  }

  private mutating func value(_ depth: Int) -> String? {
    guard depth <= 32 else { return nil }
    for word in ["true", "false", "null"] where isAt(word) { return word }
    if isAt("[") { return list("]") { $0.value(depth + 1) }.map(Self.array) }
    if isAt("{") {
      var keys: Set<[UInt8]> = []
      return list("}") { (own) -> (key: String, value: String)? in
        guard let key = own.string(), keys.insert(Array(key.utf8)).inserted, own.isAt(":"),
          let value = own.value(depth + 1)
        else { return nil }
        return (key, value)
      }.map(Self.object)
    }
    guard let digits = rest.prefixMatch(of: number) else { return string()?.debugDescription }
    rest = rest[digits.range.upperBound...]
    return String(digits.output)
  }

  private mutating func list<Item>(
    _ end: String, _ item: (inout Grammar) -> Item?
  ) -> [Item]? {
    if isAt(end) { return [] }
    var items: [Item] = []
    repeat {
      guard let next = item(&self) else { return nil }
      items.append(next)
    } while isAt(",")
    return isAt(end) ? items : nil
  }

  private mutating func string() -> String? {
    guard isAt(""), let match = rest.prefixMatch(of: text) else { return nil }
    rest = rest[match.range.upperBound...]
    let escapes: [Unicode.Scalar: String] = [
      "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]
    var units: [UInt16] = []
    var scalars = match.output.unicodeScalars.dropFirst().dropLast()
    while let scalar = scalars.popFirst() {
      if scalar != "\\" {
        units += String(scalar).utf16
      } else if let escape = scalars.popFirst(), escape != "u" {
        units += (escapes[escape] ?? String(escape)).utf16
      } else {
        units.append(UInt16(String(scalars.prefix(4)), radix: 16) ?? 0)
        scalars.removeFirst(4)
      }
    }
    return String(validating: units, as: UTF16.self)
  }
}
