import SessionCore

/// Delivers events to subscribers from one bounded buffer.
///
/// A subscriber is only a position in the journal: it asks for the first event after that position.
/// So publishing costs the same for one subscriber and for many. A slow subscriber delays no other.
/// If its position has left the buffer, it reads from the journal.
///
/// - Requirement: STA-7
final class EventHub: Sendable {
  enum Answer: Sendable {
    /// The next events: at least one, at most `answerSize`.
    case events(ArraySlice<RecordedEvent>)
    /// The events have left the buffer.
    ///
    /// They are in the journal, up to and including this sequence.
    case inJournal(through: UInt64)
    /// New warnings, oldest first, and the number of the last one.
    ///
    /// Returned only if they are asked for.
    case warnings([SessionWarning], last: UInt64)
    /// There will be no more events.
    case finished
  }

  fileprivate struct State: Sendable {
    var buffer: [RecordedEvent] = []
    /// Every published event with a higher sequence is in the buffer.
    var floor: UInt64
    var last: UInt64
    var isFinished = false
    /// The last warnings.
    ///
    /// Few are kept, since there are few kinds of problems.
    var warnings: [SessionWarning] = []
    var warningCount: UInt64 = 0
  }

  /// The number of warnings that are kept for slow subscribers.
  static let keptWarnings = 16

  /// The maximum number of events in one answer.
  static let answerSize = 256

  private let capacity: Int
  private let state: WaitableState<State>

  /// Creates a hub whose first event will be the one after `sequence`.
  init(after sequence: UInt64, capacity: Int) {
    self.capacity = capacity
    state = WaitableState(State(floor: sequence, last: sequence))
  }

  /// The sequence of the last published event, at which a new subscriber begins.
  var last: UInt64 { state.withLock { $0.last } }

  func publish(_ events: [RecordedEvent]) {
    state.change { state in
      state.buffer += events
      state.last = events.last?.sequence ?? state.last
      // The buffer is cut by half at a time, so that not every event moves all others.
      if state.buffer.count >= capacity * 2 {
        let cut = state.buffer.count - capacity
        state.floor = state.buffer[cut - 1].sequence
        state.buffer.removeFirst(cut)
      }
    }
  }

  /// Skips the events up to `sequence`.
  ///
  /// A subscriber that needs them reads the journal and gets its error.
  func skip(through sequence: UInt64) {
    state.change { state in
      state.buffer.removeAll()
      (state.floor, state.last) = (sequence, sequence)
    }
  }

  /// The number of warnings so far, at which a new subscriber begins.
  var lastWarning: UInt64 { state.withLock { $0.warningCount } }

  /// Publishes a warning to the subscribers that ask for warnings.
  func warn(_ warning: SessionWarning) {
    state.change { state in
      state.warnings.append(warning)
      state.warningCount += 1
      if state.warnings.count > Self.keptWarnings { state.warnings.removeFirst() }
    }
  }

  func finish() {
    state.change { $0.isFinished = true }
  }

  /// Returns what follows `sequence`.
  ///
  /// It waits until there is something, or until the task is cancelled.
  ///
  /// With `warned`, the answer may also be the warnings after that number.
  func answer(after sequence: UInt64, warned: UInt64? = nil) async -> Answer {
    await state.wait { state in
      if let warned, let news = state.warnings(after: warned) { return news }
      return state.answer(after: sequence)
    } ?? .finished
  }
}

extension EventHub.State {
  fileprivate func warnings(after count: UInt64) -> EventHub.Answer? {
    guard warningCount > count else { return nil }
    return .warnings(
      warnings.suffix(Int(min(warningCount - count, UInt64(warnings.count)))),
      last: warningCount)
  }

  /// Returns the answer; `nil` if there is none yet.
  fileprivate func answer(after sequence: UInt64) -> EventHub.Answer? {
    if sequence < floor { return .inJournal(through: floor) }
    if sequence < last {
      let rest = buffer[buffer.firstIndex(after: sequence)...]
      // A copy of a few events. A slice would share the buffer, and the next event would then copy
      // all of it.
      return .events(ArraySlice(Array(rest.prefix(EventHub.answerSize))))
    }
    return isFinished ? .finished : nil
  }
}

extension [RecordedEvent] {
  /// Returns the index of the first event with a higher sequence, by binary search.
  fileprivate func firstIndex(after sequence: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
