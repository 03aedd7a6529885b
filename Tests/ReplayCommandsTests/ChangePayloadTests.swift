import ChildProcesses
import Foundation
import SessionJournal
import SessionTestKit
import Testing

/// `Specs/Golden/changes.txt`: a line for each record of the sample, as the tool shows it.
///
/// `Specs/change_payload.py` reads the same payloads by the page alone.
@Suite("Specs/Golden/changes.txt")
struct ChangePayloadTests {
  @Test("JRN-5 SYN-2 each payload of a change log is shown as the second reader reads it")
  func lines() throws {
    let folder = try TemporaryFolder()
    try Journals.writeChanges(into: folder)
    try Journals.writeChangesOfSignIns(into: folder)
    var text =
      "# kind | payload | readable form; written by Tests/ReplayCommandsTests, UPDATE_GOLDEN=1\n"
    for name in [
      "changes.log", "changes-compacted.log", "changes-left.log", "changes-left-compacted.log",
    ] {
      let path = folder.file(name)
      let run = ToolRun.inProcess(["timeline", path, "--json"])
      var shown = run.output.split(separator: "\n").map { line in
        "{" + (line.range(of: "\"name\"").map { line[$0.lowerBound...] } ?? "")
      }[...]
      var reader = try JournalReader(path: path)
      while let raw = try reader.next() {
        guard raw.kind != 0xFF else { continue }
        let next = shown.popFirst()
        let line = try #require(next)
        let hex = raw.payload.map { String(format: "%02x", $0) }.joined()
        text += "\(String(format: "%02X", raw.kind)) | \(hex) | \(line)\n"
      }
      #expect(shown.isEmpty)
    }
    let path = "Specs/Golden/changes.txt"
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      try text.write(to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }
    let isSame = try Repository.text(path) == text
    #expect(isSame, "UPDATE_GOLDEN=1 swift test --filter ChangePayload writes it anew")
  }

  @Test("JRN-5 the second reader, written only from the specification, reads the same payloads")
  func secondReader() throws {
    let reader = try ChildProcess.python(
      [ChildProcess.specs + "/change_payload.py"], errors: .collected)
    #expect(reader.code == 0, "\(reader.text)")
  }
}
