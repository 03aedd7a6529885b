import ChildProcesses
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

@testable import ReplayCommands

extension ProvokedErrors {
  /// One needs another process that holds the lock, one bytes that no Swift text has; see
  /// RescueProperties and FileMannersTests.
  static let elsewhereInFiles: Set = ["busy", "badArgument"]

  static func files(in folder: TemporaryFolder) throws -> [String: [String]] {
    let journal = folder.file("a.journal")
    let export = ToolRun.inProcess(["export", "--reveal", journal]).output
    let lines = export.split(separator: "\n").map(String.init)
    func edited(_ name: String, _ edit: (inout [String]) -> Void) throws -> [String] {
      var lines = lines
      edit(&lines)
      let text = lines.joined(separator: "\n") + "\n"
      return ["import", "--dry-run", try folder.write(Array(text.utf8), to: name + ".jsonl")]
    }
    _ = try folder.write([], to: "there")
    return [
      "exists": ["export", journal, "-o", folder.file("there")],
      "sameFile": ["export", journal, "--force", "-o", journal],
      "cannotCreate": ["export", journal, "-o", folder.file("none/out")],
      "badKey": ["state", journal, "--redact", "--key-file", try folder.write([1], to: "key1")],
      "noOutput": ["import", journal],
      "badFormat": ["export", journal, "--format", "jsonk"],
      "badLine": try edited("bad") { $0[3] = "{" },
      "unknownField": try edited("field") {
        $0[3] = $0[3].replacing("\"facts\"", with: "\"fact\":1,\"facts\"")
      },
      "gap": try edited("gap") { $0.remove(at: 3) },
      "illegalLine": try edited("illegal") {
        $0[4] = $0[4].replacing("\"generation\":2", with: "\"generation\":1")
      },
      "partial": try edited("partial") {
        $0[0] = $0[0].replacing("\"partial\":false", with: "\"partial\":true")
      },
    ]
  }
}
