import ChildProcesses
import Foundation
import Testing

/// `Specs/Golden/accounts`, and a list of accounts as the input of commands about sessions.
@Suite("Lists of accounts in the tool")
struct AccountFilesTests {
  private static let golden =
    Repository.root.appending(path: "Specs/Golden/accounts/list.journal").path(
      percentEncoded: false)

  @Test("ACC-1 RPL-1 timeline, state and verify of a list of accounts say what its records say")
  func shown() throws {
    let run = { (arguments: [String]) in
      let run = ToolRun.inProcess([arguments[0], Self.golden] + arguments.dropFirst())
      #expect(run.code == 0 && run.errors.isEmpty, "\(arguments): \(run.errors)")
      return run.output
    }
    let (first, second, third) = (
      "0b8e7c9a-41d3-4e0c-9a55-7f2f3f0e6d22", "6f1c1a52-9d5e-4a4e-8f0a-0c6f1d3b2a11",
      "9a3e5f10-2b6c-4d7e-8f91-a0b1c2d3e4f5"
    )
    let lines = run(["timeline"]).split(separator: "\n").map { $0.dropFirst(33) }
    #expect(
      lines == [
        "account-added        \(first)", "account-switched     to \(first)",
        "account-added        \(second)", "account-switched     to \(second)",
        "account-added        \(third)", "account-removalBegan  \(second), by the user",
        "account-ended        \(second), user, 2026-11-18T11:11:40.000Z",
        "account-removed      \(second)", "account-switched     to \(first)",
        "account-removalBegan  \(third), by the user",
      ])
    #expect(
      run(["state"]) == """
        state     1 account, 1 being removed
        as of     seq 10, 2026-11-18 11:15:40.000Z
        current   \(first), added 2026-11-18 11:06:40.000Z, last used 2026-11-18 11:14:40.000Z
        leaving   \(third), added 2026-11-18 11:10:40.000Z

        """)
    #expect(run(["state", "--at", "@7"]).contains("\nended     \(second), added"))
    #expect(
      run(["timeline", "--kind", "account-ended,account-removed"]).split(separator: "\n").count == 2
    )
    #expect(run(["timeline", "--kind", "account"]).split(separator: "\n").count == 10)
    let json = run(["timeline", "--json"]).split(separator: "\n").dropFirst(6).first ?? ""
    #expect(
      json.hasSuffix(
        """
        "class":"account","name":"account-ended","time":"2026-11-18T11:12:40.000Z","facts":{"account":"\(second)",\
        "reason":"user","endedAt":"2026-11-18T11:11:40.000Z"}}
        """))
    #expect(run(["state", "--json"]).contains("\"state\":\"accounts\",\"current\":\"\(first)\""))
    let verdict = run(["verify"])
    #expect(verdict.contains("state     1 account, 1 being removed") && !verdict.contains("newer"))
    #expect(run(["verify", "--json"]).contains("\"unknown\":0,"))
  }

  @Test("ACC-1 RPL-4 commands about sessions leave a list of accounts out, and refuse it alone")
  func leftOut() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let both = try TemporaryFolder()
    _ = try both.write(try folder.bytes("a.journal"), to: "a.journal")
    _ = try both.write(
      [UInt8](try Data(contentsOf: URL(filePath: Self.golden))), to: "accounts.journal")
    let alone = ToolRun.inProcess(["stats", both.file("a.journal")])
    for command in ["stats", "ends"] {
      let all = ToolRun.inProcess([command, both.path])
      #expect(all.code == 0 && (command == "ends" || all.output == alone.output))
      #expect(all.errors.contains("accounts.journal is a list of accounts and is left out"))
    }
    for command in ["why", "export", "diff", "stats"] {
      let run = ToolRun.inProcess([command, Self.golden])
      #expect(run.code == 64 && run.errors.contains("is a list of accounts, and no session"))
    }
  }

  @Test(
    "ACC-1 RPL-2 verify names a record that does not fit or cannot be read, and repair cuts it off")
  func damaged() throws {
    let folder = try TemporaryFolder()
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: Self.golden)))
    bytes[bytes.count - 60] ^= 1
    let path = try folder.write(bytes, to: "accounts.journal")
    #expect(ToolRun.inProcess(["verify", path]).code == 65)
    #expect(ToolRun.inProcess(["state", path]).code == 65)
    let repair = ToolRun.inProcess(["repair", path, "-o", folder.file("out")])
    #expect(repair.code == 0, "\(repair.errors)")
    let again = ToolRun.inProcess(["verify", folder.file("out"), "--json"])
    #expect(again.code == 0 && again.output.contains("\"state\":\"accounts\""), "\(again.output)")
  }
}
