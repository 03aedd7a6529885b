/// One entry of a session's journal: what, when, and in which place.
@_spi(Internals) public struct SessionRecord: Hashable, Sendable {
  /// What an entry holds.
  public enum Content: Hashable, Sendable {
    /// A fact that changes state.
    case event(SessionEvent)
    /// A remark that explains.
    case note(SessionNote)
    /// What all the records before come to, in their place: a compacted journal begins with it.
    indirect case snapshot(SessionFold)
    /// An entry of a kind that this version has no word for, kept as it is.
    ///
    /// - Requirement: JRN-3
    case unknown(Unknown)

    /// The byte that stands for the kind.
    public var kind: UInt8 {
      switch self {
      case .event(let event): event.kind.rawValue
      case .note(let note): note.kind.rawValue
      case .snapshot: snapshotKind
      case .unknown(let unknown): unknown.kind
      }
    }
  }

  /// An entry of a kind that this version does not know.
  public struct Unknown: Hashable, Sendable {
    /// The byte that stands for the kind.
    public let kind: UInt8
    /// The payload, after its time.
    public let payload: [UInt8]

    /// An unknown entry.
    public init(kind: UInt8, payload: [UInt8]) {
      self.kind = kind
      self.payload = payload
    }

    /// Whether the writer said that a reader who does not know the kind may pass over it.
    public var isIgnorable: Bool { kind & 0x80 != 0 }
  }

  /// The byte that stands for a snapshot.
  public static let snapshotKind: UInt8 = 0x7F

  /// The number of the record in its journal, from 1, without gaps; of a snapshot, that of the last
  /// frame that it stands for.
  public let sequence: UInt64
  /// When it was written, on the writer's clock.
  public let time: Timestamp
  /// What it holds.
  public let content: Content
  /// Whether a newer version wrote fields into it that this one has passed over.
  ///
  /// - Requirement: JRN-3
  public let hasUnknownFields: Bool

  /// A record.
  public init(
    sequence: UInt64, time: Timestamp, content: Content, hasUnknownFields: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.content = content
    self.hasUnknownFields = hasUnknownFields
  }

  /// The event, where the record holds one.
  public var event: SessionEvent? {
    guard case .event(let event) = content else { return nil }
    return event
  }

  /// The name of what it holds: `login`, `requestSent`, `unknown(9)`.
  public var name: String {
    switch content {
    case .event(let event): event.kind.description
    case .note(let note): note.kind.description
    case .snapshot: "snapshot"
    case .unknown(let unknown): "unknown(\(unknown.kind))"
    }
  }
}

/// An event as subscribers receive it, with its place in the journal.
///
/// Sequences grow and are not consecutive: notes lie between the events.
public struct RecordedEvent: Hashable, Sendable {
  /// The number of its record.
  public let sequence: UInt64
  /// When it was written, on the writer's clock.
  public let time: Timestamp
  /// The event.
  public let event: SessionEvent

  /// A recorded event.
  public init(sequence: UInt64, time: Timestamp, event: SessionEvent) {
    self.sequence = sequence
    self.time = time
    self.event = event
  }
}
