import SessionJournal
import SessionTestKit

/// The batches submitted to a journal, in order, and its answers.
///
/// They determine whether a set of records is a possible result of a recovery.
struct JournalOracle {
  enum Fate: Equatable {
    /// It must be there from now on.
    case acknowledged
    /// It must be there until the power fails; then it may be there or not, whole.
    case held
    /// It must never be there.
    case refused
    /// It may be there or not, whole.
    case open
  }

  struct Batch {
    let drafts: [JournalDraft]
    var fate = Fate.open
  }

  private(set) var batches: [Batch] = []

  /// The identifier of the journal that was acknowledged.
  private var identifier: JournalIdentifier?
  private var nextPayload = 0

  /// Drafts that differ from those of every other batch.
  mutating func submit(_ sizes: [Int]) -> [JournalDraft] {
    let drafts = sizes.map { size in
      nextPayload += 1
      let mark = Array("\(nextPayload):".utf8)
      let rest = max(0, size - mark.count)
      // Records are distinguished by their payloads, so even the smallest contains its number.
      return JournalDraft(
        kind: UInt8(1 + nextPayload % 100), payload: mark + Self.filling(rest, nextPayload))
    }
    batches.append(Batch(drafts: drafts))
    return drafts
  }

  /// Bytes that differ in each of 256 payloads.
  private static let fillings = (0..<(256 + 8_192)).map { UInt8(truncatingIfNeeded: $0 &* 7) }

  private static func filling(_ count: Int, _ number: Int) -> ArraySlice<UInt8> {
    precondition(count <= 8_192, "no payload of a property is so long")
    return fillings[(number % 256)..<(number % 256 + count)]
  }

  /// Sets the outcome of the last submitted batches.
  mutating func decide(_ fate: Fate, last count: Int = 1) {
    for place in batches.indices.suffix(count) { batches[place].fate = fate }
  }

  /// Records that only the operating system had may be lost.
  mutating func powerFails() {
    for place in batches.indices where batches[place].fate == .held { batches[place].fate = .open }
  }

  /// Like `decide`, for the batch of that number, counted from 0.
  mutating func decide(_ fate: Fate, of number: Int) { batches[number].fate = fate }

  /// Records must be whole batches, in the order of submission, with all acknowledged ones and
  /// no refused one.
  func check(_ records: [JournalRecord]) throws { _ = try present(records) }

  /// Like `check`; in addition, present batches are now durable, and absent ones never return.
  mutating func settle(_ records: [JournalRecord]) throws {
    let present = try present(records)
    for place in batches.indices where [.open, .held].contains(batches[place].fate) {
      batches[place].fate = present.contains(place) ? .acknowledged : .refused
    }
  }

  /// A journal never changes its identifier after it was opened.
  mutating func settle(_ found: JournalIdentifier) throws {
    if let identifier, identifier != found {
      throw Falsified("the journal was lost: \(found) stands where \(identifier) was")
    }
    identifier = found
  }

  private func present(_ records: [JournalRecord]) throws -> Set<Int> {
    var present: Set<Int> = []
    var next = 0
    for group in try Self.groups(of: records) {
      while next < batches.count, !Self.matches(group, batches[next].drafts) {
        guard ![.acknowledged, .held].contains(batches[next].fate) else {
          throw Falsified(
            "batch \(next) was acknowledged and is lost; there is seq "
              + "\(group.first?.sequence ?? 0) in its place")
        }
        next += 1
      }
      guard next < batches.count else {
        throw Falsified("seq \(group.first?.sequence ?? 0) was never submitted, or comes twice")
      }
      guard batches[next].fate != .refused else {
        throw Falsified("batch \(next) was refused and is there")
      }
      present.insert(next)
      next += 1
    }
    if let lost = batches[next...].firstIndex(where: { [.acknowledged, .held].contains($0.fate) }) {
      throw Falsified("batch \(lost) of \(batches.count) was acknowledged and is lost")
    }
    return present
  }

