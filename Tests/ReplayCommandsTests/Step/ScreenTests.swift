import Testing

@testable import ReplayCommands

@Suite("Screens")
struct ScreenTests {
  @Test("the width of a text is the sum of its scalars' widths on a terminal")
  func width() {
    let cases: [(String, Int)] = [
      ("", 0), ("abc", 3), ("São", 3), ("Sa\u{303}o", 3), ("日本", 4), ("ｆ", 2), ("한국", 4),
      ("😀", 2), ("▶◂▸│─…", 6), ("\u{200B}", 0), ("👩‍🏫", 4), ("🇵🇹", 2), ("é", 1), ("☕", 2),
    ]
    for (text, width) in cases { #expect(DisplayWidth.of(text) == width, "\(text)") }
    for (left, right) in zip(DisplayWidth.wide, DisplayWidth.wide.dropFirst()) {
      #expect(left.upperBound < right.lowerBound)
    }
  }

  @Test("a text that is cut fits its width and ends with …")
  func cut() {
    #expect(DisplayWidth.cut("abcdef", 6) == "abcdef")
    #expect(DisplayWidth.cut("abcdef", 5) == "abcd…")
    #expect(DisplayWidth.cut("日本語", 5) == "日本…")
    #expect(DisplayWidth.cut("日本語", 4) == "日…")
    #expect(DisplayWidth.cut("Sa\u{303}o Paulo", 3) == "Sa\u{303}…")
    #expect(DisplayWidth.cut("abc", 0) == "")
    for columns in 0...12 {
      #expect(DisplayWidth.of(DisplayWidth.cut("日本語のテキスト", columns)) <= columns)
    }
  }

  @Test("a line takes no more than its columns, and skipped columns are blank")
  func line() {
    var line = ScreenLine(columns: 12)
    line.append("ab")
    line.skip(to: 4)
    line.append("日本", .good)
    line.append("more than there is room for", upTo: 11)
    line.append("x")
    line.append("nothing")
    #expect(line.text == "ab  日本mo…x")
    #expect(line.width == 12)
    #expect(line.spans.map(\.column) == [0, 4, 8, 11])
  }

  /// Screens with any texts, some lines alike.
  private func randomScreen(_ size: ScreenSize, _ generator: inout some RandomNumberGenerator)
    -> Screen
  {
    let texts = ["", "a", "日本", "São João", "x y z", String(repeating: "long ", count: 30), "😀!"]
    let lines = (0..<size.rows).map { _ in
      var line = ScreenLine(columns: size.columns)
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        let role = ScreenRole.allCases.randomElement(using: &generator) ?? .plain
        line.append(texts.randomElement(using: &generator) ?? "", role)
        if Bool.random(using: &generator) {
          line.skip(to: Int.random(in: 0...size.columns, using: &generator))
        }
      }
      return line
    }
    let cursor = Screen.Cell(
      row: Int.random(in: 0..<size.rows, using: &generator),
      column: Int.random(in: 0..<size.columns, using: &generator))
    return Screen(size, lines, cursor: Bool.random(using: &generator) ? cursor : nil)
  }

  @Test(
    "drawing only the differences has the same result as drawing the whole screen",
    arguments: [true, false])
  func difference(isColored: Bool) {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<150 {
      let size = ScreenSize(rows: 6, columns: 24)
      var grid = TerminalGrid(rows: 6, columns: 24)
      var old: Screen?
      for _ in 0..<6 {
        let new = randomScreen(size, &generator)
        grid.feed(new.bytes(replacing: old, isColored: isColored))
        var fresh = TerminalGrid(rows: 6, columns: 24)
        fresh.feed(new.bytes(replacing: nil, isColored: isColored))
        let isSame = grid.cells == fresh.cells
        #expect(isSame)
        #expect(grid.text == new.text)
        #expect(grid.isCursorVisible == (new.cursor != nil))
        #expect(grid.strange.isEmpty)
        #expect(isColored || grid.cells.allSatisfy { $0.allSatisfy { $0.attribute == "0" } })
        old = new
      }
    }
  }

  @Test("an unchanged screen is not drawn")
  func nothing() {
    var line = ScreenLine(columns: 20)
    line.append("text", .bold)
    let screen = Screen(ScreenSize(rows: 3, columns: 20), [line])
    #expect(screen.bytes(replacing: screen, isColored: true).isEmpty)
    let text = String(decoding: screen.bytes(replacing: nil, isColored: true), as: UTF8.self)
    #expect(text == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1H\u{1B}[K\u{1B}[1mtext\u{1B}[0m\u{1B}[?25l")
  }
}
