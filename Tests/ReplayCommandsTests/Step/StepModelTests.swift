import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import ReplayCommands

/// Keys as words: `j`, `Enter`, `Ctrl-C`; any other word is typed.
func stepKeys(_ text: String) -> [StepKey] {
  text.split(separator: " ").flatMap { word -> [StepKey] in
    let named = StepAction.allCases.flatMap(\.keys).first { $0.name == word }
    return named.map { [$0] } ?? word.unicodeScalars.map { .character($0) }
  }
}

@Suite("The debugger without its terminal")
struct StepModelTests {
  static let sizes = [
    ScreenSize(rows: 24, columns: 80), ScreenSize(rows: 12, columns: 60),
    ScreenSize(rows: 50, columns: 200),
  ]

  /// The keys that are pressed first, and why.
  static let scripts: [(keys: String, why: String)] = [
    ("", "the last end of a session"),
    ("g", "the first record"),
    ("g j", "what a login changes"),
    ("G", "the last record"),
    ("g n n n", "the third event"),
    ("E", "the end before; its batch"),
    (
      "g / t_reply Backspace Backspace Backspace Backspace Backspace Backspace Backspace no Ctrl-L",
      "a search that is being entered"
    ),
    ("g / No_reply Enter", "a search that finds nothing"),
    ("g / response Enter", "a search that finds something"),
    ("g / response Enter o", "a request, from its answer"),
    (": @12 Enter", "a switch of context, with a name from a hostile server"),
    (": @16 Enter Enter", "a record as JSON"),
    ("E w", "why"),
    (": @9 Enter m : @12 Enter", "compared with a mark"),
    (": 99 Enter", "a record that is not there"),
    ("H", "the keys"),
  ]

  static func model(_ size: ScreenSize, isColored: Bool = false) -> StepModel {
    StepModel(name: "a.journal", isColored: isColored, size: size)
  }

  /// The model after these keys.
  private func play(_ keys: [StepKey], _ size: ScreenSize, _ source: inout StepArray) -> StepModel {
    var model = Self.model(size)
    model.begin(&source)
    for key in keys { _ = model.handle(key, &source) }
    return model
  }

  @Test("RPL-1 the screens of each script equal its golden file", arguments: sizes)
  func goldens(size: ScreenSize) throws {
    var text = ""
    for script in Self.scripts {
      var source = StepArray.sample
      let keys = stepKeys(script.keys).map { $0 == .character("_") ? .character(" ") : $0 }
      let model = play(keys, size, &source)
      text += "=== \(script.why): \(script.keys)\n\(model.screen(&source).text)"
    }
    let path = "Specs/Golden/step/\(size.columns)x\(size.rows).txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try text.write(to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    let isSame = text == (try Repository.text(path))
    #expect(isSame, "\(path): UPDATE_GOLDEN=1 writes it anew")
  }

  private static func isWhole(_ screen: Screen, _ size: ScreenSize) -> Bool {
    screen.size == size && screen.lines.count == size.rows
      && screen.lines.allSatisfy { DisplayWidth.of($0.text) <= size.columns }
  }

  @Test("RPL-1 any keys keep the cursor within the records and the screen within its size")
  func anyKeys() {
    let keys =
      StepAction.allCases.flatMap(\.keys) + stepKeys("Enter Enter @ 1 2 a Esc Esc x 7")
      + [.pasted("é"), .control("u"), .control("w")]
    var generator = SystemRandomNumberGenerator()
    for round in Sweep("any keys", takingOneOf: 5).places(of: 0..<70) {
      let size =
        round % 7 == 0
        ? ScreenSize(rows: 3, columns: 9) : Self.sizes[round % Self.sizes.count]
      var source = StepArray.sample
      if round % 5 == 0 { source = StepArray([], fault: "damaged") }
      if round % 11 == 0 { source.patience = 3 }
      var model = Self.model(size, isColored: round % 2 == 0)
      model.begin(&source)
      var grid = TerminalGrid(rows: size.rows, columns: size.columns)
      var shown: Screen?
      var pressed: [StepKey] = []
      for _ in 0..<40 {
        let key = keys.randomElement(using: &generator) ?? .enter
        pressed.append(key)
        _ = model.handle(key, &source)
        #expect(model.cursor < max(1, source.total.number), "\(pressed)")
        let screen = model.screen(&source)
        #expect(Self.isWhole(screen, size), "\(pressed)")
        grid.feed(screen.bytes(replacing: shown, isColored: true))
        shown = screen
        let isDrawn = grid.text == screen.text && grid.strange.isEmpty
        #expect(isDrawn, "\(pressed)")
      }
    }
  }

