import SessionTestKit
import Testing

@Suite("TST-1: choices")
struct ChoicesTests {
  @Test("TST-1: a seed gives the same draws on every platform")
  func golden() {
    let choices = Choices(seed: 7)
    let drawn = (0..<4).map { _ in choices.draw(below: 1_000) } + [choices.draw(below: 6)]
    #expect(drawn == choices.recorded)
    #expect(drawn == [16, 582, 249, 328, 0])
  }

  @Test("TST-1: draws stay within their bounds, including the ends of the number range")
  func bounds() {
    for seed: UInt64 in 0..<300 {
      let choices = Choices(seed: seed)
      #expect(choices.draw(below: 10) < 10)
      #expect((-3...3).contains(choices.draw(in: -3...3)))
      _ = choices.draw(in: .min ... .max)
      #expect((Int.max - 1...Int.max).contains(choices.draw(in: Int.max - 1...Int.max)))
      #expect((Int.min...Int.min + 1).contains(choices.draw(in: Int.min...Int.min + 1)))
    }
    let least = Choices(replaying: [])
    #expect(least.draw(in: .min ... .max) == .min)
    #expect(least.draw(in: -3...3) == -3)
    let greatest = Choices(replaying: [.max, .max, .max])
    #expect(greatest.draw(in: .min ... .max) == .max)
    #expect(greatest.draw(in: -3...3) == 3)
    #expect(greatest.draw(below: .max) == UInt64.max - 1)
    #expect(greatest.recorded == [.max, 6, .max - 1])
  }

  @Test("TST-1: a draw with one possible value records nothing")
  func noChoice() {
    let choices = Choices(seed: 1)
    #expect(choices.draw(below: 0) == 0)
    #expect(choices.draw(below: 1) == 0)
    #expect(choices.draw(in: 5...5) == 5)
    #expect(choices.pick([Int]()) == nil)
    #expect(choices.pick(["one"]) == "one")
    #expect(choices.chance(0, in: 3) == false)
    #expect(choices.chance(3, in: 3))
    #expect(choices.recorded.isEmpty)
  }

  @Test("TST-1: after the end of a replay every draw has the simplest value")
  func pastTheEnd() {
    let choices = Choices(replaying: [2])
    #expect(choices.pick(["a", "b", "c"]) == "c")
    #expect(choices.pick(["a", "b", "c"]) == "a")
    #expect(choices.chance(99, in: 100) == false)
    #expect(choices.recorded == [2, 0, 0])
  }

  @Test("TST-1: a replay makes the recorded draws")
  func replay() {
    let generator = Generator.integer(in: -9...9).list(2...20).optional().flatMap { list in
      Generator.any(of: .always([]), .always(list ?? [0]))
    }.map { $0.map(String.init).joined(separator: ",") }
    var kinds: Set<String> = []
    for seed: UInt64 in 0..<200 {
      let first = Choices(seed: seed)
      let value = generator(first)
      let again = Choices(replaying: first.recorded)
      #expect(generator(again) == value)
      #expect(again.recorded == first.recorded)
      kinds.insert(value)
    }
    #expect(kinds.count > 30)
  }

  @Test("TST-1: pairs and elements are drawn in their order")
  func pairs() {
    let pair = Generator.integer(in: 0...9).zip(.element(of: "a", "b"))
    #expect(pair(Choices(replaying: [7, 1])) == (7, "b"))
  }

  @Test("TST-1: a chance occurs with its stated frequency")
  func chance() {
    let choices = Choices(seed: 3)
    let hits = (0..<10_000).count { _ in choices.chance(1, in: 4) }
    #expect((2_300...2_700).contains(hits))
  }

  @Test("TST-1: small draws are uniform, and wide draws include both ends")
  func spread() {
    let choices = Choices(seed: 5)
    var counts = [0, 0, 0, 0, 0, 0]
    for _ in 0..<6_000 { counts[Int(choices.draw(below: 6))] += 1 }
    #expect(counts.allSatisfy { (850...1_150).contains($0) })
    let wide = (0..<600).map { _ in choices.draw(below: 1_000_000_000) }
    #expect(wide.contains(0))
    #expect(wide.contains(999_999_999))
    #expect(wide.contains { (1_000_000...999_000_000).contains($0) })
  }

  @Test("TST-1: a generator that never stops is ended")
  func endless() {
    let choices = Choices(seed: 1)
    var count = 0
    while choices.draw(below: 1_000) != 0 || count < 70_000 { count += 1 }
    #expect(choices.recorded.count == 65_536)
  }

  @Test(
    "TST-1: spans and steps work in asynchronous bodies, and steps cost nothing without tracing")
  func asynchronous() async {
    let choices = Choices(seed: 1)
    let value = await choices.span {
      await Task.yield()
      return choices.draw(below: 5)
    }
    let other = choices.span { choices.draw(below: 5) }
    #expect(choices.recorded == [value, other])
    var told = 0
    func tell() -> String {
      told += 1
      return "told"
    }
    choices.step(tell(), state: tell())
    #expect(told == 0)
    let replay = Choices(replaying: [])
    replay.step("one")
    replay.step("two", state: "done")
    #expect(replay.steps == [Step("one"), Step("two", state: "done")])
  }
}

@Suite("TST-1: replay codes")
struct ReplayCodeTests {
  @Test("TST-1: a replay code is read in any case and with hyphens")
  func roundTrip() throws {
    for seed: UInt64 in 0..<300 {
      let choices = Choices(seed: seed)
      let count = choices.draw(in: 0...40)
      let draws = (0..<count).map { _ in UInt64(bitPattern: Int64(choices.draw(in: .min ... .max)))
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
