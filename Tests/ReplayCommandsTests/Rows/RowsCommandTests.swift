import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionExplain
import SessionJSON
import Testing

@testable import ReplayCommands

@Suite("ends and refreshes")
struct RowsCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Journals.write(into: folder)
  }

  @Test("RPL-7 each end of the recorded journals has the answer of why")
  func recorded() throws {
    let recorded = Repository.root.appending(path: "Specs/Journals").path(percentEncoded: false)
    let names = try FileManager.default.contentsOfDirectory(atPath: recorded).filter {
      $0.hasSuffix(".journal")
    }
    #expect(names.count > 50)
    for name in names {
      let file = "\(recorded)/\(name)"
      for row in try ToolRun.inProcess(["ends", file]).objects() {
        guard let sequence = row["sequence"] as? Int else {
          #expect(row["state"] as? String == "authenticated")
          continue
        }
        let why = try #require(
          try ToolRun.inProcess(["why", "--json", "--at", "@\(sequence)", file]).objects().first)
        for key in ["cause", "certainty", "reason", "sequence", "user", "app"] {
          #expect("\(row[key] ?? "")" == "\(why[key] ?? "")", "\(name) @\(sequence) \(key)")
        }
      }
    }
  }

  @Test("RPL-14 --schema writes every column for each engine, and reads no file")
  func schemas() {
    // The engines themselves read it in Tools/fleet/schemas.py.
    let duckdb = ToolRun.inProcess(["refreshes", "--schema", "duckdb"]).output
    #expect(duckdb.hasPrefix("{v: 'UTINYINT', journal: 'VARCHAR', "), "\(duckdb)")
    for (command, columns) in [("ends", SessionRow.columns), ("refreshes", RefreshRow.columns)] {
      for engine in RowSchema.allCases {
        let line = ToolRun.inProcess([command, "--schema", engine.rawValue]).output
        for column in columns { #expect(line.contains(column.name), "\(engine) \(column.name)") }
      }
    }
    for wrong in [["ends", "--schema", "duckd"], ["ends", "--schema", "duckdb", folder.path]] {
      let run = ToolRun.inProcess(wrong)
      #expect(run.code == 64 && run.output.isEmpty, "\(run.errors)")
      #expect(run.errors.contains("--schema "), "\(run.errors)")
    }
  }

  @Test("RPL-5 RPL-7 damaged files are named, and change the exit code only with --strict")
  func damage() throws {
    let names = ["a.journal", "damaged.journal", "illegal.journal", "torn.journal", "text.journal"]
    _ = try folder.write(Array("hello".utf8), to: "text.journal")
    let paths = names.map { folder.file($0) }
    for command in ["ends", "refreshes"] {
      let run = ToolRun.inProcess([command] + paths)
      #expect(run.code == 0, "\(run.errors)")
      for name in ["damaged", "illegal", "text"] {
        #expect(run.errors.contains("Damaged: \(folder.file(name)).journal"), "\(run.errors)")
      }
      #expect(run.errors.contains("Note: 1 journal ends with a tail that a writer left."))
      let rows = try run.objects()
      for name in names.dropLast() {
        let own = rows.filter { $0["file"] as? String == folder.file(name) }
        #expect(!own.isEmpty, "\(name)")
        let isDamaged = name == "damaged.journal" || name == "illegal.journal"
        #expect(own.allSatisfy { $0["damaged"] as? Bool == isDamaged }, "\(name)")
      }
      let strict = ToolRun.inProcess([command, "--strict"] + paths)
      #expect(strict.code == 65)
      #expect(strict.output == run.output)
      #expect(ToolRun.inProcess([command, "--strict", folder.file("torn.journal")]).code == 2)
      #expect(ToolRun.inProcess([command, folder.file("none"), paths[0]]).code == 66)
      // If nothing could be read, that is an error.
      #expect(ToolRun.inProcess([command, folder.file("text.journal")]).code == 65)
    }
  }

  @Test("RPL-7 a change log is left out with a note, and alone it is an error")
  func changeLog() throws {
    let both = ToolRun.inProcess(["ends", folder.file("changes.log"), folder.file("a.journal")])
    #expect(both.code == 0)
    #expect(both.errors.contains("changes.log is a change log and is left out"))
    #expect(ToolRun.inProcess(["ends", folder.file("changes.log")]).code == 64)
  }

  @Test("RPL-9 users are pseudonyms, with --redact identifiers too, under the key of a file")
  func redaction() throws {
    let path = folder.file("a.journal")
    let rows = try ToolRun.inProcess(["ends", path]).objects()
    let redacted = try ToolRun.inProcess(["ends", "--redact", path]).objects()
    #expect(rows.count == redacted.count)
    for (row, hidden) in zip(rows, redacted) {
      #expect((row["user"] as? String)?.hasPrefix("user-") == true)
      #expect(row["user"] as? String == hidden["user"] as? String)
      #expect(row["journal"] as? String != hidden["journal"] as? String)
    }
    let key = try folder.write(Array("0123456789abcdef0123456789abcdef".utf8), to: "key")
    let first = try ToolRun.inProcess(["ends", "--key-file", key, path]).objects()
    let second = try ToolRun.inProcess(["ends", "--key-file", key, folder.file("torn.journal")])
      .objects()
    #expect(first[0]["user"] as? String == second[0]["user"] as? String)
    #expect(first[0]["user"] as? String != rows[0]["user"] as? String)
  }

  @Test("RPL-7 --since and --until choose rows by the time that the page names, with both bounds")
  func window() throws {
    let path = folder.file("a.journal")
    for (command, columns) in [("ends", ["ended", "began"]), ("refreshes", ["time"])] {
      let run = ToolRun.inProcess([command, path])
      let lines = run.output.split(separator: "\n")
      let times = try run.objects().map { row in columns.compactMap { row[$0] as? String }.first }
      #expect(Set(times).count > 1)
      for bound in Set(times.compactMap { $0 }) {
        let sides: [(option: String, keeps: (String) -> Bool)] = [
          ("--since", { $0 >= bound }), ("--until", { $0 <= bound }),
        ]
        for side in sides {
          let found = ToolRun.inProcess([command, path, side.option, bound]).output
          let expected = zip(lines, times).filter { $0.1.map(side.keeps) ?? false }.map { $0.0 }
          #expect(found.split(separator: "\n") == expected, "\(side.option) \(bound)")
        }
      }
    }
  }

  @Test("RPL-9 files share the key of the first one that can be read")
  func key() throws {
    let sub = try TemporaryFolder()
    for name in ["a.journal", "torn.journal"] {
      _ = try sub.write(try folder.bytes(name), to: "b-\(name)")
    }
    _ = try sub.write(try folder.bytes("compacted.journal"), to: "a.journal")
    _ = try sub.write(Array("hello".utf8), to: "0.journal")
    let known = try ToolRun.inProcess(["ends", sub.path]).objects().map { $0["user"] as? String }
    let own = try ToolRun.inProcess(["ends", sub.file("b-a.journal")]).objects()
    #expect(!known.contains(own[0]["user"] as? String))
  }

  @Test("RPL-9 rows of a redacted export have its identifier, and no pseudonym of it")
  func redactedTwice() throws {
    let export = ToolRun.inProcess(["export", folder.file("a.journal")]).output
    let path = try folder.write(Array(export.utf8), to: "a.jsonl")
    let plain = ToolRun.inProcess(["ends", path]).output
    #expect(export.contains(try #require(try rowsOf(plain)[0]["journal"] as? String)))
    #expect(ToolRun.inProcess(["ends", "--redact", path]).output == plain)
    // An export of it is the same export. It cannot know that a payload was left out.
    let known = export.replacing(",\"dropped\":true", with: "")
    #expect(ToolRun.inProcess(["export", path]).output == known)
    #expect(ToolRun.inProcess(["export", "--reveal", path]).output == known)
  }

  private func rowsOf(_ text: String) throws -> [[String: Any]] {
    try ToolRun(code: 0, output: text, errors: "").objects()
  }

  @Test("RPL-7 a large file has the rows of its parts, in bounded memory")
  func large() throws {
    for seed in 0..<8 as Range<UInt64> {
      let drawn = try DrawnSession.ofRequests(seed: seed * 3 + 1, records: 900)
      guard case .snapshot? = drawn.first?.content else {
        try SampleJournal.write(to: folder.file("drawn-\(seed).journal"), records: drawn)
        continue
      }
    }
    let files = try JournalFolder.names(in: folder)
    func rows(largest: UInt64) -> [String] {
      var found: [String] = []
      let reading = RowsReading<RefreshRows, [String]>(
        interruption: Interruption(), largest: largest
      ) { rows, source in
        rows.map { row in
          var json = JSONWriter()
          row.write(to: &json, of: source)
          return json.text
        }
      }
      _ = reading.read(.init(files: files)) {
        found += $0
        return true
      }
      return found
    }
    let (small, large) = (rows(largest: .max), rows(largest: 0))
    #expect(small == large)
    #expect(small.count > 1_000)
  }
}

