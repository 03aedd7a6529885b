import SessionJSON
import SessionTestKit
import Testing

/// The flat structure of a JSON text, compared with its tree.
@Suite("JSONTape")
struct JSONTapeTests {
  /// Lines with each form of a value.
  private static let lines = [
    #"{"v":1,"class":"event","facts":{"token":{"id":null,"is":true},"list":["a","é\u00e9",[]]}}"#,
    #"{"a":-0,"b":-12.50e+3,"c":0.0,"\u0061":18446744073709551615,"d":{}, "e" : [ 1 , 2 ]}"#,
    #" [false,"\"\\\/\b\f\n\r\t\ud83d\ude00",9223372036854775808,-9223372036854775808] "#,
    #""x""#, "0", "null", "{}",
  ]

  private func tree(_ part: JSONPart) -> JSONTree {
    switch part.kind {
    case .object:
      var members = JSONPart.Members(part)
      let keys = members?.keys ?? []
      return .object(
        keys.map { key in
          JSONTree.Member(key: key, value: members?.find(key).map { tree($0.value) } ?? .null)
        })
    case .array: return .array(part.elements.map(tree))
    case .text: return .text(part.text ?? "")
    case .number: return .number(part.spelling)
    case .yes: return .flag(true)
    case .no: return .flag(false)
    case .null: return .null
    }
  }

  private func tree(_ bytes: [UInt8]) -> JSONTree? {
    do throws(JSONTree.Problem) { return try JSONTree(bytes[...]) } catch { return nil }
  }

  private func read(_ text: String) -> JSONTape? {
    var tape = JSONTape()
    return tape.read(Array(text.utf8)[...]) ? tape : nil
  }

  @Test("RPL-4 a tape accepts what a tree accepts, and has the same values")
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
        var tape = JSONTape()
        let isRead = tape.read(bytes[...])
        let expected = tree(bytes)
        choices.label(isRead ? "JSON" : "no JSON")
        try choices.require(isRead == (expected != nil), "\(bytes)")
        if isRead { try choices.require(tree(tape.root) == expected, "\(bytes)") }
      }
    expect(report)
    #expect(report.coverage == .replayed || report.labels["JSON"] ?? 0 > 300, "\(report.labels)")
  }

  @Test("RPL-4 a tape refuses what is nested too deep, and a key that occurs twice among many")
  func bounds() {
    var tape = JSONTape()
    func agree(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      let isRead = tape.read(bytes[...])
      #expect(isRead == (tree(bytes) != nil))
      return isRead
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
          var tape = JSONTape()
          let isRead = tape.read([0x22] + text[...] + [0x22])
          // A byte beyond ASCII alone is not UTF-8, and no escape is an `a`.
          let isAllowed =
            (0x20..<0x80).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
          #expect(isRead == isAllowed)
          if isRead { #expect(tape.root.text == String(decoding: text, as: UTF8.self)) }
        }
      }
    }
  }
}
