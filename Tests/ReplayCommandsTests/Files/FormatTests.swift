import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

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
      case "E":
        guard slices.popLast() == name else { throw Falsified("\(name) does not end here") }
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

  @Test(
    "RPL-4 STO-3 traces and diagrams of drawn sessions are well formed and contain no names")
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
      let diagram = ToolRun.inProcess(
        ["export", path, "--format", "mermaid", "--since", "@16", "--until", "@18"]
      ).output
      #expect(diagram.contains("[*] --> expired\n"))
      #expect(diagram.contains("expired --> authenticated : login ×1 (biometric)"))
      let trace = ToolRun.inProcess(
        ["export", path, "--format", "trace", "--since", "@22"]
      ).output
      #expect(trace.contains(#"{"ph":"b","name":"tok#6","#))
    }
  }
}
