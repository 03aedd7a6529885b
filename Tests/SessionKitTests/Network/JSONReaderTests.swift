import Testing

@testable import SessionKit

@Suite("JSON")
struct JSONReaderTests {
  @Test("values are told apart")
  func values() throws {
    let text = #" {"a":[1,-0,2.5e-1,1E2,true,false,null,"x"],"b":{},"c":[],"a ":""} "#
    #expect(
      try JSONReader.read(Array(text.utf8))
        == .object([
          "a": .array([
            number("1"), number("-0"), number("2.5e-1"), number("1E2"), .bool(true), .bool(false),
            .null,
            .string("x"),
          ]), "b": .object([:]), "c": .array([]), "a ": .string(""),
        ]))
  }

  private func number(_ text: String) -> JSONValue {
    JSONNumber(text).map(JSONValue.number) ?? .null
  }

  @Test("a number is its nearest double, and its own digits where it is whole")
  func numbers() throws {
    for (text, value, integer) in [
      ("1", 1, "1"), ("-0", 0, "-0"), ("2.5e-1", 0.25, nil), ("1E2", 100, nil), ("1.0", 1, nil),
      ("9007199254740993", 9_007_199_254_740_992, "9007199254740993"),
    ] as [(String, Double, String?)] {
      guard case .number(let number) = try JSONReader.read(Array(text.utf8)) else {
        Issue.record("\(text) is no number")
        continue
      }
      #expect(number.value == value)
      #expect(number.integer == integer)
    }
  }

  @Test("escapes, surrogate pairs and a byte order mark")
  func escapes() throws {
    let text = #""\"\\\/\b\f\n\r\t\u00fC\uD83D\uDE00é""#
    #expect(
      try JSONReader.read([0xEF, 0xBB, 0xBF] + Array(text.utf8))
        == .string("\"\\/\u{8}\u{C}\n\r\tü😀é"))
  }

  @Test(
    "what JSON is not",
    arguments: [
      "", " ", "{", "[", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\uD83D\"",
      "\"\\uDE00\"", "\"\\uD83D\\u0041\"", "\"\u{1}\"", "tru", "TRUE", "nul", "01", "1.", ".5",
      "+1",
      "-", "1e", "1e+", "1e999", "0x1", "NaN", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{,}",
      "[1,]", "[,]", "[1 2]", "{\"a\":1 \"b\":2}", "1 1", "'a'", "//", "\u{A0}1",
    ])
  func broken(text: String) {
    #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(text.utf8)) }
  }

  @Test("bytes that are no UTF-8 are refused")
  func encoding() {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] {
      #expect(throws: JSONReader.Problem.self) { try JSONReader.read([0x22] + bytes + [0x22]) }
    }
  }

  @Test("nesting has a bound")
  func depth() throws {
    let nested = { (depth: Int) in
      Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try JSONReader.read(nested(64))
    #expect(throws: JSONReader.Problem.self) { try JSONReader.read(nested(65)) }
    #expect(throws: JSONReader.Problem.self) { try JSONReader.read(nested(100_000)) }
  }

  @Test("a quoted text reads back as itself")
  func quoting() throws {
    let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
    #expect(try JSONReader.read(Array(JSONValue.quoted(text + "😀").utf8)) == .string(text + "😀"))
  }
}
