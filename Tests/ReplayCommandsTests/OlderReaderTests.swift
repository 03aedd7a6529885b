import ChildProcesses
import Foundation
import SessionTestKit
import Testing

/// Readers of earlier versions, as git keeps them, before today's golden files.
@Suite("Readers of earlier versions")
struct OlderReaderTests {
  /// The last version whose records did not name their opening.
  private static let commit = "40603ea"

  private static func git(_ arguments: [String]) throws -> ChildProcess.Run {
    try ChildProcess.run("git", arguments, folder: Repository.root.path, errors: .collected)
  }

  /// Whether git has the version: a copy without history does not.
  private static let isKept: Bool = {
    do {
      return try git(["cat-file", "-e", "\(commit):Specs/event_payload.py"]).code == 0
    } catch {
      return false
    }
  }()

  @Test(
    "REF-9 JRN-3 a reader from before process identities reads every field that it knows",
    .enabled(if: isKept, "git does not have the version of that reader here."))
  func events() throws {
    let source = try Self.git(["show", "\(Self.commit):Specs/event_payload.py"])
    #expect(source.code == 0)
    let folder = FileManager.default.temporaryDirectory.appending(path: "reader-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer {
      // The system removes what a test leaves in its temporary folder.
      do { try FileManager.default.removeItem(at: folder) } catch {}
    }
    try source.bytes.write(to: folder.appending(path: "event_payload.py"))
    let program = """
      import json, sys
      sys.path.insert(0, sys.argv[1])
      import event_payload
      added = ("identity", "meaning", "platform")
      def known(value):
          if isinstance(value, dict):
              return {key: known(part) for key, part in value.items()
                      if key not in added}
          return value
      count = 0
      for line in open(sys.argv[2], encoding="utf-8"):
          if line.startswith("#") or not line.strip():
              continue
          kind, payload, readable = line.rstrip("\\n").split(" | ", 2)
          found = event_payload.decode(int(kind, 16), bytes.fromhex(payload))
          if any(f'"{name}"' in readable for name in added):
              count += 1
              assert found == known(json.loads(readable)), line
      print(count)
      """
    let golden = Repository.root.appending(path: "Specs/Golden/events.txt").path
    let reader = try ChildProcess.run(
      "python3", ["-B", "-c", program, folder.path, golden], errors: .collected)
    #expect(reader.code == 0 && reader.text == "6\n", "\(reader.text)")
  }
}
