import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Specs/ReplayFiles.md")
struct FilesPageTests {
  private func rows(under heading: String) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayFiles.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
      .filter { $0.hasPrefix("| ") }.map { row in
        row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  @Test("RPL-4 the page and exported lines have the same classes, each with the same keys")
  func classes() throws {
    let page = try rows(under: "Lines").prefix { $0[0] != "ending" }.dropFirst()
      .filter { $0[0] != "---" }
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    var found: [String: Set<String>] = [:]
    for name in ["a", "compacted"] {
      for options in [[], ["--reveal"]] {
        let run = ToolRun.inProcess(["export", folder.file(name + ".journal")] + options)
        for line in try run.objects() {
          let word = try #require(line["class"] as? String)
          let keys = Set(line.keys).subtracting(["v", "class", "payload", "dropped"])
          #expect(found[word, default: keys] == keys)
          found[word] = keys
        }
      }
    }
    // A support report has the lines of an export, an explanation, and further keys in its header.
    let report = try SupportReport(of: try SessionHistory(path: folder.file("a.journal")))
    for line in report.text.split(separator: "\n") {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let word = try #require(object["class"] as? String)
      var keys = Set(object.keys).subtracting(["v", "class", "dropped"])
      if word == "header" {
        #expect(keys.isSuperset(of: ["app", "platform", "library"]))
        keys.subtract(["app", "platform", "library"])
      }
      #expect(found[word, default: keys] == keys)
      found[word] = keys
    }
    #expect(Set(page.map { $0[0] }) == Set(found.keys))
    for row in page {
      let keys = Set(row[1].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
      #expect(found[row[0]] == keys, "\(row[0])")
    }
  }

  @Test("RPL-4 the page and the code have the same endings")
  func endings() throws {
    let rows = try rows(under: "Lines").drop { $0[0] != "ending" }.dropFirst()
      .filter { $0[0] != "---" }
    #expect(rows.map { $0[0] } == ExportEnding.allCases.map(\.rawValue))
  }

  @Test("RPL-4 STO-3 the page and the code replace the same values by the same kinds of pseudonyms")
  func categories() throws {
    let rows = try rows(under: "Redaction").dropFirst().filter { $0[0] != "---" }
    #expect(rows.map { $0[0] } == Pseudonyms.Category.allCases.map(\.rawValue))
    for row in rows where row[0] != "journal" {
      #expect(row[1].contains("`\(row[0])-…`"))
    }
  }

  @Test("STO-3 equal values have equal pseudonyms, and different values have different ones")
  func pseudonyms() {
    let pseudonyms = Pseudonyms(journal: (1, 2), salt: 3)
    var seen: Set<String> = []
    for number in 0..<20_000 {
      let name = pseudonyms.name(.user, "u\(number)")
      #expect(name.utf8.count == 15)
      seen.insert(name)
    }
    #expect(seen.count == 20_000)
    #expect(pseudonyms.name(.user, "u1") == pseudonyms.name(.user, "u1"))
    for other in [
      Pseudonyms(journal: (2, 2), salt: 3), Pseudonyms(journal: (1, 3), salt: 3),
      Pseudonyms(journal: (1, 2), salt: 4), Pseudonyms(key: []), Pseudonyms(key: Array("k".utf8)),
    ] {
      #expect(other.name(.user, "u1") != pseudonyms.name(.user, "u1"))
    }
    #expect(
      pseudonyms.name(.school, "u1").dropFirst(7) != pseudonyms.name(.user, "u1").dropFirst(5))
    #expect(Pseudonyms(key: Array("k".utf8)) == Pseudonyms(key: Array("k".utf8)))
    let id = pseudonyms.journal("u1").description
    #expect(id.utf8.count == 36 && Array(id)[14] == "8" && "89ab".contains(Array(id)[19]))
  }
}
