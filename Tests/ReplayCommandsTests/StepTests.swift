import ChildProcesses
import Foundation
import Synchronization
import Testing

@testable import ReplayCommands

/// `step`, by what it prints for the lines that a user enters.
@Suite("Steps through a journal")
struct StepTests {
  private let journal = Repository.root.appending(path: "Specs/Journals/lost-reply.journal").path(
    percentEncoded: false)

  /// Runs the command with these lines of input.
  private func answer(_ lines: [String], _ options: [String] = [], of path: String? = nil) throws
    -> CommandAnswer
  {
    let path = path ?? journal
    let rest = Lines(lines)
    var command = try StepCommand(Arguments([path] + options, syntax: StepCommand.syntax))
    command.nextLine = { rest.next() }
    let run = command
    let file = JournalFile(path: path, name: "a.journal")
    return CommandAnswer { (context) throws(ToolError) in try run.run([file], context) }
  }

  /// The sequences of the records that it shows.
  private func shown(_ lines: [String], _ options: [String] = []) throws -> [String] {
    try answer(lines, options).output.split(separator: "\n").filter {
      $0.hasPrefix("  ") && $0.contains("Z  ")
    }.compactMap { $0.split(separator: " ").first.map(String.init) }
  }

  @Test("RPL-1 step goes on, back, to ends and to selectors, and stays if there is nothing there")
  func moves() throws {
    #expect(try shown([]) == ["10"])
    #expect(try shown(["b", "b", "", "n"]) == ["10", "9", "8", "9", "10"])
    #expect(try shown(["E", "e"]) == ["10", "9", "10"])
    #expect(try shown(["@2", "7", "@-1", "soon", "99"]) == ["10", "2", "7", "11"])
    #expect(try shown(["b"], ["--at", "@1"]) == ["1"])
    let text = try answer(["@1", "b", "E", "@-1", "n", "e", "soon", "99", "@-50"]).output
    for problem in [
      "This is the first record.", "No end of a session before this.", "This is the last record.",
      "No end of a session follows.", "'soon' is no command and no selector; h lists them.",
      "The last record is @11.", "That is before the first record, @1.",
    ] { #expect(text.contains(problem + "\n"), "\(problem)") }
  }

  @Test("RPL-1 step shows what a record changed, the whole state, and why")
  func shows() throws {
    let text = try answer(["s", "w", "h"]).output
    #expect(text.contains("@9 → @10"))
    #expect(text.contains("- user"))
    #expect(text.contains("unauthenticated"))
    #expect(text.contains("Do  "))
    #expect(text.contains("q   leave"))
  }

  @Test("RPL-1 RPL-9 the program reads its lines from a pipe, and shows pseudonyms if asked")
  func pipe() throws {
    let run = try ToolRun.shell("printf 'E\\nq\\n' | \"$0\" step \"$1\" --redact", [journal])
    #expect(run.code == 0, "\(run.errors)")
    #expect(run.output.contains("sessionExpired"))
    #expect(run.output.contains("- user") == false || run.output.contains("user-"))
    #expect(try Leak.search(run.output, source: journal, isLines: false) == [])
  }

  @Test("RPL-6 a damaged journal is shown up to its damage, which is then the error")
  func damage() throws {
    let folder = try TemporaryFolder()
    var bytes = Array(try Data(contentsOf: URL(filePath: journal)))
    bytes[bytes.count - 100] ^= 1
    let path = try folder.write(bytes, to: "x.journal")
    let answer = try answer(["n", "n", "n"], of: path)
    #expect(answer.code == 65)
    #expect(answer.output.contains("damaged"))
    #expect(answer.error.contains("Everything before it is good and was shown."))
    #expect(try ToolRun.shell("\"$0\" step - < \"$1\"", [journal]).code == 64)
  }

  @Test("RPL-1 at the end step finds records that were appended since")
  func growth() throws {
    let folder = try TemporaryFolder()
    let bytes = Array(try Data(contentsOf: URL(filePath: journal)))
    var ends: [Int] = []
    var file = JournalFile(path: journal, name: "a.journal")
    file.redactor = .none
    _ = try file.visit { entry in
      if entry.remainingInBatch == 0 { ends.append(Int(entry.offset)) }
      return true
    }
    let cut = try #require(ends.last)
    let path = try folder.write(Array(bytes[..<cut]), to: "x.journal")
    let rest = Lines(["@-1", "n"])
    var command = try StepCommand(Arguments([path], syntax: StepCommand.syntax))
    command.nextLine = {
      let line = rest.next()
      if line == "n" { _ = FileManager.default.createFile(atPath: path, contents: Data(bytes)) }
      return line
    }
    let run = command
    let text = CommandAnswer { (context) throws(ToolError) in
      try run.run([JournalFile(path: path, name: "a.journal")], context)
    }.output
    #expect(text.contains("   11  "), "\(text)")
  }
}

/// Lines that are taken one after the other.
private final class Lines: Sendable {
  private let rest: Mutex<[String]>

  init(_ lines: [String]) { rest = Mutex(lines) }

  func next() -> String? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}

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
