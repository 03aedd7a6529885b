/// One record of a session's journal: its number, time and content.
@_spi(Internals) public struct SessionRecord: Hashable, Sendable {
  /// The content of a record.
  public enum Content: Hashable, Sendable {
    /// A fact that changes the state.
    case event(SessionEvent)
    /// A record that explains but does not change the state.
    case note(SessionNote)
    /// The fold of all earlier records, which it replaces: a compacted journal begins with it.
    indirect case snapshot(SessionFold)
    /// A record of a kind that this version does not know, kept unchanged.
    ///
    /// - Requirement: JRN-3
    case unknown(Unknown)

    /// The byte of the kind in the journal.
    public var kind: UInt8 {
      switch self {
      case .event(let event): event.kind.rawValue
      case .note(let note): note.kind.rawValue
      case .snapshot: snapshotKind
      case .unknown(let unknown): unknown.kind
      }
    }
  }

  /// A record of a kind that this version does not know.
  public struct Unknown: Hashable, Sendable {
    /// The byte of the kind in the journal.
    public let kind: UInt8
    /// The payload, after its time.
    public let payload: [UInt8]

    /// Creates an unknown record.
    public init(kind: UInt8, payload: [UInt8]) {
      self.kind = kind
      self.payload = payload
    }

    /// Whether a reader that does not know the kind may skip the record.
    public var isIgnorable: Bool { kind & 0x80 != 0 }
  }

  /// The byte of a snapshot's kind in the journal.
  public static let snapshotKind: UInt8 = 0x7F
  /// The kind of the last record of a journal whose session goes on at another place.
  ///
  /// No reader may skip it. So a process of any version that has the journal open stops.
  package static let movedKind: UInt8 = 0x10
  /// The kind of the record before it, which is that of no session (`Specs/Moving.md`).
  ///
  /// So a version that does not know ``movedKind`` refuses the file, and does not set it aside.
  package static let movedGuardKind: UInt8 = 0xBF

  /// The number of the record in its journal, from 1, without gaps.
  ///
  /// A snapshot has the number of the last frame that it replaces.
  public let sequence: UInt64
  /// When it was written, on the writer's clock.
  public let time: Timestamp
  /// The content of the record.
  public let content: Content
  /// Whether a newer version wrote fields that this version has skipped.
  ///
  /// - Requirement: JRN-3
  public let hasUnknownFields: Bool

  /// Creates a record.
  public init(
    sequence: UInt64, time: Timestamp, content: Content, hasUnknownFields: Bool = false
  ) {
    self.sequence = sequence
    self.time = time
    self.content = content
    self.hasUnknownFields = hasUnknownFields
  }

  /// The event of the record; `nil` if it holds none.
  public var event: SessionEvent? {
    guard case .event(let event) = content else { return nil }
    return event
  }

  /// The name of the content: `login`, `requestSent`, `unknown(9)`.
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
/// Sequences grow but are not consecutive: notes are between the events.
public struct RecordedEvent: Hashable, Sendable {
  /// The number of its record.
  public let sequence: UInt64
  /// When it was written, on the writer's clock.
  public let time: Timestamp
  /// The event.
  public let event: SessionEvent

  /// Creates a recorded event.
  public init(sequence: UInt64, time: Timestamp, event: SessionEvent) {
    self.sequence = sequence
    self.time = time
    self.event = event
  }
}
