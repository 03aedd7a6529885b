@_spi(Internals) public import SessionCore
import SessionJournal

/// A session's events from a position in its journal: in order, and each one once.
///
/// The position is fixed when the sequence is created, not when the loop begins. So no event in
/// between is missed. Every iterator begins at the same position.
///
/// The sequence ends when the session object is closed or the task is cancelled. It throws
/// `storage` if it must read events from the journal and the journal cannot be read, or has only a
/// snapshot of them (``CompactedEvents``).
///
/// - Requirement: STA-7
public struct SessionEvents: AsyncSequence, Sendable {
  /// An event and its sequence in the journal.
  public typealias Element = RecordedEvent
  /// Why events could not be read from the journal.
  public typealias Failure = SessionError

  let start: UInt64
  let hub: EventHub
  let archive: EventArchive

  /// Returns an iterator that begins at the sequence's position.
  public func makeAsyncIterator() -> Iterator {
    Iterator(hub: hub, archive: archive, cursor: start)
  }

  /// Iterates over the events.
  public struct Iterator: AsyncIteratorProtocol {
    private let hub: EventHub
    private let archive: EventArchive
    private var cursor: UInt64
    private var ahead: ArraySlice<RecordedEvent> = []

    init(hub: EventHub, archive: EventArchive, cursor: UInt64) {
      (self.hub, self.archive, self.cursor) = (hub, archive, cursor)
    }

    /// Waits for the next event.
    ///
    /// Returns `nil` after the session object was closed or the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation)
      async throws(SessionError) -> RecordedEvent?
    {
      while true {
        switch try await step(warned: nil, isolation: actor) {
        case .event(let event): return event
        case .finished: return nil
        case .warnings: continue
        }
      }
    }

    enum Step {
      case event(RecordedEvent)
      /// Warnings, and the number of all warnings up to the last of them.
      case warnings([SessionWarning], last: UInt64)
      case finished
    }

    /// Waits for the next event.
    ///
    /// With `warned`, it also waits for warnings after that number.
    mutating func step(warned: UInt64?, isolation actor: isolated (any Actor)?)
      async throws(SessionError) -> Step
    {
      while true {
        if let event = ahead.popFirst() {
          cursor = event.sequence
          return .event(event)
        }
        switch await hub.answer(after: cursor, warned: warned) {
        case .events(let events):
          ahead = events
        case .warnings(let warnings, let last):
          return .warnings(warnings, last: last)
        case .inJournal(let last):
          if Task.isCancelled { return .finished }
          let page = try await archive.page(after: cursor, through: last)
          ahead = page.events[...]
          if page.events.isEmpty { cursor = page.last }
        case .finished:
          return .finished
        }
      }
    }
  }
}

/// Reads events from the journal, one page at a time, outside the cooperative pool.
struct EventArchive: Sendable {
  struct Page: Sendable {
    let events: [RecordedEvent]
    /// The sequence up to which, inclusively, the records were examined.
    let last: UInt64
  }

  static let pageSize = 512

  let log: any SessionLog
  let place: any LogPlace
  let runtime: SessionRuntime

  func page(after sequence: UInt64, through last: UInt64) async throws(SessionError) -> Page {
    try await runtime.result { () throws(SessionError) in try read(after: sequence, through: last) }
  }

  private func read(after sequence: UInt64, through last: UInt64) throws(SessionError) -> Page {
    let records: [JournalRecord]
    do throws(JournalError) {
      records = try self.records(after: sequence)
    } catch {
      throw .journal(error)
    }
    if let first = records.first { try refuseGap(in: first, after: sequence) }
    var events: [RecordedEvent] = []
    for raw in records where raw.sequence <= last {
      let record = try SessionRecord(raw, path: log.name)
      guard let event = record.event else { continue }
      events.append(RecordedEvent(sequence: record.sequence, time: record.time, event: event))
    }
    return Page(events: events, last: min(records.last?.sequence ?? last, last))
  }

  /// Throws if `first` is a snapshot that replaced events after `sequence`.
  private func refuseGap(in first: JournalRecord, after sequence: UInt64) throws(SessionError) {
    guard case .snapshot(let fold) = try SessionRecord(first, path: log.name).content,
      fold.eventSequence > sequence
    else { return }
    throw .eventsCompacted(through: first.sequence, state: fold.state)
  }

  /// Returns a page of records.
  ///
  /// It also works after the log was closed, since earlier events must stay available.
  private func records(after sequence: UInt64) throws(JournalError) -> [JournalRecord] {
    do throws(JournalError) {
      return try log.records(after: sequence, limit: Self.pageSize)
    } catch {
      guard case .closed = error else { throw error }
      return try place.records(after: sequence, limit: Self.pageSize)
    }
  }
}
