import ChildProcesses
import Foundation
import SessionJournal
import SessionTestKit
import Testing

@Suite("The reader in another language")
struct OtherReaderProperties {
  /// The report of a reader about a file.
  private struct Told: Decodable, Equatable {
    struct Part: Decodable, Equatable {
      var offset: UInt64
      var bytes: UInt64
      var firstSequence: UInt64?
      var lastSequence: UInt64?
      var looseFrames: UInt64?
      var records: UInt64?
    }

    struct Behind: Decodable, Equatable {
      var lost: [Part]
      var readable: [Part]
      var room: UInt64
    }

    var records: UInt64
    var watermarks: UInt64
    var ending: String
    var offset: UInt64
    var sequence: UInt64?
    var bytes: UInt64?
    var flaw: String?
    var room: UInt64?
    var behind: Behind?
  }

  private static func told(of bytes: [UInt8]) throws -> Told {
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    let totals = reader.totals
    var told = Told(
      records: totals.records, watermarks: totals.watermarks, ending: "clean",
      offset: totals.bytes)
    switch survey.ending {
    case .clean:
      told.room = reader.room
      return told
    case .torn(let tail), .undetermined(let tail):
      if case .torn = survey.ending { told.ending = "torn" } else { told.ending = "undetermined" }
      (told.offset, told.sequence) = (tail.offset, tail.sequence)
      (told.bytes, told.flaw) = (tail.bytes, tail.flaw.rawValue)
    case .damaged(let damage):
      told.ending = "damaged"
      (told.offset, told.sequence) = (damage.offset, damage.sequence)
      told.flaw = damage.flaw.rawValue
    }
    told.behind = Told.Behind(
      lost: survey.gaps.map { gap in
        Told.Part(
          offset: gap.offsets.lowerBound, bytes: UInt64(gap.offsets.count),
          firstSequence: gap.sequences?.lowerBound, lastSequence: gap.sequences?.upperBound,
          looseFrames: gap.looseFrames)
      },
      readable: survey.runs.map { run in
        Told.Part(
          offset: run.offsets.lowerBound, bytes: UInt64(run.offsets.count),
          firstSequence: run.sequences.lowerBound, lastSequence: run.sequences.upperBound,
          records: run.records)
      }, room: survey.room)
    return told
  }

  /// The report of the other reader on each file, all read by one process.
  private static func othersTold(of files: [[UInt8]]) throws -> [Told] {
    let list = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { unlink(list.path(percentEncoded: false)) }
    let lines = files.map { Data($0).base64EncodedString() + "\n" }
    try Data(lines.joined().utf8).write(to: list)
    let program = """
      import base64, json, sys, journal_reader
      for line in open(sys.argv[1]):
        print(json.dumps(journal_reader.verdict_of(base64.b64decode(line))))
      """
    let reader = try ChildProcess.python(["-c", program, list.path(percentEncoded: false)])
    try #require(reader.code == 0)
    return try reader.bytes.split(separator: UInt8(ascii: "\n"))
      .map { try JSONDecoder().decode(Told.self, from: $0) }
  }

  @Test("JRN-5 the Python reader and the library report the same for any sealed frames")
  func agree() throws {
    let files = (0..<300).map { SealedFile(Choices(seed: $0)).bytes }
    let others = try Self.othersTold(of: files)
    #expect(others.count == files.count)
    for (seed, (file, other)) in zip(files, others).enumerated() {
      let told = try Self.told(of: file)
      #expect(told == other, "seed \(seed): \(Data(file).base64EncodedString())")
    }
    let endings = Set(others.map(\.ending))
    #expect(endings == ["clean", "torn", "undetermined", "damaged"])
    #expect(others.contains { $0.behind?.readable.isEmpty == false })
  }
}
