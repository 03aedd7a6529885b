import ChildProcesses
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit

/// A journal file with a drawn history, in drawn batches, with frames of the journal's own
/// between them.
struct DrawnJournal {
  let bytes: [UInt8]

  /// `compactedIn`: some of them are compacted in this folder, as an app does it.
  init(_ choices: Choices, _ history: History, compactedIn folder: TemporaryFolder? = nil) throws {
    let salt = choices.draw(below: .max)
    let header = JournalHeader(
      identifier: JournalIdentifier(
        high: choices.draw(below: .max), low: choices.draw(below: .max)), salt: salt,
      maximumRecordSize: 1 << 20)
    var frames = FrameWriter(seed: header.seed, chain: header.checksum)
    var sequence: UInt64 = 1
    // A record of a newer version prevents compaction.
    let isCompacted = folder != nil && choices.chance(1, in: 3)
    var records = history.records.filter { !isCompacted || $0.content.isKnown }[...]
    while !records.isEmpty {
      while choices.chance(1, in: 8) {
        frames.append(
          JournalDraft(kind: RecordKind.watermark, payload: []), sequence: sequence,
          durable: sequence - 1, remainingInBatch: 0)
        sequence += 1
      }
      let count = min(records.count, 1 + Int(choices.draw(below: 3)))
      let durable = sequence - 1
      for (place, record) in records.prefix(count).enumerated() {
        var (kind, payload) = SessionCodec.encode(record.content, at: record.time)
        // A record of a later version has all known fields, followed by new ones.
        if record.content.isKnown, !isCompacted, choices.chance(1, in: 12),
          let known = SessionCodec.version(ofKind: kind), payload[8] == known
        {
          payload[8] = known + 1
          payload += Array("later-\(choices.draw(below: 1_000_000))".utf8)
        }
        frames.append(
          JournalDraft(kind: kind, payload: payload), sequence: sequence, durable: durable,
          remainingInBatch: UInt16(count - 1 - place))
        sequence += 1
      }
      records = records.dropFirst(count)
    }
    let whole = header.encoded + frames.bytes
    guard let folder, isCompacted, sequence > 3 else {
      bytes = whole
      return
    }
    let path = try folder.write(whole, to: "compacting.journal")
    var options = JournalOptions()
    options.room = .none
    let journal = try Journal.open(at: path, options: options)
    _ = try journal.compact(
      keepingFrom: 2 + choices.draw(below: sequence - 2), summary: SnapshotSummary())
    try journal.close()
    bytes = try folder.bytes("compacting.journal")
  }
}

extension SessionRecord.Content {
  var isKnown: Bool {
    switch self {
    case .event, .note: true
    case .snapshot, .unknown: false
    }
  }
}

/// All that a reader sees of a journal's file.
struct SeenJournal: Equatable {
  let identifier: JournalIdentifier
  let maximumRecordSize: UInt32
  let firstSequence: UInt64
  let totals: JournalTotals
  let isClean: Bool
  let records: [JournalRecord]

  init(_ bytes: [UInt8]) throws {
    var reader = try JournalReader(bytes: bytes)
    var records: [JournalRecord] = []
    while let record = try reader.next() { records.append(record) }
    isClean = try reader.ending() == .clean
    (totals, self.records) = (reader.totals, records)
    (identifier, firstSequence) = (reader.identifier, reader.header.firstSequence)
    maximumRecordSize = reader.header.maximumRecordSize
  }

  /// The records as values.
  func decoded() throws -> [SessionRecord] {
    try records.map {
      try SessionCodec.decode(sequence: $0.sequence, kind: $0.kind, payload: $0.payload)
    }
  }
}
