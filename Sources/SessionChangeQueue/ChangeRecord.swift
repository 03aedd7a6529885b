@_spi(Internals) public import SessionCore

/// One entry of a change log: what, when, and in which place.
public struct ChangeRecord: Hashable, Sendable {
  /// What an entry holds.
  public enum Content: Hashable, Sendable {
    /// A fact that changes the queue.
    case event(ChangeEvent)
    /// What all the records before come to, in their place.
    case snapshot(ChangeQueue)
  }

  /// The number of the record in its journal.
  public let sequence: UInt64
  /// When it was written, on the writer's clock.
  public let time: Timestamp
  /// What it holds.
  public let content: Content

  /// A record.
  public init(sequence: UInt64, time: Timestamp, content: Content) {
    self.sequence = sequence
    self.time = time
    self.content = content
  }

  /// The name of what it holds: `changeAdded`, `changesSnapshot`.
  public var name: String {
    switch content {
    case .event(let event): event.kind.description
    case .snapshot: "changesSnapshot"
    }
  }
}

extension ChangeQueue {
  /// Takes in the next record of a log; a snapshot takes the place of everything.
  public mutating func apply(_ record: ChangeRecord) throws(ChangeRejection) {
    switch record.content {
    case .event(let event): try apply(event, at: record.time)
    case .snapshot(let queue): self = queue
    }
  }
}
