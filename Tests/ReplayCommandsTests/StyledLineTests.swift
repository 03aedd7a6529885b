import ChildProcesses
import Testing

@testable import ReplayCommands

@Suite("RPL-3 text on a terminal")
struct StyledLineTests {
  @Test("a long line is broken between words, and goes on below the text that it belongs to")
  func wrapping() {
    let line = StyledLine("Do         look at the server's log near the end of the session")
    #expect(
      line.wrapped(to: 40) == [
        "Do         look at the server's log near", "           the end of the session",
      ])
    #expect(StyledLine("short").wrapped(to: 40) == ["short"])
    #expect(StyledLine("one two three").wrapped(to: 8) == ["one two", "  three"])
    let long = String(repeating: "x", count: 50)
    #expect(StyledLine("a \(long) b").wrapped(to: 40) == ["a", "  \(long)", "  b"])
  }

  @Test("a cut line ends with an ellipsis, and codes for colours have no width and stay")
  func cutting() {
    #expect(StyledLine("abcdef").cut(to: 6) == "abcdef")
    #expect(StyledLine("abcdef").cut(to: 5) == "abcd…")
    let red = "\u{1B}[31mabcdef\u{1B}[0m"
    #expect(StyledLine(red).cut(to: 6) == red)
    #expect(StyledLine(red).cut(to: 4) == "\u{1B}[31mabc…\u{1B}[0m")
    #expect(StyledLine("学校学校").cut(to: 5) == "学校…")
  }

  @Test("RPL-3 why fits into the terminal, and a pipe has whole lines")
  func why() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let path = folder.file("a.journal")
    let whole = ToolRun.inProcess(["why", path]).output
    func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
    for columns in [60, 80, 120] {
      let run = ToolRun.inProcess(
        ["why", path, "--color", "never"], environment: ["COLUMNS": "\(columns)"], isTerminal: true)
      let lines = run.output.split(separator: "\n")
      #expect(lines.allSatisfy { $0.count <= columns }, "\(columns)")
      #expect(words(run.output) == words(whole))
    }
    let hundred = ToolRun.inProcess(["why", path, "--color", "never"], isTerminal: true).output
    #expect(hundred.split(separator: "\n").allSatisfy { $0.count <= 100 })
    let pipe = ToolRun.inProcess(["why", path], environment: ["COLUMNS": "60"])
    #expect(pipe.output == whole)
    let fitted = ToolRun.inProcess(
      ["timeline", path, "--fit"], environment: ["COLUMNS": "70", "NO_COLOR": "1"], isTerminal: true
    )
    #expect(fitted.output.split(separator: "\n").map(\.count).max() == 70)
    #expect(
      ToolRun.inProcess(["timeline", path, "--fit"]).output
        == ToolRun.inProcess(["timeline", path]).output)
  }
}
