import ChildProcesses
import Foundation
@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import Testing

/// The sample journal and variants of it.
enum Journals {
  /// `a.journal` and one file for each fault that `verify` knows.
  static func write(into folder: TemporaryFolder) throws {
    try SampleJournal.write(to: folder.file("a.journal"))
    let key = try folder.write(Array("sixteen-bytes-or-more\n".utf8), to: "key")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
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
    try writeChanges(into: folder)

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

  /// A change log, one whose records cannot follow each other, and one that is compacted.
  static func writeChanges(into folder: TemporaryFolder) throws {
    let (task, list) = (
      EntityReference("task", "t1"), EntityReference("list", "l1", scope: "north")
    )
    let (start, content) = (SampleJournal.start, Array("private".utf8))
    func key(_ number: UInt64) -> Identifier { Identifier(uuidHigh: 0x4000, low: 1 << 63 | number) }
    func added(_ change: Change) -> ChangeEvent { .added(.init(user: "u-1", change: change)) }
    func edit(
      _ number: UInt64, _ entity: EntityReference, mentions: [EntityReference] = []
    ) -> Change.Edit {
      .init(entity, content: content, mentions: mentions, key: key(number))
    }
    func sent(_ number: UInt64, _ seconds: Int64) -> ChangeEvent {
      .sent(
        .init(
          key: key(number), sender: "log-1", process: 4711,
          deadline: start.advanced(by: seconds * 1_000 + 120_000)))
    }
    let request = try #require(
      Change.Request(
        "POST", "/tasks/t1/done?note=private", contentType: "application/json",
        body: content, key: key(4)))
    let events: [ChangeEvent] = [
      .scopeChecked(.init(scope: "north", statusChangedAt: start)),
      added(.create(edit(1, list))), added(.create(edit(2, task, mentions: [list]))),
      added(.update(edit(3, task, mentions: [list]))), added(.request(request)), sent(1, 5),
      .postponed(
        .init(
          key: key(1), isCounted: true, retryAt: start.advanced(by: 36_000), reason: "503 \u{1B}[2J"
        )),
      sent(1, 7), .acknowledged(key(1)), sent(3, 9),
      .givenUp(.init(key: key(3), cause: .refused, reason: "422 TITLE_EMPTY")),
      added(.delete(.init(task, key: key(5)))), .discarded(.init(key: key(5), cause: .app)),
    ]
    let batches = events.enumerated().map { place, event in
      let (kind, payload) = ChangeCodec.encode(event, at: start.advanced(by: Int64(place) * 1_000))
      return [JournalDraft(kind: kind, payload: payload)]
    }
    try SampleJournal.write(to: folder.file("changes.log"), drafts: batches)
    try SampleJournal.write(
      to: folder.file("changes-odd.log"), drafts: [batches[1], batches[8], batches[2]])
    var (queue, time) = (ChangeQueue(), start)
    for (place, event) in events.enumerated() {
      time = start.advanced(by: Int64(place) * 1_000)
      try queue.apply(event, at: time)
    }
    var options = JournalOptions()
    options.room = .none
    // The fourth of a batch of five is damaged, so that two of it are read and none is kept.
    try SampleJournal.write(
      to: folder.file("changes-damaged.log"),
      drafts: batches[..<3] + [batches[3..<8].flatMap { $0 }] + batches[8...])
    var damaged = try folder.bytes("changes-damaged.log")
    damaged[try frames(damaged)[6].middle] ^= 1
    _ = try folder.write(damaged, to: "changes-damaged.log")
    let newer = JournalDraft(kind: 0xB3, payload: Array(batches[0][0].payload.prefix(8)) + [1])
    try SampleJournal.write(
      to: folder.file("changes-newer.log"), drafts: batches[..<4] + [[newer]])
    try SampleJournal.write(to: folder.file("changes-compacted.log"), drafts: batches)
    let journal = try Journal.open(at: folder.file("changes-compacted.log"), options: options)
    _ = try #require(
      try journal.compact(
        keepingFrom: .max, summary: Fixed(bytes: ChangeCodec.encode(queue, at: time))))
    _ = try journal.append(batches[0])
    try journal.close()
    // Cut within the records after the snapshot.
    let compacted = try folder.bytes("changes-compacted.log")
    let end = try #require(try frames(compacted).last).end
    _ = try folder.write(Array(compacted[..<(end - 3)]), to: "changes-torn.log")
  }

  /// A change log of two sign-ins, a logout that failed and one that succeeded: as records and as
  /// the snapshot of them.
  static func writeChangesOfSignIns(into folder: TemporaryFolder) throws {
    let start = Timestamp(milliseconds: 1_763_733_600_000)
    let journal = Identifier("00000000-0000-4000-8000-0000000000aa")
    func signIn(_ number: UInt64) -> SignIn {
      SignIn(journal: journal, generation: Generation(number))
    }
    func leaving(_ seconds: Int64) -> ChangeEvent {
      .leaving(
        .init(journal: journal, process: 7, until: start.advanced(by: 1_000 * seconds)))
    }
    func added(_ key: Identifier) -> ChangeEvent {
      let task = EntityReference("task", key)
      return .added(
        .init(
          user: "u-1",
          change: .create(.init(task, content: Array("private".utf8), key: key))))
    }
    let sent = ChangeEvent.Sent(
      key: "k-1", sender: "log-1", process: 7, deadline: start.advanced(by: 120_000))
    let events: [ChangeEvent] = [
      .signInEnded(signIn(1)), .addedBy(signIn(2)), added("k-1"), .sent(sent),
      .givenUp(.init(key: "k-1", cause: .refused, reason: "422")), .retried("k-1"),
      leaving(66), leaving(7), added("k-2"), leaving(68),
    ]
    var (queue, time) = (ChangeQueue(), start)
    var batches: [[JournalDraft]] = []
    for (place, event) in events.enumerated() {
      time = start.advanced(by: Int64(place) * 1_000)
      try queue.apply(event, at: time)
      let (kind, payload) = ChangeCodec.encode(event, at: time)
      batches.append([JournalDraft(kind: kind, payload: payload)])
    }
    try SampleJournal.write(to: folder.file("changes-left.log"), drafts: batches)
    var options = JournalOptions()
    options.room = .none
    try SampleJournal.write(to: folder.file("changes-left-compacted.log"), drafts: batches)
    let file = try Journal.open(at: folder.file("changes-left-compacted.log"), options: options)
    _ = try #require(
      try file.compact(
        keepingFrom: .max, summary: Fixed(bytes: ChangeCodec.encode(queue, at: time))))
    try file.close()
  }

  /// A snapshot that is made elsewhere.
  private struct Fixed: JournalSummary {
    let bytes: [UInt8]
    mutating func take(_ record: RecordHeader, payload: RawSpan) {}
    func snapshot() -> [UInt8]? { bytes }
  }

  /// The sample without what a later version wrote, compacted to its records from `first` on.
  static func writeCompacted(to path: String, keepingFrom first: UInt64) throws {
    try SampleJournal.write(
      to: path,
      batches: SampleJournal.batches.filter { batch in
        !batch.contents.contains { if case .unknown = $0 { true } else { false } }
      })
    var options = JournalOptions()
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