  @Test("RPL-1 a step forward and a step back result in the same screen", arguments: sizes)
  func forwardAndBack(size: ScreenSize) {
    var source = StepArray.sample
    var model = Self.model(size)
    var before: [Screen] = []
    for _ in source.entries.dropFirst() {
      before.append(model.screen(&source))
      #expect(model.handle(.right, &source) == nil)
    }
    #expect(model.handle(.right, &source) == .bell)
    for screen in before.reversed() {
      #expect(model.handle(.left, &source) == nil)
      let isSame = model.screen(&source) == screen
      #expect(isSame)
    }
    #expect(model.handle(.left, &source) == .bell)
  }

  @Test("RPL-1 the state at a record equals the output of state --at")
  func states() throws {
    let folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
    let source = StepArray.sample
    for place in 0..<source.entries.count {
      let run = ToolRun.inProcess([
        "state", folder.file("a.journal"), "--at", "@\(place + 1)", "--json",
      ])
      let json = try #require(run.objects().first)
      let fields = StateField.all(
        of: source.fold(before: UInt64(place + 1)), at: source.entries[place].record.time,
        zone: .utc)
      let values = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
      #expect(values["state"] == json["state"] as? String)
      let user = json["user"] as? String
      #expect(values["user"] == user.map { "\($0.prefix(8))…" } ?? "–")
      let token = json["token"] as? [String: Any]
      let generation = token?["generation"] as? Int
      #expect(generation.map { values["token"]?.hasPrefix("tok#\($0) ") == true } ?? true)
      #expect((token == nil) == (values["expires"] == "–"))
      let intents = try #require(json["intents"] as? [String: Any])
      let request = (intents["request"] as? [String: Any])?["sequence"] as? Int
      #expect((request == nil) == (values["request"] == "–"))
      if let request { #expect(values["request"]?.contains("@\(request) ") == true) }
      let revocations = try #require(intents["revocations"] as? [Int])
      #expect(
        values["to revoke"]
          == (revocations.isEmpty ? "–" : revocations.map { "tok#\($0)" }.joined(separator: ", ")))
      #expect((json["reason"] is NSNull) == (values["reason"] == "–"))
      #expect((json["method"] is NSNull) == (values["signed in"] == "–"))
      #expect((json["context"] is NSNull) == (values["context"] == "–"))
      #expect((json["failures"] is NSNull) == (values["failures"] == "–"))
    }
  }

  /// The sequence that is selected after these keys.
  private func sequence(after keys: String, kinds: KindFilter? = nil) throws -> UInt64 {
    var source = StepArray.sample
    var model = StepModel(name: "a.journal", kinds: kinds)
    for key in stepKeys(keys) { _ = model.handle(key, &source) }
    return try #require(source.record(at: model.cursor)).record.sequence
  }

