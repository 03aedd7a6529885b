import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

/// Every command that reads a journal, on every kind of file that is not good.
@Suite("RPL-5 each command on each kind of file")
struct MatrixTests {
  /// A kind of file, and the exit code of a command that reads all of it.
  private static let files: [(name: String, code: Int32)] = [
    ("a.journal", 0), ("room.journal", 0), ("compacted.journal", 0), ("torn.journal", 2),
    ("undetermined.journal", 2), ("damaged.journal", 65), ("undecodable.journal", 65),
    ("empty", 65), ("text", 65), ("header", 65), ("newer", 65), ("folder", 65), ("none", 66),
    ("text/none", 66),
  ]

  /// The options with which a command reads all of a file; a command that is not here needs
  /// none.
  private static let options: [String: [String]] = [
    "follow": ["--timeout", "0ms"],
    "repair": ["--dry-run"],
    "import": ["--dry-run"],
    "report": ["-o", "-"],
    "whatif": ["--policy", "standard"],
  ]

  /// Commands for which a file has another meaning: they need no journal, or have other codes.
  private static let others: Set = [
    "import", "step", "stats", "report", "repair", "ends", "refreshes",
    "replay-corpus",
  ]

  static let readers = CommandList.all.map { $0.syntax }.filter { syntax in
    syntax.operands.first?.values == .journal && !others.contains(syntax.name)
  }

  @Test("RPL-5 the exit code tells the fault, and the good part is shown before it")
  func matrix() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let whole = try folder.bytes("a.journal")
    _ = try folder.write([], to: "empty")
    _ = try folder.write(Array("{\"a\":1}".utf8), to: "text")
    _ = try folder.write(Array(whole.prefix(63)), to: "header")
    _ = try folder.write(ProvokedErrors.newer(Array(whole.prefix(64))), to: "newer")
    try FileManager.default.createDirectory(
      atPath: folder.file("folder"), withIntermediateDirectories: false)
    #expect(Set(Self.readers.map(\.name)).isSuperset(of: ["timeline", "state", "verify", "diff"]))
    for command in Self.readers {
      // The answer of `whatif` may end before a fault: see the next test.
      for file in Self.files
      where command.name != "whatif" || !file.name.hasSuffix(".journal") {
        let hasJSON = command.options.contains { $0.name == "json" }
        for format in hasJSON ? [[], ["--json"]] : [[]] {
          let arguments =
            [command.name, folder.file(file.name)] + format
            + Self.options[command.name, default: []]
          let run = ToolRun.inProcess(arguments)
          // A torn tail does not count: `follow` waits for the rest of it.
          let isWaiting = command.name == "follow" && file.code == 2
          // A command that takes folders finds no journal in this one.
          let isEmpty = file.name == "folder" && ["verify", "why"].contains(command.name)
          // The first bytes of an empty file are waited for.
          let isLate = command.name == "follow" && file.name == "empty"
          let code = isWaiting ? 0 : isEmpty || isLate ? 66 : file.code
          #expect(run.code == code, "\(arguments): \(run.errors)")
          #expect(run.errors.isEmpty == (run.code == 0), "\(arguments): \(run.errors)")
          let hasRecords = file.name.hasSuffix(".journal")
          #expect(run.output.isEmpty != hasRecords, "\(arguments)")
          if !format.isEmpty { _ = try run.objects() }
        }
      }
    }
  }

  @Test("RPL-5 RPL-10 whatif exits with the code of a fault, unless its answer ends before it")
  func whatIf() throws {
    let folder = try TemporaryFolder()
    func code(_ name: String, _ policy: String, _ change: (inout [UInt8]) throws -> Void) throws
      -> Int32
    {
      let file = Repository.root.appending(path: "Specs/Journals/\(name).journal")
      var bytes = Array(try Data(contentsOf: file))
      try change(&bytes)
      let path = try folder.write(bytes, to: "x.journal")
      let run = ToolRun.inProcess(["whatif", path, "--policy", policy])
      #expect(run.output.contains("The recorded policy is standard, except for:"))
      #expect(run.errors.isEmpty == (run.code == 0), "\(run.errors)")
      return run.code
    }
    func inFrame(_ index: Int) -> (inout [UInt8]) throws -> Void {
      { bytes in bytes[try Journals.frames(bytes)[index].middle] ^= 1 }
    }
    #expect(try code("user-logout", "standard", { _ in }) == 0)
    #expect(try code("user-logout", "standard", inFrame(4)) == 65)
    #expect(try code("user-logout", "standard", { $0.removeLast(3) }) == 2)
    // The decision differs at @5.
    #expect(try code("refused", "refused=keep", inFrame(6)) == 0)
  }

  @Test("RPL-5 the help of each command describes each option and its value")
  func help() throws {
    for command in CommandList.all.map({ $0.syntax }) {
      let run = ToolRun.inProcess([command.name, "--help"])
      #expect(run.code == 0)
      for option in command.allOptions {
        let spelling = "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
        #expect(run.output.contains(spelling), "\(command.name) \(spelling)")
      }
      #expect(!command.examples.isEmpty, "\(command.name)")
    }
  }
}
