import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("report")
struct ReportPageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try SampleJournal.write(to: folder.file("a.journal"))
  }

  private func page(_ arguments: [String]) throws -> String {
    let run = ToolRun.inProcess(["report", "-o", "-"] + arguments)
    #expect(run.code == 0, "\(run.errors)")
    return run.output
  }

  private func parts(_ text: String, _ start: String, _ end: String) -> [String] {
    text.components(separatedBy: start).dropFirst().map { $0.components(separatedBy: end)[0] }
  }

  @Test("RPL-4 the page's security policy allows only its own style and script, by their hashes")
  func policy() throws {
    let page = try page([folder.file("a.journal")])
    let styles = parts(page, "<style>", "</style>")
    let scripts = parts(page, "<script>", "</script>")
    #expect(styles.count == 1 && scripts.count == 1)
    for (text, hash) in [(styles[0], PageStyle.hash), (scripts[0], PageScript.hash)] {
      let path = try folder.write(Array(text.utf8), to: "text")
      let line = """
        import base64, hashlib, sys
        print("sha256-" + base64.b64encode(hashlib.sha256(open(sys.argv[1], "rb").read()).digest()).decode())
        """
      let run = try ToolRun.run("/usr/bin/env", ["python3", "-c", line, path])
      #expect(run.output == hash + "\n")
    }
    let policy = try #require(
      parts(page, "<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"").first)
    #expect(
      policy
        == "default-src 'none'; style-src '\(PageStyle.hash)'; script-src '\(PageScript.hash)'; "
        + "base-uri 'none'; form-action 'none'")
  }

  @Test("RPL-9 a page of a redacted export has its pseudonyms, and none in their place")
  func redactedExport() throws {
    let pattern = /(user|role|school|unit|jti|permission)-[0-9a-z]{10}/
    let export = ToolRun.inProcess(["export", folder.file("a.journal")]).output
    _ = try folder.write(Array(export.utf8), to: "a.jsonl")
    let known = Set(export.matches(of: pattern).map { String($0.output.0) })
    for more in [[], [folder.file("a.journal")]] {
      let shown = Set(
        try page([folder.file("a.jsonl")] + more).matches(of: pattern).map { String($0.output.0) })
      #expect(!shown.isEmpty && (shown.isSubset(of: known) || !more.isEmpty))
      #expect(!shown.isDisjoint(with: known))
    }
  }

  @Test("RPL-5 the exit codes of report are those of the page, with and without --strict")
  func codes() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let lines = try Repository.text("Specs/ReplayReport.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex { $0.hasPrefix("| files | without") })
    let rows = lines[start...].dropFirst(2).prefix { $0.hasPrefix("| ") }.map { row in
      row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    _ = try folder.write(Array("hello".utf8), to: "text.journal")
    let files: [[String]] = [
      ["a.journal"], ["a.journal", "torn.journal"], ["torn.journal", "damaged.journal"],
      ["a.journal", "none.journal"], ["a.journal", "closed"], ["text.journal"], ["a.journal"],
    ]
    try FileManager.default.createDirectory(
      atPath: folder.file("closed"), withIntermediateDirectories: false)
    #expect(rows.count == files.count)
    for (row, names) in zip(rows, files) {
      let isThere = row[0].contains("created")
      let output = folder.file(isThere ? "text.journal" : "page.html")
      for (cell, options) in [(row[1], []), (row[2], ["--strict"])] {
        guard !names.contains("closed") else { continue }
        let run = ToolRun.inProcess(
          ["report", "-o", output] + (isThere ? [] : ["--force"]) + options
            + names.map { folder.file($0) })
        #expect(run.code == Int32(cell) ?? 65, "\(row[0]) \(options): \(run.errors)")
      }
    }
  }

  @Test("a page refers to no other resource, and no element has inline style or script")
  func selfContained() throws {
    for file in ["a.journal", "hostile.journal"] {
      try SampleJournal.write(
        to: folder.file("hostile.journal"), records: DrawnSession.ofHostileNames(), replacing: true)
      let page = try page([folder.file(file), "--reveal"])
      let own = page.replacingOccurrences(of: "javascript:alert(5)", with: "")
      for word in [
        "://", "url(", "@import", "<link", "<img", "<iframe", "<base", " style=", "src=",
      ] {
        let found = own.contains(word)
        // A text from the server is shown as text.
        #expect(!found || (word == "src=" && file == "hostile.journal"), "\(word) in \(file)")
      }
      #expect(page.components(separatedBy: "<script").count == 2)
      #expect(page.components(separatedBy: "<style").count == 2)
      #expect(!page.utf8.contains { $0 < 0x20 && $0 != 0x0A })
      #expect(!page.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x2028 })
    }
  }

  @Test("SEC-1 names, users and identifiers are pseudonyms, unless --reveal is given")
  func redaction() throws {
    let names = [
      SampleJournal.user.description, "Docente", "Colegio", "5B", "jti-1", "materials:read",
      "boot-1", "0190b2a4",
    ]
    let hidden = try page([folder.file("a.journal")])
    let key = try folder.write(Array("sixteen bytes !!".utf8), to: "key")
    let keyed = try page([folder.file("a.journal"), "--key-file", key])
    for name in names {
      #expect(!hidden.contains(name), "\(name)")
      #expect(!keyed.contains(name), "\(name)")
    }
    #expect(hidden.contains("names are pseudonyms"))
    #expect(keyed != hidden)
    let shown = try page([folder.file("a.journal"), "--reveal"])
    #expect(shown.contains("Docente"))
    #expect(shown.contains("names are real"))
    // The folder's name may be the name of a person.
    #expect(!shown.contains(folder.path))
  }

  @Test("RPL-4 the page has all its parts without its script")
  func content() throws {
    let page = try page([folder.file("a.journal"), "--title", "Fern & <Moss>"])
    #expect(page.contains("<title>Fern &amp; &lt;Moss&gt;</title>"))
    #expect(page.contains("<h1>Fern &amp; &lt;Moss&gt;</h1>"))
    #expect(parts(page, "<tr id=\"", "\"").count == 27)
    #expect(parts(page, "<details class=\"why ", ">").count == 2)
    #expect(page.contains("Expired at 2026-11-21 14:01:00.080Z (seq 15)"))
    #expect(page.contains("<a href=\"#j0-15\">@15</a>"))
    #expect(page.contains("<td class=\"words\">the token could not be refreshed</td>"))
    #expect(
      page.contains("tok#1 from 2026-11-21 14:00:00.105Z to 2026-11-21 14:00:01.150Z: replaced"))
    #expect(page.contains("<b>60.0 %</b>of refreshes succeeded"))
    // The target of each link exists.
    let ids = Set(parts(page, " id=\"", "\""))
    for link in parts(page, "href=\"#", "\"") { #expect(ids.contains(link), "\(link)") }
    #expect(ids.count == parts(page, " id=\"", "\"").count, "an id occurs twice")
    let local = try ToolRun.program(
      ["report", folder.file("a.journal"), "-o", "-", "--local"], environment: ["TZ": "PET5"])
    #expect(local.output.contains("2026-11-21 09:01:00.080-05:00"))
  }

  @Test("a page is written completely with mode 0600, and does not replace another file")
  func file() throws {
    let path = folder.file("page.html")
    let journal = folder.file("a.journal")
    let run = ToolRun.inProcess(["report", journal, "-o", path])
    #expect(run.code == 0)
    let bytes = try folder.bytes("page.html").count
    #expect(run.output == "\(path): 1 journal, \(bytes.grouped) bytes\n")
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let again = ToolRun.inProcess(["report", journal, "-o", path, "--json"])
    #expect(again.code == 73)
    #expect(try again.error()["name"] as? String == "exists")
    let forced = ToolRun.inProcess(["report", journal, "-o", path, "--force", "--json"])
    #expect(forced.code == 0)
    let answer = try #require(try forced.objects().first)
    #expect(answer["bytes"] as? Int == bytes)
    #expect(answer["journals"] as? Int == 1)
    #expect(ToolRun.inProcess(["report", journal, "-o", journal, "--force"]).code == 73)
    #expect(ToolRun.inProcess(["report", journal, "-o", folder.file("none/page.html")]).code == 73)
    for arguments in [
      ["report", journal], ["report", journal, "-o", ""],
      ["report", journal, "-o", path, "--reveal", "--key-file", "k"],
    ] { #expect(ToolRun.inProcess(arguments).code == 64) }
    #expect(
      ToolRun.inProcess(["report", folder.file("none"), "-o", folder.file("x.html")]).code == 66)
    #expect(!FileManager.default.fileExists(atPath: folder.file("x.html")))
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.contains("partial") })
  }

  @Test("all that can be read of a damaged journal is shown, and the exit code says so if asked")
  func damaged() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let one = ToolRun.inProcess(["report", folder.file("damaged.journal"), "-o", "-"])
    #expect(one.code == 0)
    #expect(
      ToolRun.inProcess(["report", folder.file("damaged.journal"), "-o", "-", "--strict"]).code
        == 65)
    #expect(one.output.contains("damaged.journal is damaged at byte"))
    #expect(parts(one.output, "<tr id=\"", "\"").count == 27)
    #expect(one.errors.hasPrefix("Damaged: "))
    let all = ToolRun.inProcess(["report", folder.path, folder.file("none"), "-o", "-"])
    #expect(all.code == 66)
    let problems = try #require(parts(all.output, "<ul>", "</ul>").first)
    #expect(parts(problems, "<li>", "</li>").count == 7)
    #expect(parts(all.output, "<section class=\"lane\"", ">").count == 10)
    #expect(all.output.hasSuffix("</html>\n"))
  }
}

extension SampleJournal {
  static func write(to path: String, records: [SessionRecord], replacing: Bool) throws {
    if replacing, FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
    try write(to: path, records: records)
  }
}
