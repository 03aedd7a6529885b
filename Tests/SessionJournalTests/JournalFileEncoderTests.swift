@_spi(Internals) import SessionJournal
import Testing

@Suite("The encoder of a whole journal file")
struct JournalFileEncoderTests {
  private func record(_ sequence: UInt64, kind: UInt8 = 1, remaining: UInt16 = 0)
    -> JournalRecord
  {
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
      identifier: .random(), maximumRecordSize: 1_000, firstSequence: 1,
      beginsWithSnapshot: false)
    encoder.finish()
    let found = try read(encoder.bytes)
    #expect(found.records.isEmpty && found.ending == .clean && encoder.bytes.count == 64)
  }
}
