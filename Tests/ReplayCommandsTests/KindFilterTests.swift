import ChildProcesses
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Testing

@testable import ReplayCommands

@Suite("KindFilter")
struct KindFilterTests {
  private static let words = ["logout", "refreshFailed", "opened", "event", "note", "unknown"]
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A file of legal records, some of which cannot be decoded.
  private func file(_ choices: Choices) throws -> String {
    let isFlawed = choices.chance(1, in: 2)
    let frames = History.legal(upTo: 60)(choices).records.map { record in
      var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      if isFlawed, choices.chance(1, in: 8) { payload.append(0) }
      return CraftedJournals.Frame(kind: kind, payload: payload, sequence: record.sequence)
    }
    var bytes = CraftedJournals.file(frames)
    if choices.chance(1, in: 4), bytes.count > 64 {
      bytes[choices.draw(in: 64...bytes.count - 1)] ^= 8
    }
    return try folder.write(bytes, to: "x.journal")
  }

  @Test("RPL-1 --kind shows the records that all of the timeline shows, with the same fault")
  func sameRecords() {
    expect(
      Property(
        "timeline of some kinds", cases: Sweep("some kinds", takingOneOf: 3).cases(of: 150),
        regressions: RegressionFolder()
      ).check { choices in
        let path = try file(choices)
        let word = choices.pick(Self.words) ?? "event"
        let all = ToolRun.inProcess(["timeline", path, "--json"])
        let some = ToolRun.inProcess(["timeline", path, "--json", "--kind", word])
        func isShown(_ line: Substring) -> Bool {
          line.contains("\"class\":\"\(word)\"") || line.contains("\"name\":\"\(word)\"")
        }
        let expected = all.output.split(separator: "\n").filter(isShown)
        try choices.require(some.output.split(separator: "\n") == expected, "\(word)")
        try choices.require(some.code == all.code, "\(word): \(some.code) for \(all.code)")
        try choices.require(some.errors == all.errors, "\(word): \(some.errors)")
        for number in [2, 30_000] {
          let last = ToolRun.inProcess([
            "timeline", path, "--json", "--kind", word, "-n", "\(number)",
          ])
          try choices.require(
            last.output.split(separator: "\n") == expected.suffix(number), "\(word) -n \(number)")
          try choices.require(
            last.code == all.code, "\(word) -n \(number): \(last.code) for \(all.code)")
        }
      })
  }

  @Test("a kind byte is possible if a record with it may be included")
  func kindBytes() throws {
    for word in KindFilter.known {
      let filter = try KindFilter(word)
      for kind in UInt8.min...UInt8.max {
        let unknown = SessionRecord.Content.unknown(.init(kind: kind, payload: [0xA0]))
        let isKnown =
          SessionEvent.Kind(rawValue: kind) != nil || SessionNote.Kind(rawValue: kind) != nil
        if !isKnown, filter.includes(unknown) {
          #expect(filter.mayInclude(kind: kind), "\(word) \(kind)")
        }
      }
      for record in SampleJournal.records where filter.includes(record.content) {
        #expect(filter.mayInclude(kind: record.content.kind), "\(word) \(record.name)")
      }
    }
  }
}
