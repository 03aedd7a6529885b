import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionJSON

@Suite("JSON for programs")
struct JSONWriterTests {
  @Test(
    "RPL-5 the JSON writer escapes line ends, cursor moves and direction marks, and no other character",
    arguments: [
      ("a\u{2028}b", "a\\u2028b"), ("a\u{202E}b", "a\\u202eb"), ("a\u{85}b", "a\\u0085b"),
      ("a\u{1B}[31m", "a\\u001b[31m"), ("\"\\\n\t", "\\\"\\\\\\n\\t"), ("né 日 ✓", "né 日 ✓"),
    ])
  func escapes(text: String, written: String) {
    var json = JSONWriter()
    json.object { $0.field("name", text) }
    #expect(json.text == "{\"name\":\"\(written)\"}")
  }

  @Test("RPL-5 a name from elsewhere is escaped, also after another member")
  func anyName() {
    var json = JSONWriter()
    json.object { json in
      json.field("first", 1)
      json.member(named: "a\"b") { $0.value(2) }
      json.object("last") { _ in }
    }
    #expect(json.text == #"{"first":1,"a\"b":2,"last":{}}"#)
  }

  @Test("RPL-5 a text of any length is escaped at each place, and only for these characters")
  func everyPlace() {
    // The writer looks at eight bytes at a time.
    let all = (UInt8.min...0x7F).map({ Unicode.Scalar($0) }) + ["é", "\u{2028}", "\u{9F}"]
    for scalar in Sweep("escapes", takingOneOf: 4).places(of: all) {
      let isEscaped = scalar.isUnprintable || scalar == "\"" || scalar == "\\"
      for length in 0...17 {
        for place in 0...length {
          let text =
            String(repeating: "k", count: place) + String(scalar)
            + String(repeating: "~", count: length - place)
          var json = JSONWriter()
          json.value(text)
          let isWritten = json.text == "\"\(text)\""
          if isWritten == isEscaped { Issue.record("\(scalar.escaped(asASCII: true)) at \(place)") }
        }
      }
    }
  }
}
