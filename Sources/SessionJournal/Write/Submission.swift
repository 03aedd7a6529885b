internal import Synchronization

/// Drafts that one caller wants appended as one batch, and what became of them.
final class Submission: Sendable {
  typealias Outcome = Result<Journal.Transaction, JournalError>

  private enum State {
    case waiting
    case suspended(CheckedContinuation<Outcome, Never>)
    case finished(Outcome)
  }

  let drafts: [JournalDraft]

  /// The sequence that must be that of the last record; nil if any may be.
  let expected: UInt64?

  private let state = Mutex(State.waiting)

  init(_ drafts: [JournalDraft], ifLastIs expected: UInt64?) {
    self.drafts = drafts
    self.expected = expected
  }

  /// What became of it; nil while it waits.
  var outcome: Outcome? {
    state.withLock { if case .finished(let outcome) = $0 { outcome } else { nil } }
  }

  /// Says what became of it; what is said later does not count.
  func finish(_ outcome: Outcome) {
    let suspended = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      defer { if case .finished = state {} else { state = .finished(outcome) } }
      if case .suspended(let continuation) = state { return continuation }
      return nil
    }
    suspended?.resume(returning: outcome)
  }

  /// Suspends until it is finished.
  func wait() async -> Outcome {
    await withCheckedContinuation { continuation in
      let finished = state.withLock { state -> Outcome? in
        if case .finished(let outcome) = state { return outcome }
        state = .suspended(continuation)
        return nil
      }
      if let finished { continuation.resume(returning: finished) }
    }
  }
}

/// What waits to be appended, in the order of arrival.
///
/// Whoever gets to write takes all that is there: what arrives during a sync rides on the next.
final class SubmissionQueue: Sendable {
  /// One write carries at most so many batches and, but for a single larger one, so many bytes.
  static let batchesPerWrite = 1024
  static let bytesPerWrite = 4 * 1024 * 1024

  private struct State {
    var waiting: [Submission] = []
    var isServed = false
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.waiting.count } }

  func add(_ submission: Submission) {
    state.withLock { $0.waiting.append(submission) }
  }

  /// Adds one for which nobody's thread waits; whether somebody must be sent to serve the queue.
  func addUnattended(_ submission: Submission) -> Bool {
    state.withLock { state in
      state.waiting.append(submission)
      defer { state.isServed = true }
      return !state.isServed
    }
  }

  /// Takes what goes into one write; nothing if nothing waits.
  func take() -> [Submission] {
    state.withLock { state in
      var bytes = 0
      let end =
        state.waiting.prefix(Self.batchesPerWrite).firstIndex { submission in
          let isFirst = bytes == 0
          bytes += submission.drafts.reduce(1) {
            $0 + JournalFrame.headerSize + JournalFrame.padded($1.payload.count)
          }
          return !isFirst && bytes > Self.bytesPerWrite
        } ?? min(state.waiting.count, Self.batchesPerWrite)
      defer { state.waiting.removeFirst(end) }
      return Array(state.waiting[..<end])
    }
  }

  /// Whether nothing is left for whoever was sent to serve the queue, who may then go.
  func isServed() -> Bool {
    state.withLock { state in
      if state.waiting.isEmpty { state.isServed = false }
      return state.waiting.isEmpty
    }
  }
}
