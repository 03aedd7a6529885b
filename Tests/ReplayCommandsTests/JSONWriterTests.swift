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

  @Test("RPL-5 a character that needs an escape is found in every place of a text of any length")
  func places() {
    for length in 1...50 {
      for (character, written) in [("\"", "\\\""), ("\u{1F}", "\\u001f"), ("\u{85}", "\\u0085")] {
        let place = length * 7 % (length + 1)
        let before = String(repeating: "a", count: place)
        let after = String(repeating: "~", count: length - place)
        var json = JSONWriter()
        json.value(before + character + after)
        #expect(json.text == "\"\(before)\(written)\(after)\"")
      }
    }
  }
}
