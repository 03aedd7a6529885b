/// What a session's journal holds: its records, and the places at which records are lost.
///
/// `Session.history()` and `Session.history(of:)` read it. It is a copy: later records are not in
/// it, and the journal can be compacted or removed meanwhile.
///
/// All records are in memory, with about one kilobyte each. With the default retention, a journal
/// has about 10,000 records at most. Without a limit, the history has the size of the journal.
///
/// A history holds what the journal holds: identifiers of users, names of roles, schools and units,
/// and no secret.
///
/// - Requirement: RPL-8
public struct SessionHistory: Hashable, Sendable {
  /// The identifier of the journal.
  public var journal: Identifier { origin.journal }

  /// The places at which records are lost, in the order of the file; empty if nothing is lost.
  ///
  /// Bytes of a commit that was never acknowledged are no damage.
  public private(set) var damage: [Damage]

  /// The journal that was read.
  @_spi(Internals) public let origin: Origin
  /// The records and the places without any, in the order of the file.
  @_spi(Internals) public private(set) var parts: [Part]
  /// What follows the last whole batch.
  @_spi(Internals) public private(set) var ending: Ending

  /// Creates a history from what was read of a journal.
  @_spi(Internals)
  public init(origin: Origin, parts: [Part], ending: Ending) {
    self.origin = origin
    self.parts = parts
    self.ending = ending
    var damage = parts.compactMap { part -> Damage? in
      guard case .lost(let place) = part else { return nil }
      return place
    }
    if case .undetermined(let place) = ending { damage.append(place) }
    self.damage = damage
  }

  /// The number of records that could be read, a snapshot included.
  public var count: Int {
    parts.count { part in
      guard case .record = part else { return false }
      return true
    }
  }

  /// Whether a snapshot has replaced the oldest records.
  public var isCompacted: Bool {
    guard case .record(let first)? = parts.first, case .snapshot = first.record.content else {
      return false
    }
    return true
  }

  /// The events that could be read, in the order of the journal.
  public var events: [RecordedEvent] {
    parts.compactMap { part in
      guard case .record(let entry) = part, let event = entry.record.event else { return nil }
      return RecordedEvent(
        sequence: entry.record.sequence, time: entry.record.time, event: event)
    }
  }

  /// A place at which records are lost.
  public struct Damage: Hashable, Sendable {
    /// The place, in bytes from the beginning of the file.
    public let offset: UInt64
    /// The number of bytes that cannot be read; 0 if records are missing between two others.
    public let bytes: UInt64
    /// The sequences that are known to be lost; `nil` if they are not known.
    public let sequences: ClosedRange<UInt64>?

    /// Creates a place.
    @_spi(Internals)
    public init(offset: UInt64, bytes: UInt64, sequences: ClosedRange<UInt64>?) {
      self.offset = offset
      self.bytes = bytes
      self.sequences = sequences
    }
  }

  /// The journal that was read, by its header.
  @_spi(Internals)
  public struct Origin: Hashable, Sendable {
    /// The identifier of the journal.
    public let journal: Identifier
    /// The salt of the journal's checksums, which is in no export.
    public let salt: UInt64
    /// The version of the format.
    public let format: UInt16
    /// The maximum size of a payload, in bytes.
    public let maximumRecordSize: UInt32
    /// The sequence of the first record that is not a snapshot.
    public let firstSequence: UInt64
    /// Whether the file begins with a snapshot.
    public let beginsWithSnapshot: Bool
    /// The last sequence of the whole prefix, the journal's own frames included.
    public let lastSequence: UInt64

    /// Creates an origin.
    public init(
      journal: Identifier, salt: UInt64, format: UInt16 = 1, maximumRecordSize: UInt32 = 1 << 20,
      firstSequence: UInt64 = 1, beginsWithSnapshot: Bool = false, lastSequence: UInt64
    ) {
      self.journal = journal
      self.salt = salt
      self.format = format
      self.maximumRecordSize = maximumRecordSize
      self.firstSequence = firstSequence
      self.beginsWithSnapshot = beginsWithSnapshot
      self.lastSequence = lastSequence
    }
  }

  /// A record, or a place without any.
  @_spi(Internals)
  public enum Part: Hashable, Sendable {
    /// A record that could be read.
    case record(Entry)
    /// Records are lost here.
    case lost(Damage)
  }

  /// A record and its place in the file.
  @_spi(Internals)
  public struct Entry: Hashable, Sendable {
    /// The record.
    public let record: SessionRecord
    /// How many records of its batch follow it.
    public let remainingInBatch: UInt16
    /// The place, in bytes from the beginning of the file.
    public let offset: UInt64

    /// Creates an entry.
    public init(record: SessionRecord, remainingInBatch: UInt16, offset: UInt64) {
      self.record = record
      self.remainingInBatch = remainingInBatch
      self.offset = offset
    }
  }

  /// What follows the last whole batch of a journal.
  @_spi(Internals)
  public enum Ending: Hashable, Sendable {
    /// Nothing follows.
    case clean
    /// A commit follows that was never acknowledged.
    case torn
    /// A commit follows, and it is unknown whether it was acknowledged.
    case undetermined(Damage)
    /// Acknowledged data is missing or changed.
    case damaged
  }
}

// For a program that reads journals without SessionKit.
extension SessionHistory {
  /// Creates the history of a journal without records.
  ///
  /// - Parameter journal: the identifier of the journal, as its header has it.
  public init(journal: String) {
    self.init(
      origin: Origin(journal: Identifier(journal), salt: 0, lastSequence: 0), parts: [],
      ending: .clean)
  }

  /// Adds the next record of the journal.
  ///
  /// Add the records in order, from the first one in the journal. A record that cannot be decoded is
  /// a place of ``damage``.
  ///
  /// - Parameters:
  ///   - payload: the bytes of the record.
  ///   - kind: the byte of its kind.
  ///   - sequence: its number.
  ///   - remainingInBatch: how many records of its batch follow it.
  public mutating func append(
    payload: [UInt8], kind: UInt8, sequence: UInt64, remainingInBatch: UInt16
  ) {
    do throws(CodecError) {
      let record = try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
      parts.append(
        .record(Entry(record: record, remainingInBatch: remainingInBatch, offset: 0)))
    } catch {
      let place = Damage(offset: 0, bytes: 0, sequences: sequence...sequence)
      parts.append(.lost(place))
      damage.append(place)
    }
  }

  /// Notes that acknowledged records may follow the last one, which cannot be read.
  ///
  /// - Parameter offset: the place, in bytes from the beginning of the file.
  public mutating func endDamaged(at offset: UInt64) {
    let place = Damage(offset: offset, bytes: 0, sequences: nil)
    ending = .undetermined(place)
    damage.append(place)
  }
}

extension SessionHistory: CustomStringConvertible {
  /// The journal, the number of records and of damaged places, without any record.
  public var description: String {
    "history of journal \(journal): \(count) records, \(damage.count) damaged places"
  }
}

extension SessionHistory: CustomReflectable {
  /// A mirror that shows what the description says, and no record.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["journal": journal, "count": count, "damage": damage.count],
      displayStyle: .struct)
  }
}