extension JournalFolder {
  /// Returns the journals of a folder.
  fileprivate static func names(in folder: TemporaryFolder) throws -> [JournalFile] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
      $0.hasSuffix(".journal")
    }.sorted().map { JournalFile(path: folder.file($0), name: $0) }
  }
}

@Suite("why with several files")
struct WhyFilesTests {
  private let folder: TemporaryFolder
  private let recorded = Repository.root.appending(path: "Specs/Journals").path(
    percentEncoded: false)

  init() throws { folder = try TemporaryFolder() }

  @Test("RPL-3 a table counts the causes, the most frequent first, and the parts follow its order")
  func groups() throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    try SampleJournal.write(to: folder.file("b.journal"))
    let reused = "\(recorded)/killed-in-refresh.journal"
    let run = ToolRun.inProcess(["why", folder.path, reused])
    #expect(run.code == 0)
    let lines = run.output.components(separatedBy: "\n")
    let table = lines.dropFirst().prefix { !$0.isEmpty }.map { $0.split(separator: " ") }
    let counts = table.map { Int($0[0]) ?? 0 }
    #expect(lines.first?.contains("Ends  Cause") == true)
    #expect(counts == counts.sorted(by: >) && counts.reduce(0, +) == 5)
    let parts = lines.filter {
      $0.hasPrefix("\(table[0][1]): ") || $0.hasPrefix("killed-in-refresh: ")
    }
    #expect(parts.count == 2)
    #expect(parts.last == "killed-in-refresh: 1 end, 1 likely")
    #expect(lines.count { $0.hasPrefix("Fix: ") } == table.count)
    #expect(run.output.hasSuffix("5 ends in 3 journals.\n"))
  }

  @Test("RPL-3 a part lists five ends and counts the rest; --all lists each")
  func limited() throws {
    let bytes = try Data(contentsOf: URL(filePath: "\(recorded)/killed-in-refresh.journal"))
    for index in 0..<7 { _ = try folder.write(Array(bytes), to: "\(index).journal") }
    for (arguments, listed, rest) in [
      ([String](), 5, "  … 2 more; --all lists them"), (["--all"], 7, nil),
    ] {
      let run = ToolRun.inProcess(["why"] + arguments + [folder.path])
      let lines = run.output.components(separatedBy: "\n")
      #expect(lines.count { $0.contains(".journal @12  ") } == listed)
      #expect(lines.first { $0.hasPrefix("  …") } == rest)
      #expect(lines.contains("killed-in-refresh: 7 ends, 7 likely"))
    }
  }

  @Test("RPL-5 on a terminal the table and the parts break between words")
  func width() {
    let run = ToolRun.inProcess(
      ["why", recorded, "--color", "never"], environment: ["COLUMNS": "100"], isTerminal: true)
    let lines = run.output.components(separatedBy: "\n")
    // A path is not broken.
    #expect(lines.filter { $0.count > 100 && !$0.contains(".journal") }.isEmpty)
    #expect(lines.count { $0.hasPrefix("Fix: ") } > 20)
  }

  @Test("RPL-3 with JSON each end is an object with the file, the journal, the user and the app")
  func json() throws {
    let run = ToolRun.inProcess(["why", "--json", recorded])
    let ends = try run.objects()
    let rows = try ToolRun.inProcess(["ends", recorded]).objects().filter {
      !($0["sequence"] is NSNull)
    }
    #expect(ends.count == rows.count)
    for (end, row) in zip(ends, rows) {
      for key in ["file", "journal", "user", "app", "cause", "certainty", "sequence"] {
        #expect("\(end[key] ?? "")" == "\(row[key] ?? "")", "\(key)")
      }
    }
  }

  @Test("RPL-3 --oneline prints a line for each end in the order of the files")
  func lines() throws {
    let run = ToolRun.inProcess(["why", "--oneline", recorded])
    let lines = run.output.split(separator: "\n").dropLast()
    let rows = try ToolRun.inProcess(["ends", recorded]).objects().filter {
      !($0["sequence"] is NSNull)
    }
    #expect(lines.count == rows.count)
    for (line, row) in zip(lines, rows) {
      #expect(line.hasPrefix("\(row["file"] ?? "") @\(row["sequence"] ?? "")  "))
      #expect(line.contains("[\(row["cause"] ?? ""), \(row["certainty"] ?? "")]"))
    }
  }

  @Test("RPL-3 RPL-5 if nothing ended the exit code is 3; --at needs one file")
  func nothing() throws {
    let open = "\(recorded)/still-signed-in.journal"
    let other = "\(recorded)/still-offline.journal"
    let none = folder.file("none.journal")
    try SampleJournal.write(to: none, batches: [(0, [.note(.closed)])])
    let run = ToolRun.inProcess(["why", open, other, none])
    #expect(run.code == 3)
    #expect(
      run.output
        == "Nothing ended in 3 journals: 1 × still-offline, 1 × still-signed-in, 1 × signed out.\n")
    #expect(ToolRun.inProcess(["why", "--at", "@1", open, other]).code == 64)
  }
}
