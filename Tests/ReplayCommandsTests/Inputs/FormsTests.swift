import ChildProcesses
import Foundation
import Testing

@testable import ReplayCommands

@Suite("forms of files")
struct FormsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["a", "compacted", "damaged"] {
      let journal = folder.file("\(name).journal")
      let text = ToolRun.inProcess(["export", "--reveal", journal]).output
      _ = try folder.write(Array(text.utf8), to: "\(name).jsonl")
      let redacted = ToolRun.inProcess(["export", journal]).output
      _ = try folder.write(Array(redacted.utf8), to: "\(name)-redacted.jsonl")
    }
    _ = try folder.write([0x1F, 0x8B, 8, 0], to: "a.journal.gz")
  }

  /// Commands that read one journal, with arguments whose answer names neither file nor byte.
  private static let commands: [[String]] = [
    ["timeline"], ["timeline", "-r", "-n", "5"], ["state", "--json"], ["state", "--at", "@9"],
    ["diff", "--json"], ["why", "--full"], ["why", "--all", "--oneline"], ["stats", "--json"],
    ["export", "--format", "mermaid", "--reveal"],
  ]

  @Test("RPL-7 each command gives the same answer for a journal and its export")
  func same() throws {
    for (name, forms) in [
      ("a.journal", ["a.jsonl"]),
      ("compacted.journal", ["compacted.jsonl"]),
    ] {
      for command in Self.commands {
        let known = ToolRun.inProcess(command + [folder.file(name)])
        for form in forms {
          // The salt of an export is another one, and so are the pseudonyms that it keys.
          let run = ToolRun.inProcess(command + [folder.file(form)])
          #expect(run.code == known.code, "\(command) \(form): \(run.errors)")
          #expect(withoutNames(run.output) == withoutNames(known.output), "\(command) \(form)")
        }
      }
      for form in forms {
        let verify = try ToolRun.inProcess(["verify", "--json", folder.file(form)]).objects()
        #expect(verify.first?["verdict"] as? String == "good")
        #expect(verify.first?["file"] as? String == folder.file(form))
      }
    }
  }

  private func withoutNames(_ text: String) -> String {
    text.replacing(/(user|role|school|unit|jti|boot|opening)-[0-9a-z]{10}/) { match in
      "\(match.output.1)-"
    }
  }

  @Test("RPL-9 an export without names keeps its pseudonyms")
  func redacted() throws {
    let line = try folder.bytes("a-redacted.jsonl")
    let text = String(decoding: line, as: UTF8.self)
    let user = try #require(text.firstMatch(of: /user-[0-9a-z]{10}/)).output
    let export = folder.file("a-redacted.jsonl")
    let rows = try ToolRun.inProcess(["ends", export]).objects()
    #expect(rows.allSatisfy { $0["user"] as? String == String(user) })
    #expect(rows.allSatisfy { $0["file"] as? String == export })
    #expect(ToolRun.inProcess(["why", "--oneline", export]).output.contains(user))
  }

  @Test("RPL-9 an export of a redacted export keeps its names, and says so")
  func exportedAgain() throws {
    let path = folder.file("a-redacted.jsonl")
    let known = String(decoding: try folder.bytes("a-redacted.jsonl"), as: UTF8.self)
    for options in [[], ["--reveal"]] {
      let run = ToolRun.inProcess(["export", path] + options)
      #expect(run.code == 0)
      #expect(run.output == known.replacing(",\"dropped\":true", with: ""))
      #expect(
        run.errors == "Note: names in \(path) are pseudonyms already, and stay as they are.\n")
    }
  }

  @Test("RPL-7 two runs over the same export have the same pseudonyms")
  func salt() throws {
    let runs = (0..<2).map { _ in ToolRun.inProcess(["ends", folder.file("a.jsonl")]).output }
    #expect(runs[0] == runs[1])
    #expect(runs[0].contains("user-"))
  }

  @Test("RPL-5 an export that is cut anywhere has its whole batches, and its damage is reported")
  func cut() throws {
    let whole = try folder.bytes("a.jsonl")
    let all = try ToolRun.inProcess(["timeline", "--json", folder.file("a.journal")]).objects()
    let headerEnd = try #require(whole.firstIndex(of: 0x0A)) + 1
    for length in stride(from: headerEnd, to: whole.count - 1, by: 41) {
      let path = try folder.write(Array(whole[..<length]), to: "cut.jsonl")
      let run = ToolRun.inProcess(["timeline", "--json", path])
      #expect(run.code == 65, "\(length)")
      let found = try run.objects()
      #expect(found.count < all.count + 1)
      #expect(
        found.map { $0["sequence"] as? Int }
          == all.prefix(found.count).map { $0["sequence"] as? Int })
      let error = try run.error()
      #expect(error["name"] as? String == "badLine")
      #expect((error["message"] as? String)?.contains("cut.jsonl, line ") == true)
      let rows = ToolRun.inProcess(["ends", path])
      #expect(rows.code == 0, "\(rows.errors)")
      #expect(rows.errors.contains("Damaged: "))
      #expect(try rows.objects().allSatisfy { $0["damaged"] as? Bool == true })
    }
    // Nothing at all can be read without the header.
    let path = try folder.write(Array(whole[..<(headerEnd - 9)]), to: "cut.jsonl")
    #expect(ToolRun.inProcess(["timeline", path]).code == 65)
    #expect(ToolRun.inProcess(["ends", path]).code == 65)
  }

  @Test("RPL-5 the export of a damaged journal is as bad as the journal")
  func exported() throws {
    let run = ToolRun.inProcess(["why", "--json", folder.file("damaged.jsonl")])
    #expect(run.code == 65)
    #expect(run.errors.contains("damaged.jsonl"), "\(run.errors)")
    #expect(ToolRun.inProcess(["ends", "--strict", folder.file("damaged.jsonl")]).code == 65)
  }

  @Test("RPL-5 a compressed file is refused by name, with the command that reads it")
  func compressed() throws {
    let path = folder.file("a.journal.gz")
    let run = ToolRun.inProcess(["timeline", "--json", path])
    #expect(run.code == 65 && run.output.isEmpty)
    #expect(try run.error()["name"] as? String == "notAJournal")
    #expect(try run.error()["next"] as? String == "gzip -dc \(path) | sessionreplay COMMAND -")
  }

  @Test("RPL-5 repair and follow need the journal itself")
  func refused() throws {
    for name in ["a.jsonl", "a.journal.gz"] {
      for command in [["repair", "--dry-run"], ["follow", "--timeout", "0ms"]] {
        let run = ToolRun.inProcess(command + ["--json", folder.file(name)])
        #expect(run.code == 65, "\(command) \(name)")
        #expect(try run.error()["name"] as? String == "notAJournal")
      }
    }
  }

  @Test("RPL-5 import needs the lines themselves, and says what the file is")
  func importedForms() throws {
    for (name, word) in [("a.journal", "is a journal"), ("a.journal.gz", "is compressed")] {
      let run = ToolRun.inProcess(["import", "--dry-run", folder.file(name)])
      #expect(run.code == 65)
      #expect(run.errors.contains("\(name) \(word)"), "\(run.errors)")
    }
  }

  @Test("RPL-7 standard input can be an export")
  func standardInput() throws {
    let known = ToolRun.inProcess(["timeline", folder.file("a.journal")]).output
    for name in ["a.journal", "a.jsonl"] {
      for line in ["\"$0\" timeline - < \"$1\"", "cat \"$1\" | \"$0\" timeline -"] {
        let run = try ToolRun.shell(line, [folder.file(name)])
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output == known, "\(name) \(line)")
      }
    }
  }
}
