import ChildProcesses
import Foundation
@_spi(Internals) import SessionJournal
import Testing

@Suite("Files that are not journals")
struct BadInputTests {
  /// The error of both ways of opening, which must be the same.
  private func refusal(_ path: String) -> JournalError? {
    var errors: [JournalError] = []
    do { _ = try Journal.open(at: path) } catch { errors.append(error) }
    do { _ = try JournalReader(path: path) } catch { errors.append(error) }
    #expect(errors.count == 2 && errors.first == errors.last, "\(errors)")
    return errors.first
  }

  @Test("JRN-2 a folder, a device and a pipe are refused at once without new files")
  func otherFiles() throws {
    let scratch = try TemporaryFolder()
    let pipe = scratch.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    #expect(refusal(pipe) == .notARegularFile(path: pipe))
    #expect(refusal(scratch.path) == .isDirectory(path: scratch.path))
    #expect(refusal("/dev/null") == .notARegularFile(path: "/dev/null"))
    #expect(refusal("/dev/zero") == .notARegularFile(path: "/dev/zero"))
    #expect(try scratch.names == ["pipe"])
  }

  @Test("JRN-2 missing files and folders are reported as such")
  func missing() throws {
    let scratch = try TemporaryFolder()
    let inNoFolder = scratch.file("no/such.journal")
    #expect(throws: JournalError.folderMissing(path: inNoFolder)) {
      try Journal.open(at: inNoFolder)
    }
    #expect(throws: JournalError.missing(path: inNoFolder)) {
      _ = try JournalReader(path: inNoFolder)
    }
    let inFile = try scratch.write([1]) + "/b.journal"
    #expect(refusal(inFile) == .folderMissing(path: inFile))
    #expect(refusal("") == .emptyPath)
    // The C function reads only the part before the NUL.
    let withNUL = scratch.journal + "\0.journal"
    #expect(refusal(withNUL) == .io(path: withNUL, operation: "inspect", code: EINVAL))
    #expect(try scratch.names == ["a.journal"])
  }

  @Test("JRN-2 empty, foreign, short and newer files have different errors and stay unchanged")
  func otherContents() throws {
    let scratch = try TemporaryFolder()
    let header = JournalHeader(identifier: .random(), salt: 7, maximumRecordSize: 4096).encoded
    func newer(_ place: Int, _ value: UInt8) -> [UInt8] {
      var bytes = Array(header.prefix(60))
      bytes[place] = value
      var checksum = Checksum()
      checksum.extend(over: bytes)
      return bytes + withUnsafeBytes(of: checksum.value.littleEndian) { [UInt8]($0) }
    }
    let cases: [(bytes: [UInt8], error: (String) -> JournalError)] = [
      ([], { .empty(path: $0) }),
      (Array("{\"event\":\"login\"}\n".utf8), { .notAJournal(path: $0) }),
      ([UInt8](repeating: 0, count: 63), { .notAJournal(path: $0) }),
      ([UInt8](repeating: 0, count: 4096), { .notAJournal(path: $0) }),
      (Array(header.prefix(63)), { .headerDamaged(path: $0) }),
      ([0] + header.dropFirst(), { .headerDamaged(path: $0) }),
      (newer(10, 2), { .newerFormat(path: $0, found: 2, supported: 1) }),
      (newer(12, 2), { .unknownFeatures(path: $0, features: 2) }),
      (newer(15, 0x80), { .unknownFeatures(path: $0, features: 1 << 31) }),
    ]
    for (number, item) in cases.enumerated() {
      let path = try scratch.write(item.bytes)
      #expect(refusal(path) == item.error(path), "case \(number)")
      #expect(try contents(of: path) == item.bytes)
    }
    // A later version whose header allows this version to read it.
    let path = try scratch.write(newer(8, 9))
    #expect(try JournalReader(path: path).header.formatVersion == 9)
    #expect(try scratch.names == ["a.journal"])
  }

  @Test("JRN-2 three gigabytes of zeros are no journal, but room after one")
  func sparse() throws {
    let scratch = try TemporaryFolder()
    let size: UInt64 = 3 << 30
    let zeros = try scratch.write([])
    try grow(zeros, to: size)
    #expect(refusal(zeros) == .notAJournal(path: zeros))

    let sample = try SampleJournal(closed: false)
    let path = try scratch.write(sample.bytes, to: "b.journal")
    try grow(path, to: size)
    var reader = try JournalReader(path: path)
    let end = UInt64(sample.bytes.count)
    #expect(try reader.ending() == .clean)
    #expect(reader.room == size - end)
    let journal = try Journal.open(at: path)
    #expect(journal.recovery.repair == nil)
    #expect(journal.recovery.totals.bytes == end)

    // Half a frame before the zeros is kept; the zeros are not.
    let half = Array(sample.bytes.dropLast(20))
    let other = try scratch.write(half, to: "c.journal")
    try grow(other, to: size)
    let aside = try #require(try Journal.open(at: other).recovery.repair?.keptAside)
    #expect(try contents(of: aside) == Array(half[sample.boundaries[2]...]))
  }

  private func grow(_ path: String, to size: UInt64) throws {
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: size)
    try file.close()
  }

}

