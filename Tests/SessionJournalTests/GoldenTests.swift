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
    let expected = try contents(of: golden.expected).split(separator: UInt8(ascii: "\n")).map {
      try JSONSerialization.jsonObject(with: Data($0)) as? NSDictionary
    }
    var reader = try JournalReader(path: golden.file)
    var lines: [NSDictionary] = [
      [
        "version": reader.header.formatVersion,
        "features": reader.header.beginsWithSnapshot ? 1 : 0,
        "identifier": reader.identifier.description, "salt": reader.header.salt,
        "firstSequence": reader.header.firstSequence,
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
  ) -> NSDictionary {
    let line: NSMutableDictionary = ["records": totals.records, "watermarks": totals.watermarks]
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
      }, "room": survey.room,
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

/// One file of `Specs/Golden`, and how it is made.
struct Golden: Sendable, CustomTestStringConvertible {
  let name: String

  /// The exit code of the reader in another language.
  let status: Int32

  /// Its header prevents reading.
  var isRefused = false

  let bytes: @Sendable () throws -> [UInt8]

  var testDescription: String { name }
  var file: String { ChildProcess.specs + "/Golden/\(name).journal" }
  var expected: String { ChildProcess.specs + "/Golden/\(name).json" }

  /// The question to the reader in another language.
  var question: [String] {
    [ChildProcess.specs + "/journal_reader.py"] + (isRefused ? ["--verdict"] : []) + [file]
  }

  static let all = whole + tails + damages + refused + compacted

  private static let whole = [
    Golden(name: "plain", status: 0) { try SampleJournal(closed: true).bytes },
    Golden(name: "zeros", status: 0) { try open() + zeros(64) },
    Golden(name: "unknown-kinds", status: 0) {
      try open { $0.kind = 0x7E } + frame(7, after: forge { $0.kind = 0x7E }) { $0.kind = 0x80 }
    },
  ]

  private static let tails = [
    Golden(name: "torn", status: 2) { Array(try open().dropLast(9)) },
    Golden(name: "short-header", status: 2) { Array(try open { $0.left = 0 }.dropLast(12)) },
    Golden(name: "short-batch", status: 2) {
      try open() + SampleJournal(closed: false).unfinishedBatch
    },
    Golden(name: "unfinished", status: 2) {
      try open() + SampleJournal(closed: false).unfinishedBatch + zeros(64)
    },
    Golden(name: "undetermined", status: 2) {
      var bytes = try open()
      bytes[bytes.count - 20] ^= 0x10
      return bytes
    }, Golden(name: "impossible", status: 2) { try open { $0.kind = 0 } },
    Golden(name: "other-past", status: 2) { try open { $0.chain = 7 } },
    Golden(name: "sequence-beyond", status: 2) {
      try open() + rot(32) + forge { $0.sequence = .max }
    },
    Golden(name: "miscounted", status: 2) {
      let first = try forge { $0.left = 2 }
      return try open() + first + frame(7, after: first) { $0.delta = 2 }
    },
  ]

  private static let damages = [
    Golden(name: "damaged", status: 65) {
      let sample = try SampleJournal(closed: true)
      var bytes = sample.bytes
      // In the payload of the second record of the batch of three.
      bytes[sample.boundaries[1] + 32 + 40] ^= 0x01
      return bytes
    },
    Golden(name: "damaged-header", status: 65) {
      var bytes = try SampleJournal(closed: true).bytes
      bytes[64 + 5] ^= 0x80
      return bytes + zeros(64)
    },
    Golden(name: "sequence-highest", status: 65) {
      try open() + rot(32) + forge { $0.sequence = (1 << 63) - 1 }
    },
    Golden(name: "dropped", status: 65) {
      let sample = try SampleJournal(closed: true)
      return Array(sample.bytes[..<sample.boundaries[1]] + sample.bytes[sample.boundaries[2]...])
    },
  ]

  private static let refused = [
    Golden(name: "header-damaged", status: 65, isRefused: true) {
      var bytes = try open()
      bytes[40] ^= 2
      return bytes
    },
    Golden(name: "newer", status: 65, isRefused: true) {
      try under { $0.replaceSubrange(10..<12, with: [2, 0]) }
    }, Golden(name: "unknown-feature", status: 65, isRefused: true) { try under { $0[12] = 2 } },
  ]

  /// A snapshot of the records before sequence 5, two records, and a watermark.
  private static let compacted = [
    Golden(name: "compacted", status: 0) { try compactedBytes() },
    Golden(name: "compacted-damaged", status: 65) {
      var bytes = try compactedBytes()
      bytes[64 + 32 + 3] ^= 4
      return bytes
    }, Golden(name: "snapshot-impossible", status: 65) { try compactedBytes { $0.delta = 1 } },
    Golden(name: "snapshot-replaced", status: 65) { try compactedBytes { $0.kind = 1 } },
  ]

  private static func compactedBytes(snapshot change: (inout FrameForge) -> Void = { _ in }) throws
    -> [UInt8]
  {
    var bytes = try under { header in
      header[12] = 1
      header[40] = 5
    }
    bytes.removeSubrange(JournalHeader.size...)
    var chain = number(bytes, at: 60)
    let frames: [(UInt64, UInt8, UInt32, String)] = [
      (4, 0x7F, .max, "a snapshot of four records"), (5, 1, 1, "the fifth"), (6, 0x83, 1, "sixth"),
      (7, 0xFF, 1, ""),
    ]
    for (sequence, kind, delta, text) in frames {
      var forge = FrameForge(
        sequence: sequence, chain: chain, delta: delta, kind: kind, payload: Array(text.utf8))
      if kind == 0x7F { change(&forge) }
      let frame = forge.bytes
      chain = number(frame, at: 0)
      bytes += frame
    }
    return bytes
  }
}

extension Golden {
  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func rot(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xFF, count: count) }

  /// The sample without closing.
  private static func open() throws -> [UInt8] { try SampleJournal(closed: false).bytes }

  /// The same with one more frame.
  private static func open(_ change: (inout FrameForge) -> Void) throws -> [UInt8] {
    try open() + forge(change)
  }

  /// A frame for the end of the sample that was not closed.
  private static func forge(_ change: (inout FrameForge) -> Void) throws -> [UInt8] {
    let sample = try SampleJournal(closed: false)
    var forge = FrameForge(sequence: 6, chain: number(sample.bytes, at: sample.boundaries[2]))
    change(&forge)
    return forge.bytes
  }

  private static func frame(
    _ sequence: UInt64, after frame: [UInt8], _ change: (inout FrameForge) -> Void
  ) -> [UInt8] {
    var forge = FrameForge(sequence: sequence, chain: number(frame, at: 0))
    change(&forge)
    return forge.bytes
  }

  /// The sample with another header, whose checksum is valid.
  private static func under(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
    let bytes = try open()
    var header = Array(bytes[..<60])
    change(&header)
    var checksum = Checksum()
    checksum.extend(over: header)
    return header + little(checksum.value) + bytes[JournalHeader.size...]
  }
}
