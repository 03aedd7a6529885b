import SessionTestKit
import Testing

@Suite("TST-1: replay codes")
struct ReplayCodeTests {
  @Test("TST-1: a replay code is read in any case and with hyphens")
  func roundTrip() throws {
    for seed: UInt64 in 0..<300 {
      let choices = Choices(seed: seed)
      let count = choices.draw(in: 0...40)
      let draws = (0..<count).map { _ in
        UInt64(bitPattern: Int64(choices.draw(in: .min ... .max)))
      }
      let code = ReplayCode(property: "a name", draws: draws + [1, 0, 0])
      let read = try ReplayCode("-" + code.text.lowercased() + "-")
      let misread = code.text.replacing("0", with: "O").replacing(
        "1", with: seed % 2 == 0 ? "I" : "l")
      #expect(try ReplayCode(misread) == code)
      #expect(read == code)
      #expect(read.draws == draws + [1])
      #expect(read.isOf(property: "a name"))
      #expect(!read.isOf(property: "another name"))
    }
  }

  @Test("TST-1: no two of a thousand properties accept each other's replay codes")
  func names() {
    let codes = (0..<1_000).map { ReplayCode(property: "property \($0)", draws: [1]) }
    #expect(Set(codes).count == 1_000)
    #expect(codes.count { $0.isOf(property: "property 7") } == 1)
  }

  @Test("TST-1: the layout of a replay code is stable")
  func golden() {
    #expect(ReplayCode(property: "p", draws: [1, 300, 0]).text == "08HY8R9906P04VT14EJG")
    #expect(ReplayCode(property: "p", draws: []).draws == [])
  }

  @Test(
    "TST-1: a replay code with a changed, missing or additional character is refused with a reason")
  func damaged() throws {
    let text = ReplayCode(property: "p", draws: [1, 300, 65_000, .max]).text
    let characters = Array(text)
    for index in characters.indices {
      var changed = characters
      changed[index] = changed[index] == "7" ? "8" : "7"
      if changed != characters {
        // The last character has unused bits.
        let read = try? ReplayCode(String(changed))
        #expect(read == nil || index == characters.count - 1)
      }
      #expect(throws: ReplayCode.Failure.self) { try ReplayCode(String(characters[..<index])) }
    }
    #expect(throws: ReplayCode.Failure.self) { try ReplayCode(text + "70") }
    #expect(throws: ReplayCode.Failure.character("!", offset: 2)) { try ReplayCode("04!") }
    #expect(throws: ReplayCode.Failure.version(255)) { try ReplayCode("ZZ") }
    #expect(throws: ReplayCode.Failure.checksum) { try ReplayCode("") }
  }
}
