import SessionCore
import SessionJournal
import SessionKit
import Testing

/// The sample, and what may become of it.
enum Journals {
  /// `a.journal` and one file for each fault that `verify` knows.
  static func write(into folder: TemporaryFolder) throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    let whole = try folder.bytes("a.journal")
    var damaged = whole
    damaged[try frames(whole)[9].middle] ^= 0x10
    _ = try folder.write(damaged, to: "damaged.journal")

    try SampleJournal.write(to: folder.file("open.journal"), closing: false)
    let open = try folder.bytes("open.journal")
    _ = try folder.write(Array(open.dropLast(3)), to: "torn.journal")
    _ = try folder.write(open + [UInt8](repeating: 0, count: 4096), to: "room.journal")
    var undetermined = open
    undetermined[open.count - 10] ^= 1
    _ = try folder.write(undetermined, to: "undetermined.journal")

    try writeCompacted(to: folder.file("compacted.journal"), keepingFrom: 12)

    let logout = SessionRecord.Content.event(.logout(.init(reason: .user)))
    try SampleJournal.write(
      to: folder.file("illegal.journal"),
      batches: SampleJournal.batches + [(90_000_700, [logout]), (90_000_800, [.note(.closed)])])
    let closed = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    try SampleJournal.write(
      to: folder.file("undecodable.journal"),
      drafts: [
        [.init(kind: closed.kind, payload: closed.payload)],
        [.init(kind: SessionEvent.Kind.logout.rawValue, payload: closed.payload)],
      ])
    try SampleJournal.write(
      to: folder.file("unknown.journal"),
      batches: [
        (0, [.note(.closed)]), (1, [.unknown(.init(kind: 9, payload: [7]))]), (2, [.note(.closed)]),
      ])
  }

  /// The sample without what a later version wrote, compacted to its records from `first` on.
  static func writeCompacted(to path: String, keepingFrom first: UInt64) throws {
    try SampleJournal.write(
      to: path,
      batches: SampleJournal.batches.filter { batch in
        !batch.contents.contains { if case .unknown = $0 { true } else { false } }
      })
    var options = Journal.Options()
    options.room = .none
    let journal = try Journal.open(at: path, options: options)
    _ = try #require(try journal.compact(keepingFrom: first, summary: SnapshotSummary()))
    try journal.close()
  }

  /// Where a frame lies in a file.
  struct Frame {
    let offset: Int
    let end: Int
    let isLastOfBatch: Bool
    /// A byte in the middle of its payload.
    var middle: Int { (offset + 32 + end) / 2 }
  }

  /// The frames of records; the journal's own are not among them.
  static func frames(_ bytes: [UInt8]) throws -> [Frame] {
    var frames: [Frame] = []
    var reader = try JournalReader(bytes: bytes)
    try reader.visit { frame, _ in
      frames.append(
        Frame(
          offset: Int(frame.offset), end: Int(frame.offset) + frame.size,
          isLastOfBatch: frame.remainingInBatch == 0))
      return true
    }
    return frames
  }
}