  private static func groups(of records: [JournalRecord]) throws -> [[JournalRecord]] {
    var groups: [[JournalRecord]] = []
    var group: [JournalRecord] = []
    for record in records {
      if let last = group.last, last.sequence + 1 != record.sequence {
        throw Falsified("seq \(record.sequence) follows \(last.sequence) in one batch")
      }
      group.append(record)
      guard record.remainingInBatch == 0 else { continue }
      groups.append(group)
      group = []
    }
    guard group.isEmpty else { throw Falsified("half a batch, from seq \(group[0].sequence)") }
    return groups
  }

  private static func matches(_ records: [JournalRecord], _ drafts: [JournalDraft]) -> Bool {
    records.count == drafts.count
      && zip(records, drafts).allSatisfy { $0.kind == $1.kind && $0.payload.isSame(as: $1.payload) }
  }
}

/// A summary that forgets nothing: its snapshot holds every record.
///
/// So a test can compare a compacted file with all that was ever submitted.
struct History: JournalSummary, Equatable {
  /// Every record, as if no file was ever compacted; offsets are 0.
  private(set) var records: [JournalRecord] = []

  mutating func take(_ record: RecordHeader, payload: RawSpan) {
    let bytes = payload.withUnsafeBytes { [UInt8]($0) }
    if record.isSnapshot {
      records = Self.decode(bytes)
    } else {
      records.append(
        Self.record(
          record.sequence, kind: record.kind, flags: 0, left: record.remainingInBatch, bytes))
    }
  }

  /// Takes the next records; a snapshot must continue this history.
  mutating func take(_ record: JournalRecord) throws {
    guard record.isSnapshot else {
      records.append(
        Self.record(
          record.sequence, kind: record.kind, flags: record.flags, left: record.remainingInBatch,
          record.payload))
      return
    }
    let past = Self.decode(record.payload)
    guard past.last?.sequence == record.sequence else {
      throw Falsified("a snapshot of seq \(record.sequence) ends at \(past.last?.sequence ?? 0)")
    }
    guard past.starts(with: records), past.count > records.count else {
      throw Falsified(
        "a snapshot up to seq \(record.sequence) after \(records.map(\.sequence)) were seen")
    }
    records = past
  }

  mutating func take(_ records: [JournalRecord]) throws {
    for record in records { try take(record) }
  }

  func snapshot() -> [UInt8]? {
    var bytes: [UInt8] = []
    for record in records {
      bytes += Self.bytes(of: record.sequence, 8) + [record.kind, record.flags]
      bytes += Self.bytes(of: UInt64(record.remainingInBatch), 2)
      bytes += Self.bytes(of: UInt64(record.payload.count), 4) + record.payload
    }
    return bytes
  }

  /// The records that a file contains, snapshots expanded.
  static func expanded(_ records: [JournalRecord]) throws -> [JournalRecord] {
    var history = History()
    try history.take(records)
    return history.records
  }

  private static func record(
    _ sequence: UInt64, kind: UInt8, flags: UInt8, left: UInt16, _ payload: [UInt8]
  ) -> JournalRecord {
    JournalRecord(
      sequence: sequence, offset: 0, kind: kind, flags: flags, remainingInBatch: left,
      payload: payload)
  }

  private static func bytes(of number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  private static func decode(_ bytes: [UInt8]) -> [JournalRecord] {
    var place = 0
    func number(_ count: Int) -> UInt64 {
      defer { place += count }
      return bytes[place..<(place + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    var records: [JournalRecord] = []
    while place < bytes.count {
      let sequence = number(8)
      let kind = UInt8(number(1))
      let flags = UInt8(number(1))
      let left = UInt16(number(2))
      let length = Int(number(4))
      records.append(
        record(
          sequence, kind: kind, flags: flags, left: left, Array(bytes[place..<(place + length)])))
      place += length
    }
    return records
  }
}
