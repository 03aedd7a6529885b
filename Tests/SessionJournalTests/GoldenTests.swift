import ChildProcesses
import Foundation
import SessionJournal
import Testing

/// The files in `Specs/Golden`, which every later version must read.
///
/// To write them again after a change of the format: `JOURNAL_GOLDEN=write swift test --filter
/// GoldenTests`.
@Suite("Golden files")
struct GoldenTests {
  @Test("JRN-5 the writer writes the golden files byte for byte", arguments: Golden.all)
  func bytes(golden: Golden) throws {
    let bytes = try golden.bytes()
    if ProcessInfo.processInfo.environment["JOURNAL_GOLDEN"] == "write" {
      try Data(bytes).write(to: URL(filePath: golden.file))
      let other = try ChildProcess.python(golden.question, errors: .dropped)
      try other.bytes.write(to: URL(filePath: golden.expected))
    }
    #expect(try contents(of: golden.file) == bytes)
  }

  @Test("JRN-5 the reader in another language reads them as expected", arguments: Golden.all)
  func otherReader(golden: Golden) throws {
    let other = try ChildProcess.python(golden.question)
    // A refused file has a verdict only if it is requested; for other files both questions are one.
    let full =
      golden.isRefused
      ? try ChildProcess.python(
        [ChildProcess.specs + "/journal_reader.py", golden.file], errors: .dropped) : other
    #expect(full.code == golden.status)
    #expect(Array(other.bytes) == (try contents(of: golden.expected)))
  }

  @Test("JRN-5 the reader in another language reports by its exit code what it cannot read")
  func otherReaderRefuses() throws {
    let scratch = try TemporaryFolder()
    let program = ChildProcess.specs + "/journal_reader.py"
    #expect(try ChildProcess.python([program, scratch.journal], errors: .dropped).code == 66)
    for bytes in [[], Array("no journal".utf8), [UInt8](repeating: 0, count: 100)] {
      let path = try scratch.write(bytes)
      #expect(try ChildProcess.python([program, path], errors: .dropped).code == 65)
    }
    let pipe = scratch.file("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [scratch.path, pipe, "/dev/null"] {
      #expect(try ChildProcess.python([program, path], errors: .dropped).code == 65, "\(path)")
    }
    let inFile = try scratch.write([1]) + "/b.journal"
    #expect(try ChildProcess.python([program, inFile], errors: .dropped).code == 66)
    let loop = scratch.file("loop")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(try ChildProcess.python([program, loop], errors: .dropped).code == 74)
  }

  @Test("JRN-3 this reader reads them as expected", arguments: Golden.all)
  func thisReader(golden: Golden) throws {
    guard golden.status != 65 || !golden.isRefused else {
      let line = verdictLine(try contents(of: golden.file))
      #expect(Array("{\"ending\": \"\(line)\"}\n".utf8) == (try contents(of: golden.expected)))
      return
    }
    let expected = try contents(of: golden.expected).split(separator: UInt8(ascii: "\n"))
      .map { try JSONSerialization.jsonObject(with: Data($0)) as? NSDictionary }
    var reader = try JournalReader(path: golden.file)
    var lines: [NSDictionary] = [
      [
        "version": reader.header.formatVersion,
        "features": reader.header.beginsWithSnapshot ? 1 : 0,
        "identifier": reader.identifier.description,
        "salt": reader.header.salt, "firstSequence": reader.header.firstSequence,
        "maximumRecordSize": reader.header.maximumRecordSize, "crc": reader.header.checksum,
      ]
    ]
    while let record = try reader.next() {
      lines.append([
        "sequence": record.sequence, "offset": record.offset, "kind": record.kind,
        "flags": record.flags, "left": record.remainingInBatch,
        "payload": record.payload.map { String(format: "%02x", $0) }.joined(),
      ])
    }
    let ending = try reader.ending()
    let survey = try reader.survey()
    lines.append(Self.line(ending, reader.totals, room: reader.room, survey))
    #expect(lines == expected)
  }

  private static func line(
    _ ending: JournalEnding, _ totals: JournalTotals, room: UInt64, _ survey: JournalSurvey
  )
    -> NSDictionary
  {
    let line: NSMutableDictionary = [
      "records": totals.records, "watermarks": totals.watermarks,
    ]
    let (name, tail): (String, JournalTail?) =
      switch ending {
      case .clean: ("clean", nil)
      case .torn(let tail): ("torn", tail)
      case .undetermined(let tail): ("undetermined", tail)
      case .damaged: ("damaged", nil)
      }
    line["ending"] = name
    if ending != .clean { line["behind"] = describe(survey) }
    if ending == .clean { line.addEntries(from: ["offset": totals.bytes, "room": room]) }
    if let tail {
      line.addEntries(from: [
        "offset": tail.offset, "sequence": tail.sequence, "bytes": tail.bytes,
        "flaw": tail.flaw.rawValue,
      ])
    }
    if case .damaged(let damage) = ending {
      line.addEntries(from: [
        "offset": damage.offset, "sequence": damage.sequence, "flaw": damage.flaw.rawValue,
      ])
    }
    return line
  }

  private static func describe(_ survey: JournalSurvey) -> NSDictionary {
    [
      "lost": survey.gaps.map { gap -> NSDictionary in
        [
          "offset": gap.offsets.lowerBound, "bytes": gap.offsets.count,
          "firstSequence": gap.sequences.map { $0.lowerBound as NSNumber } ?? NSNull(),
          "lastSequence": gap.sequences.map { $0.upperBound as NSNumber } ?? NSNull(),
          "looseFrames": gap.looseFrames,
        ]
      },
      "readable": survey.runs.map { run -> NSDictionary in
        [
          "offset": run.offsets.lowerBound, "bytes": run.offsets.count,
          "firstSequence": run.sequences.lowerBound, "lastSequence": run.sequences.upperBound,
          "records": run.records,
        ]
      },
      "room": survey.room,
    ]
  }

  @Test("JRN-2 the golden files contain every flaw that a file can have by itself")
  func everyFlaw() throws {
    let flaws = try Golden.all.filter { !$0.isRefused }.compactMap { golden in
      var reader = try JournalReader(path: golden.file)
      switch try reader.ending() {
      case .clean: return JournalFlaw?.none
      case .torn(let tail), .undetermined(let tail): return tail.flaw
      case .damaged(let damage): return damage.flaw
      }
    }
    // A history can only change while it is being read.
    #expect(Set(flaws) == Set(JournalFlaw.allCases).subtracting([.historyChanged]))
  }
}
