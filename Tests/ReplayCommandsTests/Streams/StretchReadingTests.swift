import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import SessionTesting
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// A timeline that several threads make, compared with that of one.
@Suite("Journals that several threads read")
struct StretchReadingTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The timeline of a file in stretches of this length.
  private func timeline(_ path: String, _ options: [String], length: UInt64) throws -> CommandAnswer
  {
    let arguments = try Arguments([path] + options, syntax: TimelineCommand.syntax)
    var command = try TimelineCommand(arguments)
    command.stretches = StretchReading(length: length)
    let run = command
    return CommandAnswer { (context) throws(ToolError) in
      var file = JournalFile(path: path, name: "x.journal")
      file.redactor = try run.display.redaction.redactor(context, isQuiet: true)
      return try run.run([file], context)
    }
  }

  /// A file of legal records, some in batches; some files have a fault.
  private func file(_ choices: Choices) throws -> String {
    let isFlawed = choices.chance(1, in: 3)
    var left: UInt16 = 0
    let records = History.legal(upTo: 400)(choices).records
    var frames = records.enumerated().map { index, record in
      var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
      if isFlawed, choices.chance(1, in: 200) { payload.append(0) }
      left = left > 0 ? left - 1 : choices.chance(1, in: 4) ? UInt16(choices.draw(in: 0...9)) : 0
      left = min(left, UInt16(records.count - 1 - index))
      return CraftedJournals.Frame(
        kind: kind, payload: payload, sequence: record.sequence, remaining: left)
    }
    if choices.chance(1, in: 4), let last = frames.last?.sequence {
      frames.append(CraftedJournals.watermark(last + 1))
    }
    var bytes = CraftedJournals.file(frames)
    switch choices.draw(in: 0...5) {
    case 0 where bytes.count > 64: bytes[choices.draw(in: 64...bytes.count - 1)] ^= 8
    case 1: bytes += [UInt8](repeating: 0, count: choices.draw(in: 1...5_000))
    case 2 where bytes.count > 80: bytes.removeLast(choices.draw(in: 1...16))
    default: break
    }
    return try folder.write(bytes, to: "x.journal")
  }

  private static let options: [[String]] = [
    ["--json"], ["--json", "--kind", "logout"], ["--json", "--kind", "event,opened"],
    ["--json", "--reason", "user"], ["--json", "--redact"],
    ["--json", "-C", "1", "--kind", "login"],
    ["--json", "--delta"], ["--json", "-n", "3"], ["--json", "--reverse"], ["--kind", "note"],
  ]

  @Test("RPL-1 a timeline in stretches has the lines and the fault that one thread finds")
  func sameTimeline() {
    expect(
      Property(
        "timeline in stretches", cases: Sweep("stretches", takingOneOf: 12).cases(of: 150),
        regressions: RegressionFolder()
      ).check { choices in
        let path = try file(choices)
        for options in Self.options {
          let whole = try timeline(path, options, length: .max)
          let length = UInt64(choices.draw(in: 64...4_000))
          let divided = try timeline(path, options, length: length)
          try choices.require(divided == whole, "\(options) \(length): \(divided) for \(whole)")
        }
      })
  }

  @Test("RPL-1 a stretch with a record that cannot be read is left to the reader")
  func leaves() throws {
    let records = (0..<200).map { _ in CraftedJournals.opened }
    let path = try folder.write(
      CraftedJournals.file(records.enumerated().map { CraftedJournals.frame($1, UInt64($0 + 1)) }),
      to: "x.journal")
    let file = JournalFile(path: path, name: "x.journal")
    for wanted in [1, 77, 200, 201] as [UInt64] {
      var reader = try file.open()
      var made: [UInt64] = []
      StretchReading(length: 512).visit(&reader) { (reader, end) throws(JournalError) in
        var found: [UInt64] = []
        let isGood = try reader.visit(to: end) { frame, _ in
          found.append(frame.sequence)
          return frame.sequence != wanted
        }
        return isGood ? found : nil
      } take: { part in
        made += part
        return true
      }
      #expect(made == made.indices.map { UInt64($0 + 1) })
      #expect(made.count < wanted && wanted - UInt64(made.count) < 20)
      #expect(try reader.next()?.sequence == (wanted > 200 ? nil : UInt64(made.count + 1)))
    }
  }

  @Test("RPL-1 a reading in stretches ends when nothing more is wanted")
  func ends() throws {
    let records = (0..<2_000).map { _ in CraftedJournals.opened }
    let path = try folder.write(
      CraftedJournals.file(records.enumerated().map { CraftedJournals.frame($1, UInt64($0 + 1)) }),
      to: "x.journal")
    var reader = try JournalFile(path: path, name: "x.journal").open()
    var taken = 0
    StretchReading(length: 512).visit(&reader) { (reader, end) throws(JournalError) in
      try reader.visit(to: end) { _, _ in true }
    } take: { _ in
      taken += 1
      return taken < 3
    }
    #expect(taken == 3)
  }
}
