@_spi(Internals) public import SessionCore

/// One entry of a change log, with its time and sequence.
public struct ChangeRecord: Hashable, Sendable {
  /// The content of an entry.
  public enum Content: Hashable, Sendable {
    /// An event that changes the queue.
    case event(ChangeEvent)
    /// The state that replaces all earlier records.
    case snapshot(ChangeQueue)
  }

  /// The number of the record in its journal.
  public let sequence: UInt64
  /// When the record was written, on the writer's clock.
  public let time: Timestamp
  /// The content of the record.
  public let content: Content

  /// Creates a record.
  public init(sequence: UInt64, time: Timestamp, content: Content) {
    self.sequence = sequence
    self.time = time
    self.content = content
  }

  /// The name of the content, such as `changeAdded` or `changesSnapshot`.
  public var name: String {
    switch content {
    case .event(let event): event.kind.description
    case .snapshot: "changesSnapshot"
    }
  }
}

extension ChangeQueue {
  /// Takes in the next record of a log.
  ///
  /// A snapshot replaces the whole queue.
  public mutating func apply(_ record: ChangeRecord) throws(ChangeRejection) {
    switch record.content {
    case .event(let event): try apply(event, at: record.time)
    case .snapshot(let queue): self = queue
    }
  }
}