  @Test("RPL-1 each key moves to the record that the page describes")
  func places() throws {
    let cases: [(keys: String, sequence: UInt64)] = [
      ("j", 2), ("l → ↓ space", 5), ("j j k", 2), ("n", 2), ("n n", 4), ("n n n N", 4),
      ("e", 15), ("e e", 22), ("e e e", 22), ("G E", 22), ("G E E", 15), ("G E E E", 15),
      ("j ]", 3), ("j ] [", 2), ("G [", 24), ("j j o", 4), ("j j o o", 3), (": 10 Enter o", 9),
      (": 9 Enter o", 10), ("o", 1), ("G", 27), ("G g", 1), ("End Home", 1), ("PgDn", 9),
      ("f f f f", 27), ("G b", 19), (": @12 Enter", 12), (": 12 Enter", 12), (": @-1 Enter", 27),
      (": @-27 Enter", 1), (": @-28 Enter", 1), (": 2026-11-21T14:00:01.149Z Enter", 3),
      (": -300ms Enter", 24), (": 15:00 Enter", 23), (": @0 Enter", 1), (": @99 Enter", 1),
      (": nonsense Enter", 1), (": @12 Esc", 1), ("/ RESPONSE Enter", 10), ("/ refresh Enter", 3),
      ("/ refresh Enter / Enter", 4), ("/ refresh Enter / Enter ? Enter", 3),
      ("G ? logout Enter", 25),
      ("G ? @22 Enter", 22), ("x", 1), ("m j j m", 3),
    ]
    for (keys, sequence) in cases { #expect(try self.sequence(after: keys) == sequence, "\(keys)") }
    let requests = try KindFilter("requestSent")
    #expect(try sequence(after: "n n", kinds: requests) == 5)
    #expect(try sequence(after: "G N", kinds: requests) == 21)
  }

  @Test("RPL-1 only changed fields are marked")
  func changes() {
    var source = StepArray.sample
    var model = Self.model(ScreenSize(rows: 24, columns: 120), isColored: true)
    func changed(_ model: StepModel) -> [String] {
      model.screen(&source).lines.flatMap(\.spans).filter { $0.role == .changed }.map(\.text)
    }
    // An opening changes no field; a login changes nearly all.
    #expect(changed(model).isEmpty)
    _ = model.handle(.right, &source)
    #expect(changed(model).contains("unauthenticated → authenticated"))
    #expect(changed(model).count == 8)
    _ = model.handle(.right, &source)
    #expect(changed(model) == ["– → refresh @3 with tok#1"])
    // Compared with a mark: everything that changed since.
    for key in stepKeys(": @2 Enter m : @4 Enter") { _ = model.handle(key, &source) }
    #expect(changed(model).map { $0.prefix(6) } == ["tok#1 ", "14:00:"])
    #expect(model.mark == 1)
    let plain = Self.model(ScreenSize(rows: 24, columns: 120))
    var login = plain
    _ = login.handle(.right, &source)
    let stars = login.screen(&source).text.split(separator: "\n").filter { $0.contains("│ * ") }
    #expect(stars.count == 8)
  }

  @Test("RPL-1 a search wraps at either end, and says so")
  func wrappedSearch() {
    var source = StepArray.sample
    var model = Self.model(ScreenSize(rows: 24, columns: 80))
    func press(_ keys: String) -> String? {
      for key in stepKeys(keys) { _ = model.handle(key, &source) }
      return model.message?.text
    }
    #expect(press("G / login Enter") == "The search went on from the first record.")
    #expect(model.cursor == 1)
    #expect(press("/ Enter") == nil)
    #expect(model.cursor == 15)
    #expect(press("/ Enter") == "The search went on from the first record.")
    #expect(model.cursor == 1)
    #expect(press("? login Enter") == "The search went on from the last record.")
    #expect(model.cursor == 15)
    #expect(press("/ xyzzy Enter") == "'xyzzy' is in no record.")
    #expect(model.cursor == 15)
    #expect(press("/ biometric Enter") == "'biometric' is in no other record.")
    #expect(model.cursor == 15)
  }

  @Test("RPL-1 the file's name and the time of each record are visible at 80 columns")
  func names() {
    var source = StepArray.sample
    for name in ["a.journal", "session-2026-11-22-quarantined.journal"] {
      var model = StepModel(name: name, isColored: false, size: ScreenSize(rows: 24, columns: 80))
      model.begin(&source)
      let lines = model.screen(&source).lines.map(\.text)
      #expect(lines[0].contains(name.prefix(20)), "\(lines[0])")
      #expect(lines[0].contains("15:00:00"), "\(lines[0])")
      #expect(lines[2..<10].allSatisfy { $0.contains(":") }, "\(lines[2..<10])")
    }
  }

  @Test("a search that is stopped says so and keeps its place")
  func stopped() {
    var source = StepArray.sample
    var model = Self.model(ScreenSize(rows: 24, columns: 80))
    source.patience = 0
    #expect(model.handle(.character("e"), &source) == nil)
    #expect(model.cursor == 0)
    #expect(model.message?.text.hasPrefix("Stopped") == true)
    _ = model.handle(.control("l"), &source)
    #expect(model.message == nil)
  }

  @Test("pages open, scroll and close; Ctrl-C and Ctrl-Z leave every page")
  func pages() {
    var source = StepArray.sample
    var model = Self.model(ScreenSize(rows: 12, columns: 60))
    for keys in ["H", "Enter", "/ text", ":"] {
      for key in stepKeys(keys) { _ = model.handle(key, &source) }
      #expect(model.mode != .browse)
      #expect(model.handle(.control("c"), &source) == .interrupt)
      #expect(model.handle(.control("z"), &source) == .suspend)
      #expect(model.handle(.escape, &source) == nil)
      #expect(model.mode == .browse)
    }
    #expect(model.handle(.escape, &source) == .leave)
    #expect(model.handle(.character("q"), &source) == .leave)
    for key in stepKeys("H G") { _ = model.handle(key, &source) }
    #expect(model.screen(&source).text.contains("old → new"))
    for key in stepKeys("g") { _ = model.handle(key, &source) }
    #expect(model.screen(&source).text.contains("the next record"))
  }

  @Test("JSON is shown with a field on each line, and long lines are wrapped")
  func json() {
    let json = #"{"a":1,"b":{"c":"x,{\"y\":","d":[]},"e":[1,2],"f":{}}"#
    #expect(
      StepPage.indented(json) == [
        "{", "  \"a\": 1,", "  \"b\": {", "    \"c\": \"x,{\\\"y\\\":\",", "    \"d\": []", "  },",
        "  \"e\": [", "    1,", "    2", "  ],", "  \"f\": {}", "}",
      ])
    let wrapped = StepPage.wrap("  " + String(repeating: "word ", count: 30), 40)
    #expect(wrapped.allSatisfy { DisplayWidth.of($0) <= 40 })
    #expect(wrapped.dropFirst().allSatisfy { $0.hasPrefix("    word") })
    let wide = StepPage.wrap(String(repeating: "日", count: 50), 41)
    #expect(wide.allSatisfy { DisplayWidth.of($0) <= 41 })
    #expect(wide.joined().filter { $0 == "日" }.count == 50)
  }
}
