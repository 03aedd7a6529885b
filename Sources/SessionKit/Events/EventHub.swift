import SessionCore
import Synchronization

/// Where events wait for their subscribers: one bounded buffer for all of them.
///
/// A subscriber is a place in the journal, nothing more: it asks for the first event after that
/// place. So publishing costs the same for one and for many, a slow subscriber holds nothing back,
/// and one that fell behind the buffer reads on in the journal.
///
/// - Requirement: STA-7
final class EventHub: Sendable {
  enum Answer {
    /// The next events, at least one and no more than `answerSize`.
    case events(ArraySlice<RecordedEvent>)
    /// They are no longer in the buffer: they are in the journal, up to and with this sequence.
    case inJournal(through: UInt64)
    /// Warnings that came since, oldest first, and the number of the last; only where they are asked for.
    case warnings([SessionWarning], last: UInt64)
    /// There will be none.
    case finished
  }

  fileprivate struct State {
    var buffer: [RecordedEvent] = []
    /// Every published event with a higher sequence is in the buffer.
    var floor: UInt64
    var last: UInt64
    var parked: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var tickets: UInt64 = 0
    var isFinished = false
    /// The last warnings: what is in trouble is few things.
    var warnings: [SessionWarning] = []
    var warningCount: UInt64 = 0
  }

  /// How many warnings are kept for who is slow.
  static let keptWarnings = 16

  /// How many events a subscriber is given at once.
  static let answerSize = 256

  private let capacity: Int
  private let state: Mutex<State>

  /// A hub whose first event will be the one after `sequence`.
  init(after sequence: UInt64, capacity: Int) {
    self.capacity = capacity
    state = Mutex(State(floor: sequence, last: sequence))
  }

  /// The sequence of the last published event: where a new subscriber begins.
  var last: UInt64 { state.withLock { $0.last } }

  func publish(_ events: [RecordedEvent]) {
    let parked = state.withLock { state in
      state.buffer += events
      state.last = events.last?.sequence ?? state.last
      // Cut by half a buffer at a time, so that an event costs no move of all the others.
      if state.buffer.count >= capacity * 2 {
        let cut = state.buffer.count - capacity
        state.floor = state.buffer[cut - 1].sequence
        state.buffer.removeFirst(cut)
      }
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  /// The events up to `sequence` are not to be had: whoever wants them is sent to the journal, which
  /// says so.
  func skip(through sequence: UInt64) {
    let parked = state.withLock { state in
      state.buffer.removeAll()
      (state.floor, state.last) = (sequence, sequence)
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  /// How many warnings there were: where a new subscriber begins.
  var lastWarning: UInt64 { state.withLock { $0.warningCount } }

  /// Tells whoever asks for warnings.
  func warn(_ warning: SessionWarning) {
    let parked = state.withLock { state in
      state.warnings.append(warning)
      state.warningCount += 1
      if state.warnings.count > Self.keptWarnings { state.warnings.removeFirst() }
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  func finish() {
    let parked = state.withLock { state in
      state.isFinished = true
      return state.takeParked()
    }
    for continuation in parked { continuation.resume() }
  }

  /// What comes after `sequence`; waits until there is something, or the task is cancelled.
  ///
  /// With `warned`, warnings are told as well, those after so many.
  func answer(after sequence: UInt64, warned: UInt64? = nil) async -> Answer {
    while true {
      let (answer, ticket) = look(after: sequence, warned)
      if let answer { return answer }
      await wait(ticket, after: sequence, warned)
      if Task.isCancelled { return .finished }
    }
  }

  private func wait(_ ticket: UInt64, after sequence: UInt64, _ warned: UInt64?) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { park($0, ticket, after: sequence, warned) }
    } onCancel: {
      state.withLock { $0.parked.removeValue(forKey: ticket) }?.resume()
    }
  }

  // Never inlined into the functions above: a lock knows its thread, and after an `await` theirs may be
  // another one than the optimizer remembers.

  @inline(never)
  private func look(after sequence: UInt64, _ warned: UInt64?) -> (Answer?, UInt64) {
    state.withLock { state in
      if let warned, let news = state.warnings(after: warned) { return (news, 0) }
      return state.answer(after: sequence)
    }
  }

  @inline(never)
  private func park(
    _ continuation: CheckedContinuation<Void, Never>, _ ticket: UInt64, after sequence: UInt64,
    _ warned: UInt64?
  ) {
    let isReady = state.withLock { state in
      guard state.last <= sequence, !state.isFinished, !Task.isCancelled,
        warned.map({ $0 >= state.warningCount }) ?? true
      else { return true }
      state.parked[ticket] = continuation
      return false
    }
    if isReady { continuation.resume() }
  }
}

extension EventHub.State {
  fileprivate mutating func takeParked() -> [CheckedContinuation<Void, Never>] {
    defer { parked.removeAll(keepingCapacity: true) }
    // Tickets are given out in the order of arrival.
    return parked.sorted { $0.key < $1.key }.map(\.value)
  }

  fileprivate func warnings(after count: UInt64) -> EventHub.Answer? {
    guard warningCount > count else { return nil }
    return .warnings(
      warnings.suffix(Int(min(warningCount - count, UInt64(warnings.count)))),
      last: warningCount)
  }

  /// The answer, or the ticket to wait with.
  fileprivate mutating func answer(after sequence: UInt64) -> (EventHub.Answer?, UInt64) {
    if sequence < floor { return (.inJournal(through: floor), 0) }
    if sequence < last {
      let rest = buffer[buffer.firstIndex(after: sequence)...]
      // A copy of a few: a slice would share the buffer, and the next event would move all of it.
      return (.events(ArraySlice(Array(rest.prefix(EventHub.answerSize)))), 0)
    }
    if isFinished { return (.finished, 0) }
    tickets += 1
    return (nil, tickets)
  }
}

extension [RecordedEvent] {
  /// The index of the first event with a higher sequence, by halving.
  fileprivate func firstIndex(after sequence: UInt64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
