import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Formats of export")
struct FormatTests {
  /// The requirements of a trace viewer.
  private func check(trace text: String, records: Int) throws {
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let events = try #require(object?["traceEvents"] as? [[String: Any]])
    var (last, instants) = (Int64(0), 0)
    var open: [String] = []
    var slices: [String] = []
    for event in events {
      let phase = try #require(event["ph"] as? String)
      guard phase != "M" else { continue }
      let name = try #require(event["name"] as? String)
      let time = try #require((event["ts"] as? NSNumber)?.int64Value)
      guard time >= last else { throw Falsified("time goes back to \(time)") }
      last = time
      let key = "\(event["cat"] ?? "") \(event["id"] ?? "") \(name)"
      switch phase {
      case "i": instants += 1
      case "b":
        guard !open.contains(key) else { throw Falsified("\(key) begins twice") }
        open.append(key)
      case "e":
        guard let place = open.firstIndex(of: key) else { throw Falsified("\(key) did not begin") }
        open.remove(at: place)
      case "B": slices.append(name)
      case "E": guard slices.popLast() == name else { throw Falsified("\(name) does not end here") }
      default: throw Falsified("phase \(phase)")
      }
    }
    guard open.isEmpty, slices.isEmpty else { throw Falsified("open: \(open) \(slices)") }
    guard instants == records else { throw Falsified("\(instants) of \(records) records") }
    let lines = text.split(separator: "\n").dropFirst().dropLast()
    guard lines.count == events.count || events.isEmpty else { throw Falsified("lines") }
  }

  /// The lines of a diagram, parsed by the part of Mermaid's grammar that the tool uses.
  private func check(diagram text: String, events: Int) throws {
    var lines = text.split(separator: "\n").map(String.init)
    guard lines.removeFirst() == "stateDiagram-v2" else { throw Falsified(text) }
    let state = "(unauthenticated|authenticated|expired)"
    let edge = try Regex(
      "    \(state) --> \(state) : [a-zA-Z]+ ×([0-9]+)( \\([a-zA-Z]+(\\([0-9]+\\))?\\))?")
    let others = try [
      "    %% journal [0-9a-f-]{36}, [0-9,]+ records?", "    \\[\\*\\] --> \(state)",
      "    note right of \(state)", "        [a-zA-Z0-9#; .+-]+", "    end note",
    ].map { try Regex($0) }
    var count = 0
    for line in lines {
      if let found = try edge.wholeMatch(in: line) {
        count += Int(found.output[3].substring ?? "") ?? 0
      } else if try !others.contains(where: { try $0.wholeMatch(in: line) != nil }) {
        throw Falsified("no line of a diagram: \(line)")
      }
    }
    guard count == events else { throw Falsified("\(count) of \(events) events in:\n\(text)") }
  }

  @Test("RPL-4 STO-3 traces and diagrams of drawn sessions are well formed and contain no names")
  func drawn() throws {
    let folder = try TemporaryFolder()
    expect(
      Property("traces and diagrams are well formed", cases: 30).check { choices in
        let history = History.any(upTo: 24)(choices)
        choices.step(history.description)
        let path = try folder.write(
          DrawnJournal(choices, history, compactedIn: nil).bytes, to: "drawn.journal")
        // Impossible histories are not exported.
        let lines = try ToolRun.inProcess(["export", path]).objects()
        let records = lines.count { $0["facts"] != nil }
        let events = lines.count { $0["class"] as? String == "event" }
        let trace = ToolRun.inProcess(["export", path, "--format", "trace"]).output
        try check(trace: trace, records: records)
        let diagram = ToolRun.inProcess(["export", path, "--format", "mermaid"]).output
        try check(diagram: diagram, events: events)
        for (name, text) in [("trace", trace), ("mermaid", diagram)] {
          let leaks = try Leak.search(text, source: path, isLines: false)
          guard leaks.isEmpty else { throw Falsified("\(name): \(leaks.prefix(3))") }
        }
      })
  }

  @Test("RPL-4 diagrams begin with the state in which the exported part begins")
  func parts() throws {
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    for name in ["a", "compacted"] {
      let path = folder.file(name + ".journal")
      let diagram = ToolRun.inProcess([
        "export", path, "--format", "mermaid", "--since", "@16", "--until", "@18",
      ]).output
      #expect(diagram.contains("[*] --> expired\n"))
      #expect(diagram.contains("expired --> authenticated : login ×1 (biometric)"))
      let trace = ToolRun.inProcess(["export", path, "--format", "trace", "--since", "@22"]).output
      #expect(trace.contains(#"{"ph":"b","name":"tok#6","#))
    }
  }
}

@Suite("Specs/ReplayFiles.md")
struct FilesPageTests {
  private func rows(under heading: String) throws -> [[String]] {
    let lines = try Repository.text("Specs/ReplayFiles.md").components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "## \(heading)"))
    return lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| ") }.map {
      row in row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test("RPL-4 the page and exported lines have the same classes, each with the same keys")
  func classes() throws {
    let page = try rows(under: "Lines").prefix { $0[0] != "ending" }.dropFirst().filter {
      $0[0] != "---"
    }
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
    let rows = try rows(under: "Lines").drop { $0[0] != "ending" }.dropFirst().filter {
      $0[0] != "---"
    }
    #expect(rows.map { $0[0] } == ExportEnding.allCases.map(\.rawValue))
  }

  @Test("RPL-4 STO-3 the page and the code replace the same values by the same kinds of pseudonyms")
  func categories() throws {
    let rows = try rows(under: "Redaction").dropFirst().filter { $0[0] != "---" }
    #expect(rows.map { $0[0] } == Pseudonyms.Category.allCases.map(\.rawValue))
    for row in rows where row[0] != "journal" { #expect(row[1].contains("`\(row[0])-…`")) }
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
    ] { #expect(other.name(.user, "u1") != pseudonyms.name(.user, "u1")) }
    #expect(
      pseudonyms.name(.school, "u1").dropFirst(7) != pseudonyms.name(.user, "u1").dropFirst(5))
    #expect(Pseudonyms(key: Array("k".utf8)) == Pseudonyms(key: Array("k".utf8)))
    let id = pseudonyms.journal("u1").description
    #expect(id.utf8.count == 36 && Array(id)[14] == "8" && "89ab".contains(Array(id)[19]))
  }
}
