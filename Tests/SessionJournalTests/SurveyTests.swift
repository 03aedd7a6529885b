import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Surveys of journals that do not end cleanly")
struct SurveyTests {
  @Test("JRN-2 the report depends only on the bytes: from memory, from a file, and repeatedly")
  func pure() throws {
    let sample = try SampleJournal(closed: true)
    let scratch = try TemporaryFolder()
    for place in stride(from: JournalHeader.size, to: sample.bytes.count, by: 11) {
      for change in 0..<3 {
        var bytes = sample.bytes
        switch change {
        case 0: bytes[place] ^= 0x40
        case 1: bytes.removeSubrange(place...)
        default: bytes.replaceSubrange(place..., with: [UInt8](repeating: 0, count: 50))
        }
        let path = try scratch.write(bytes)
        var reports: [Report] = []
        for _ in 0..<2 {
          var inMemory = try JournalReader(bytes: bytes)
          reports.append(try Report(&inMemory))
          var onDisk = try JournalReader(path: path)
          reports.append(try Report(&onDisk))
          // The same reader gives the same report again.
          reports.append(try Report(&onDisk))
        }
        #expect(reports.allSatisfy { $0 == reports[0] }, "\(change) at \(place)")
        #expect(try contents(of: path) == bytes)
      }
    }
  }

  private struct Report: Equatable {
    let ending: JournalEnding
    let totals: JournalTotals
    let room: UInt64
    let survey: JournalSurvey

    init(_ reader: inout JournalReader) throws {
      ending = try reader.ending()
      totals = reader.totals
      room = reader.room
      survey = try reader.survey()
    }
  }

  /// Frames of one record each, with junk in the payload of every fourth.
  private func islands(_ count: Int) -> [UInt8] {
    let header = JournalHeader(identifier: .random(), salt: 3, maximumRecordSize: 64)
    var writer = FrameWriter(seed: header.seed, chain: header.checksum)
    for sequence in 1...UInt64(count) {
      writer.append(
        draft("record"), sequence: sequence, durable: sequence - 1, remainingInBatch: 0)
    }
    var bytes = header.encoded + writer.bytes
    for place in stride(from: 0, to: count, by: 4) { bytes[64 + place * 40 + 33] ^= 1 }
    return bytes
  }

  @Test("JRN-2 the list of runs is bounded, and later ones are counted")
  func bounded() throws {
    #expect(JournalSurvey.listedRuns == 1_024)
    let count = 4 * (JournalSurvey.listedRuns + 7)
    let bytes = islands(count)
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    #expect(survey.runs.count == JournalSurvey.listedRuns)
    #expect(survey.runs.allSatisfy { $0.records == 3 })
    #expect(survey.gaps.count == JournalSurvey.listedRuns)
    #expect(survey.rest?.runs == 7)
    #expect(survey.rest?.records == 21)
    #expect(survey.rest?.isSearched == true)
    #expect(survey.rest?.offsets.lowerBound == survey.runs.last?.offsets.upperBound)
    #expect(survey.rest?.offsets.upperBound == UInt64(bytes.count))
  }

  @Test("JRN-2 room after a damaged journal is not lost, and a changed run is refused")
  func room() throws {
    let sample = try SampleJournal(closed: true)
    var bytes = sample.bytes + [UInt8](repeating: 0, count: 1000)
    bytes[70] ^= 1
    let scratch = try TemporaryFolder()
    let path = try scratch.write(bytes)
    var reader = try JournalReader(path: path)
    let survey = try reader.survey()
    #expect(survey.room == 1000)
    let run = try #require(survey.runs.first)
    #expect(run.sequences == 2...6)
    var texts: [String] = []
    try reader.visit(run) { _, payload in
      texts.append(String(decoding: payload.withUnsafeBytes { Array($0) }, as: UTF8.self))
      return texts.count < 3
    }
    #expect(texts == ["", "thirteen bytes", "12345678"])
    bytes[sample.boundaries[2] + 32] ^= 1
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(
      throws: JournalError.damaged(
        path: path,
        JournalDamage(
          offset: UInt64(sample.boundaries[2]), sequence: 5, flaw: .historyChanged))
    ) { try reader.visit(run) { _, _ in true } }
  }

  @Test("JRN-2 a damaged file with a hole after it is surveyed, at the maximum file size")
  func hole() throws {
    var bytes = try SampleJournal(closed: true).bytes
    bytes[70] ^= 1
    let scratch = try TemporaryFolder()
    let path = try scratch.write(bytes)
    let system = FaultyFileSystem()
    let hole = UInt64(Int64.max) - UInt64(bytes.count)
    system.plan.withLock { $0.hole = hole }
    var reader = try JournalReader(path: path, fileSystem: system)
    let survey = try reader.survey()
    #expect(survey.runs.map(\.sequences) == [2...6])
    #expect(survey.room == hole)
  }

  @Test("JRN-2 the survey of headers that claim long payloads ends in bounded time")
  func hostile() throws {
    let largest: UInt32 = 1 << 20
    let header = JournalHeader(identifier: .random(), salt: 3, maximumRecordSize: largest)
    var bytes = header.encoded
    // Each claims to begin a batch, and none has its payload.
    for number in 0..<UInt64(1 << 15) {
      bytes +=
        FrameForge(
          sequence: 2 * number + 5, chain: 1, length: largest, salt: 3
        ).bytes
    }
    bytes += [UInt8](repeating: 7, count: Int(largest))
    var reader = try JournalReader(bytes: bytes)
    let survey = try reader.survey()
    #expect(survey.runs.isEmpty)
    #expect(survey.rest?.isSearched == false)
    #expect(survey.rest?.offsets == 64..<UInt64(bytes.count))
  }
}
