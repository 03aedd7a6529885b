import ChildProcesses

#if os(Linux)
  import Foundation
  import Glibc
  @_spi(Internals) import SessionCore
  import SessionJournal
  import Testing

  @testable import ReplayCommands

  /// The program on a terminal.
  @Suite("step, on a real terminal", .timeLimit(.minutes(10)))
  struct StepTerminalTests {
    private let folder: TemporaryFolder
    private var journal: String { folder.file("a.journal") }

    init() throws {
      folder = try TemporaryFolder()
      try Journals.write(into: folder)
    }

    private func step(
      _ arguments: [String], rows: Int = 24, columns: Int = 100,
      environment: [String: String] = [:],
      input: String? = nil
    ) throws -> PseudoTerminal {
      try PseudoTerminal(
        try ToolRun.binary(), ["step"] + arguments, rows: rows, columns: columns,
        environment: environment, input: input)
    }

    /// The screen that the model shows after these keys; it has the file's name without its folder.
    private func expected(_ keys: String, rows: Int = 24, columns: Int = 100) throws -> String {
      var source = try StepFile(JournalFile(path: journal, name: journal))
      var model = StepModel(
        name: "a.journal", isColored: true, size: ScreenSize(rows: rows, columns: columns))
      model.begin(&source)
      for key in stepKeys(keys) { _ = model.handle(key, &source) }
      return model.screen(&source).text
    }

    /// Waits until the terminal is as it was before the program started.
    private func isGivenBack(_ terminal: PseudoTerminal) throws {
      try terminal.screen("the terminal as it was") { Self.isAsBefore($0) }
    }

    private static func isAsBefore(_ grid: TerminalGrid) -> Bool {
      !grid.isAlternate && grid.isCursorVisible && grid.isWrapping && !grid.isPasteMarked
        && grid.strange.isEmpty
    }

    @Test("RPL-1 step opens at the last end and restores the terminal")
    func opens() throws {
      let terminal = try step([journal])
      let wanted = try expected("")
      let grid = try terminal.screen("the first screen") { $0.text == wanted }
      #expect(grid.isAlternate && !grid.isCursorVisible && !grid.isWrapping && grid.isPasteMarked)
      #expect(grid.text(with: "7").contains { $0.contains("→ unauthenticated") })
      #expect(grid.strange.isEmpty)
      terminal.press("q")
      #expect(try terminal.end() == 0)
      let line = "sessionreplay step \(journal) --at @22"
      try terminal.screen("the line that comes back") {
        $0.text.replacing("\n", with: "").contains(line)
      }
      try isGivenBack(terminal)
    }

    @Test(
      "the terminal's mode is the same after each way to leave",
      arguments: ["q", "\u{1B}", "\u{3}"])
    func mode(key: String) throws {
      let terminal = try step([journal])
      try terminal.shows("│ * state".replacing("* ", with: "  "))
      let raw = try terminal.mode()
      terminal.press(key)
      #expect(try terminal.end() == (key == "\u{3}" ? 130 : 0))
      let after = try terminal.mode()
      #expect(raw != after)
      let fresh = try PseudoTerminal("/bin/true", [])
      _ = try fresh.end()
      #expect(try fresh.mode() == after)
      try isGivenBack(terminal)
    }

    @Test("RPL-1 forty keys result in the expected screen, one at a time and all at once")
    func keys() throws {
      let keys =
        "g j j l → ↓ space n n N e E ] [ o o PgDn PgUp f b G g : @12 Enter m j j m t t Enter q H j k "
        + "Esc ? response Enter"
      #expect(stepKeys(keys).count >= 40)
      let codes: [StepKey: String] = [
        .right: "\u{1B}[C", .down: "\u{1B}OB", .enter: "\r", .pageDown: "\u{1B}[6~",
        .pageUp: "\u{1B}[5~", .escape: "\u{1B}",
      ]
      let pressed = stepKeys(keys).map { key -> String in
        if case .character(let scalar) = key { return String(scalar) }
        return codes[key] ?? ""
      }
      let wanted = try expected(keys)
      let slow = try step([journal])
      // A pause tells Esc from the beginning of a sequence: wait for its screen.
      let pause = try #require(pressed.firstIndex(of: "\u{1B}"))
      for key in pressed[..<pause] { slow.press(key) }
      try slow.shows(" Keys ─")
      slow.press("\u{1B}")
      try slow.screen("the records behind the page") { !$0.text.contains(" Keys ─") }
      for key in pressed[(pause + 1)...] { slow.press(key) }
      #expect(try slow.screen("the last screen") { $0.text == wanted }.strange.isEmpty)
      let fast = try step([journal])
      fast.press(pressed.joined().replacing("\u{1B}?", with: "q?"))
      #expect(try fast.screen("the last screen") { $0.text == wanted }.strange.isEmpty)
      for terminal in [slow, fast] {
        terminal.press("q")
        #expect(try terminal.end() == 0)
      }
    }

    @Test(
      "RPL-5 the bytes of a key may arrive late, and Esc alone still leaves", arguments: [30, 300])
    func lateBytes(milliseconds: Int) throws {
      let wanted = try expected("g j j")
      for attempt in 1... {
        let terminal = try step([journal])
        terminal.press("gj")
        let start = ContinuousClock.now
        for byte in ["\u{1B}", "[", "B"] {
          terminal.press(byte)
          Thread.sleep(forTimeInterval: Double(milliseconds) / 1_000)
        }
        // A busy machine may have delayed this thread longer than step waits for a key.
        let isLate = ContinuousClock.now - start > .milliseconds(3 * milliseconds + 500)
        if isLate, attempt < 20 { continue }
        #expect(try terminal.screen("the next record") { $0.text == wanted }.strange.isEmpty)
        terminal.press("\u{1B}")
        #expect(try terminal.end() == 0)
        return
      }
    }

    @Test("RPL-5 ESCDELAY sets how long Esc waits for the rest of a key")
    func escapeDelay() throws {
      let terminal = try step([journal], environment: ["ESCDELAY": "60000"])
      terminal.press("gj")
      terminal.press("\u{1B}")
      // A signal that ends the wait does not count as elapsed time.
      terminal.resize(rows: 30, columns: 100)
      let wanted = try expected("g j j", rows: 30)
      terminal.press("[B")
      #expect(try terminal.screen("the next record") { $0.text == wanted }.strange.isEmpty)
      terminal.press("q")
      #expect(try terminal.end() == 0)
    }

    @Test("a resized window is drawn anew, even if it is too small")
    func resize() throws {
      let terminal = try step([journal], rows: 30, columns: 120)
      let first = try expected("", rows: 30, columns: 120)
      try terminal.screen("the first screen") { $0.text == first }
      for (rows, columns) in [(24, 80), (12, 60), (50, 200), (5, 20), (40, 100)] {
        terminal.resize(rows: rows, columns: columns)
        let wanted = try expected("", rows: rows, columns: columns)
        try terminal.screen("\(columns) × \(rows)") { $0.text == wanted }
      }
      #expect(terminal.grid.strange.isEmpty)
      terminal.press("q")
      #expect(try terminal.end() == 0)
    }

    @Test("a search and a selector are entered at the bottom, at the cursor")
    func prompt() throws {
      let terminal = try step([journal])
      try terminal.shows("▶")
      terminal.press("g/no rep")
      let grid = try terminal.shows(" /no rep")
      #expect(grid.isCursorVisible && grid.row == 23 && grid.column == 8)
      terminal.press("\u{7F}\u{7F}\u{7F}response\r")
      try terminal.screen("the record that has it") { $0.text.contains("@10  10 of 27") }
      terminal.press(":\u{1B}[200~@12\r\u{1B}[201~\r")
      try terminal.screen("what was pasted") { $0.text.contains("@12  12 of 27") }
      terminal.press("/nothing like it\r")
      let missed = try terminal.shows("'nothing like it' is in no record.")
      #expect(missed.bells == 1 && !missed.isCursorVisible)
      terminal.press("q")
      #expect(try terminal.end() == 0)
    }

    @Test(
      "RPL-5 a signal ends step with the terminal restored",
      arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGINT, 130)] as [(Int32, Int32)])
    func signals(number: Int32, code: Int32) throws {
      let terminal = try step([journal])
      try terminal.shows("▶")
      terminal.signal(number)
      #expect(try terminal.end() == code)
      try isGivenBack(terminal)
      let after = try terminal.mode()
      let fresh = try PseudoTerminal("/bin/true", [])
      _ = try fresh.end()
      #expect(try fresh.mode() == after)
    }

    @Test("Ctrl-Z returns the terminal to the shell, and fg restores the screen")
    func suspend() throws {
      let script = """
        set -m
        "$0" step "$1" --at @12
        echo "stopped with $?: $(stty -a | grep -o -E -- '-?icanon|-?isig')"
        fg > /dev/null
        echo "left with $?"
        """
      let terminal = try PseudoTerminal(
        "/bin/bash", ["-c", script, try ToolRun.binary(), journal], rows: 24, columns: 200)
      try terminal.shows("@12  12 of 27")
      terminal.press("\u{1A}")
      // The shell shows its line on the normal screen. After fg, step draws its own screen.
      try terminal.screen("the screen again") {
        $0.isAlternate && $0.text.contains("@12  12 of 27")
      }
      terminal.press("jq")
      #expect(try terminal.end() == 0)
      let grid = try terminal.shows("left with 0")
      // 128 plus the number of the stop signal.
      #expect(grid.text.contains("stopped with \(128 + SIGTSTP):"))
      #expect(grid.text.contains("isig") && !grid.text.contains("-isig"))
      #expect(grid.text.contains("icanon") && !grid.text.contains("-icanon"))
      #expect(grid.text.contains("--at @13"))
      try isGivenBack(terminal)
    }

    @Test("step draws anew after another process stops and continues it")
    func continued() throws {
      let terminal = try step([journal])
      let wanted = try expected("")
      try terminal.screen("the first screen") { $0.text == wanted }
      // A new size clears the grid of this test, but not the program's copy of the screen.
      terminal.signal(SIGSTOP)
      terminal.resize(rows: 24, columns: 100)
      terminal.signal(SIGCONT)
      try terminal.screen("the same screen") { $0.text == wanted && $0.isAlternate }
      terminal.press("q")
      #expect(try terminal.end() == 0)
    }

    @Test("closing the window ends step")
    func closedWindow() throws {
      let terminal = try step([journal])
      try terminal.shows("▶")
      terminal.close()
      #expect(try terminal.end() == 129)
    }

    @Test("JRN-1 a journal that grows is shown up to its new end")
    func growth() throws {
      let path = folder.file("live.journal")
      let live = try Journal.open(at: path)
      let append = { (content: SessionRecord.Content) in
        let (kind, payload) = SessionCodec.encode(content, at: SampleJournal.start)
        _ = try live.append([JournalDraft(kind: kind, payload: payload)])
      }
      let terminal = try step([path])
      try terminal.shows("There are no records in this journal yet.")
      try append(.note(.clockSkew(1_000)))
      try terminal.shows("1 of 1")
      for number in 2...30 { try append(.note(.clockSkew(Int64(number) * 1_000))) }
      try terminal.shows("1 of 30")
      terminal.press("G")
      try terminal.shows("30 of 30")
      try append(.event(.login(login)))
      terminal.press("j")
      try terminal.screen("the login") { $0.text.contains("@31  31 of 31") }
      terminal.press("q")
      #expect(try terminal.end() == 0)
      try live.close()
    }

    private static func withoutSpaces(_ text: String) -> String {
      text.filter { !$0.isWhitespace }
    }

    private var login: SessionEvent.Login {
      .init(user: SampleJournal.user, method: .password, token: SampleJournal.token(1, at: 0))
    }

    @Test("RPL-5 a damaged journal is shown up to its damage with code 65; a torn one gives 2")
    func damaged() throws {
      let damaged = try step([folder.file("damaged.journal")], columns: 200)
      // One word, since the length of the folder's path decides between which words the line breaks.
      try damaged.shows("mismatch")
      damaged.press("Gjq")
      #expect(try damaged.end() == 65)
      let said = try damaged.shows("Error: ")
      #expect(
        Self.withoutSpaces(said.text)
          .contains(Self.withoutSpaces("Everything before it is good and was shown.")))
      #expect(said.bells >= 1)
      try isGivenBack(damaged)
      let torn = try step([folder.file("torn.journal")])
      try torn.shows("unfinished")
      torn.press("q")
      #expect(try torn.end() == 2)
    }

    @Test("a journal from standard input is shown, with keys from the terminal")
    func standardInput() throws {
      let terminal = try step(["-"], input: journal)
      try terminal.shows("standard input  @22")
      terminal.press("gq")
      #expect(try terminal.end() == 0)
      #expect(!terminal.grid.text.contains("sessionreplay step"))
    }

    @Test("without colours a star marks a changed field, and no text has an attribute")
    func noColor() throws {
      for (environment, arguments) in [(["NO_COLOR": "1"], []), ([:], ["--color", "never"])] {
        let terminal = try step([journal] + arguments, environment: environment)
        let grid = try terminal.shows("│ * state")
        #expect(grid.cells.allSatisfy { $0.allSatisfy { $0.attribute == "0" } })
        terminal.press("q")
        #expect(try terminal.end() == 0)
      }
    }

    @Test(
      "RPL-5 step without a terminal is refused before reading, and the error names alternatives")
    func noTerminal() throws {
      for line in ["\"$0\" step \"$1\"", "\"$0\" step \"$1\" | cat; exit 64"] {
        let run = try ToolRun.shell(line, [journal])
        #expect(run.code == 64)
        #expect(run.output.isEmpty)
        #expect(
          run.errors.contains("is no terminal") && run.errors.contains("sessionreplay timeline"))
      }
    }

    @Test("a terminal that cannot be drawn on is refused and not changed")
    func dumbTerminal() throws {
      let terminal = try step([journal], environment: ["TERM": "dumb"])
      #expect(try terminal.end() == 64)
      try terminal.shows("sessionreplay timeline")
      #expect(terminal.grid.strange.isEmpty)
    }

    @Test("step --at begins at that record, or reports why it cannot")
    func begins() throws {
      let terminal = try step([journal, "--at", "@12", "--kind", "requestSent"])
      try terminal.shows("@12  12 of 27+".replacing("+", with: ""))
      terminal.press("nq")
      #expect(try terminal.end() == 0)
      try terminal.shows("--at @13")
      let beyond = try step([journal, "--at", "@99"])
      #expect(try beyond.end() == 64)
      // A line may break at any letter: the name of the folder for temporary files decides where.
      try beyond.screen("the reason") {
        $0.text.filter { !$0.isWhitespace }.contains("Thelastrecordis@27.")
      }
      try isGivenBack(beyond)
    }
  }
#endif