@Suite("The encoder of a whole journal file")
struct JournalFileEncoderTests {
  private func record(_ sequence: UInt64, kind: UInt8 = 1, remaining: UInt16 = 0) -> JournalRecord {
    JournalRecord(
      sequence: sequence, offset: 0, kind: kind, remainingInBatch: remaining,
      payload: Array("record \(sequence)".utf8))
  }

  private func read(_ bytes: [UInt8]) throws -> (
    header: JournalHeader, records: [JournalRecord], ending: JournalEnding
  ) {
    var reader = try JournalReader(bytes: bytes)
    var records: [JournalRecord] = []
    while let found = try reader.next() {
      records.append(
        JournalRecord(
          sequence: found.sequence, offset: 0, kind: found.kind,
          remainingInBatch: found.remainingInBatch, payload: found.payload))
    }
    return (reader.header, records, try reader.ending())
  }

  @Test(
    "JRN-1 records with gaps, batches and a snapshot read back as they were",
    arguments: [false, true])
  func records(hasSnapshot: Bool) throws {
    let identifier = JournalIdentifier.random()
    var records = [
      record(6, remaining: 1), record(7), record(10), record(11, kind: 0xFE, remaining: 1),
      record(13, remaining: 1),
    ]
    if hasSnapshot { records.insert(record(4, kind: 0x7F), at: 0) }
    var encoder = JournalFileEncoder(
      identifier: identifier, maximumRecordSize: 1_000, firstSequence: 5,
      beginsWithSnapshot: hasSnapshot)
    var bytes: [UInt8] = []
    for record in records {
      encoder.append(record)
      #expect(encoder.isBetweenBatches == (record.remainingInBatch == 0))
      bytes += encoder.bytes
      encoder.removeBytes()
    }
    encoder.finish()
    bytes += encoder.bytes
    let found = try read(bytes)
    #expect(found.records == records)
    #expect(found.ending == .clean)
    #expect(found.header.identifier == identifier && found.header.firstSequence == 5)
    #expect(found.header.maximumRecordSize == 1_000)
    #expect(found.header.beginsWithSnapshot == hasSnapshot)
  }

  @Test("JRN-1 a log without records is a file with a header alone")
  func empty() throws {
    var encoder = JournalFileEncoder(
      identifier: .random(), maximumRecordSize: 1_000, firstSequence: 1, beginsWithSnapshot: false)
    encoder.finish()
    let found = try read(encoder.bytes)
    #expect(found.records.isEmpty && found.ending == .clean && encoder.bytes.count == 64)
  }
}
