internal import Synchronization

/// The drafts that one caller wants to append as one batch, and their outcome.
final class Submission: Sendable {
  typealias Outcome = Result<JournalTransaction, JournalError>

  private enum State {
    case waiting
    case suspended(CheckedContinuation<Outcome, Never>)
    case finished(Outcome)
  }

  let drafts: [JournalDraft]

  /// The sequence that the last record must have; nil if any will do.
  let expected: UInt64?

  private let state = Mutex(State.waiting)

  init(_ drafts: [JournalDraft], ifLastIs expected: UInt64?) {
    self.drafts = drafts
    self.expected = expected
  }

  /// The outcome; nil while it waits.
  var outcome: Outcome? {
    state.withLock { if case .finished(let outcome) = $0 { outcome } else { nil } }
  }

  /// Sets the outcome; a later call has no effect.
  func finish(_ outcome: Outcome) {
    let suspended = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
      defer { if case .finished = state {} else { state = .finished(outcome) } }
      if case .suspended(let continuation) = state { return continuation }
      return nil
    }
    suspended?.resume(returning: outcome)
  }

  /// Suspends until there is an outcome.
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

/// The submissions that wait to be appended, in the order of arrival.
///
/// The next writer takes all of them; what arrives during its sync waits for the next write.
final class SubmissionQueue: Sendable {
  /// The most batches of one write, and the most bytes; a single larger batch is allowed.
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

  /// Adds a submission without a waiting thread; true if a thread must be sent to serve the queue.
  func addUnattended(_ submission: Submission) -> Bool {
    state.withLock { state in
      state.waiting.append(submission)
      defer { state.isServed = true }
      return !state.isServed
    }
  }

  /// Takes the submissions of one write; empty if none wait.
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

  /// Whether the queue is empty, so that the thread that serves it may stop.
  func isServed() -> Bool {
    state.withLock { state in
      if state.waiting.isEmpty { state.isServed = false }
      return state.waiting.isEmpty
    }
  }
}
