import Testing

@testable import SessionJSON
@testable import SessionKit

@Suite("JSON")
struct JSONReaderTests {
  @Test("each kind of value is read as its own case")
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

  @Test("REF-7 a number of any size is its nearest double, and keeps its digits if it is whole")
  func numbers() throws {
    let long = String(repeating: "9", count: 100_000)
    for (text, value, integer) in [
      ("1", 1, "1"), ("-0", 0, "-0"), ("2.5e-1", 0.25, nil), ("1E2", 100, nil), ("1.0", 1, nil),
      ("9007199254740993", 9_007_199_254_740_992, "9007199254740993"),
      ("1e400", .infinity, nil), ("-1E+99999999999999999999", -.infinity, nil), ("1e-400", 0, nil),
      (long, .infinity, long), ("0." + long, 1, nil), ("1e" + long, .infinity, nil),
    ] as [(String, Double, String?)] {
      guard case .number(let number) = try JSONReader.read(Array(text.utf8)) else {
        Issue.record("\(text) is no number")
        continue
      }
      #expect(number.value == value)
      #expect(number.integer == integer)
    }
  }

  @Test("escapes, surrogate pairs and a byte order mark are read")
  func escapes() throws {
    let text = #""\"\\\/\b\f\n\r\t\u00fC\uD83D\uDE00é""#
    #expect(
      try JSONReader.read([0xEF, 0xBB, 0xBF] + Array(text.utf8))
        == .string("\"\\/\u{8}\u{C}\n\r\tü😀é"))
  }

  @Test(
    "a text that is not JSON is refused",
    arguments: [
      "", " ", "{", "[", "\"", "\"\\", "\"\\\"", "tru", "TRUE", "nul", "01", "1.", ".5",
      "+1",
      "-", "1e", "1e+", "0x1", "NaN", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{,}",
      "[1,]", "[,]", "[1 2]", "{\"a\":1 \"b\":2}", "1 1", "'a'", "//", "\u{A0}1",
    ])
  func broken(text: String) {
    #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array(text.utf8)) }
  }

  @Test("REF-7 the problem of a text that ends early is at its end, and of no other text")
  func cut() throws {
    func offset(_ bytes: some Sequence<UInt8>) -> Int? {
      do throws(JSONReader.Problem) {
        _ = try JSONReader.read(Array(bytes))
        return nil
      } catch { return error.offset }
    }
    let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
    let whole = Array(
      #" {"a":[1,-0.5e-1,{"b":{}}],"c":true,"d":false,"e":null,"f":"é\n\u00fC\ud83D","g":\#(deep)} "#
        .utf8)
    #expect(offset(whole) == nil)
    for index in 0..<(whole.count - 1) { #expect(offset(whole[..<index]) == index) }
    for text in [
      "{]", #"{"a":trx"#, #"{"a":00"#, #"{"a":-x"#, #"{"a":1.x"#, "{} {", "[}", "{\"a\",", "x",
    ] {
      #expect(try #require(offset(text.utf8)) < text.utf8.count, "\(text)")
    }
  }

  @Test(
    "REF-7 a string that cannot be decoded is unreadable, and the rest is read",
    arguments: [
      Array(#"\x"#.utf8), Array(#"\u12"#.utf8), Array(#"\u12g4"#.utf8), Array(#"\uD83D"#.utf8),
      Array(#"\uDE00"#.utf8), Array(#"\uD83D\u0041"#.utf8), Array(#"\uD83D\"x"#.utf8),
      [0x01], [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80],
    ] as [[UInt8]])
  func undecodable(bytes: [UInt8]) throws {
    let string = [0x22] + bytes + [0x22]
    let body = Array(#"{"a":"#.utf8) + string + Array(#","b":1,"#.utf8) + string + Array(":2}".utf8)
    #expect(
      try JSONReader.read(body) == .object(["a": .unreadable(.text), "b": number("1")]))
  }

  @Test("REF-7 a value nested beyond the limit is unreadable, and the rest is read")
  func depth() throws {
    let nested = { (depth: Int, inner: String) in
      Array(
        (String(repeating: "[", count: depth) + inner + String(repeating: "]", count: depth)).utf8)
    }
    var value = try JSONReader.read(nested(64, ""))
    var depth = 0
    while case .array(let elements) = value, let element = elements.first {
      (value, depth) = (element, depth + 1)
    }
    #expect(depth == 63 && value == .array([]))
    for count in [65, 100_000] {
      let deep = nested(count, #"{"]":"\"]}"}"#)
      let body = Array(#"{"a":"#.utf8) + deep + Array(#","b":1}"#.utf8)
      guard case .object(let members) = try JSONReader.read(body) else {
        Issue.record("it is no object")
        continue
      }
      #expect(members["b"] == number("1"))
      var value = members["a"]
      while case .array(let elements) = value { value = elements.first }
      #expect(value == .unreadable(.depth))
    }
    for broken in ["[[[", "[[[}]]", "[[[\"]]]"] {
      let open = String(repeating: "[", count: 62)
      #expect(throws: JSONReader.Problem.self) { try JSONReader.read(Array((open + broken).utf8)) }
    }
  }

  @Test("a quoted text reads back as itself")
  func quoting() throws {
    let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
    #expect(try JSONReader.read(Array(JSONValue.quoted(text + "😀").utf8)) == .string(text + "😀"))
  }

  @Test("REF-7 a value that is read in place is the value that is read whole")
  func inPlace() throws {
    let nested = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
    for text in [
      #"{"a":[1,-0,2.5e-1,true,false,null,"x"],"b":{"c":{}}}"#, "[]", #""x""#, "7", "null",
      "\u{FEFF}{}", #"{"a":1,"a":2}"#, #"{"a":"\ud800","b":"María"}"#, #"{"a":\#(nested)}"#,
      #"{"\u0061":1,"\u00e1\n":2}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}",
    ] {
      let (whole, node) = try (
        JSONReader.read(Array(text.utf8)), JSONReader.node(Array(text.utf8))
      )
      #expect(node.value == whole)
      guard case .object(let members) = whole else {
        #expect(node.member("a")?.value == nil)
        continue
      }
      for name in ["a", "b", "c", "á\n", "\u{E9}", "e\u{301}"] {
        #expect(node.member(name)?.value == members[name])
      }
    }
    for text in ["", "{", #"{"a":}"#, "{} x"] {
      #expect(throws: JSONReader.Problem.self) { try JSONReader.node(Array(text.utf8)) }
    }
  }

  @Test("REF-7 names that Unicode calls equivalent are one name, and the last one counts")
  func equivalentNames() throws {
    // The second name is the sign of the unit kelvin.
    let node = try JSONReader.node(Array("{\"K\":1,\"\u{212A}\":2,\"L\":3}".utf8))
    #expect(node.member("K")?.value == number("2"))
    #expect(node.member("\u{212A}")?.value == number("2"))
    let plain = try JSONReader.node(Array("{\"K\":1}".utf8))
    #expect(plain.member("\u{212A}")?.value == number("1"))
    #expect(node.member("L")?.value == number("3"))
    #expect(node.member("k")?.value == nil)
  }
}
