internal import Dispatch
@_spi(Internals) internal import SessionCore
internal import SessionJournal
internal import Synchronization

/// The later half of a long journal, which another thread reads at the same time.
///
/// It begins at the first login after the middle that begins a batch. The reader of the first half
/// goes on to that record. It then takes the count of the later half, or reads that half itself if
/// the count is not complete.
final class LaterHalf<Count: Sendable>: Sendable {
  private struct State: ~Copyable {
    var first: JournalFrame?
    var count: Count?
    var reader: JournalReader?
  }

  private let state = Mutex(State())
  private let middle: UInt64
  /// The place of the first record; 0 until it is looked for, and the highest number for none.
  private let place = Atomic<UInt64>(0)
  private let isCancelled = Atomic<Bool>(false)
  private let finding = DispatchSemaphore(value: 0)
  private let reading = DispatchGroup()

  fileprivate init(after middle: UInt64) { self.middle = middle }

  /// The place of its first record, in bytes from the beginning of the file; `nil` if there is none.
  var offset: UInt64? {
    if place.load(ordering: .acquiring) == 0 {
      finding.wait()
      finding.signal()
    }
    let found = place.load(ordering: .acquiring)
    return found == .max ? nil : found
  }

  /// Whether the frame is the first of this half; it must be between two batches of a good prefix.
  @inline(__always)
  func begins(with frame: JournalFrame) -> Bool {
    frame.offset >= middle && frame.offset == offset && state.withLock { $0.first == frame }
  }

  /// Whether the count is of all records up to the end or up to damage, and the first half accepts it.
  ///
  /// Waits for the other thread.
  func isComplete(accepting accepts: (Count) -> Bool = { _ in true }) -> Bool {
    reading.wait()
    return state.withLock { $0.count }.map(accepts) ?? false
  }

  /// Lends the complete count, and the reader, which stands after the last counted record.
  func take(_ body: (Count, inout JournalReader) throws(ToolError) -> Void) throws(ToolError) {
    guard let count = state.withLock({ $0.count }),
      var reader = state.withLock({ $0.reader.take() })
    else { return }
    try body(count, &reader)
  }

  /// Ends the reading, if the other thread still reads.
  func cancel() {
    isCancelled.store(true, ordering: .relaxed)
    reading.wait()
  }

  /// Starts to read; `take` returns `false` if the count cannot be trusted.
  fileprivate func start(
    _ file: JournalFile, from count: Count,
    _ take: @escaping @Sendable (inout Count, JournalFrame, RawSpan) -> Bool
  ) {
    DispatchQueue.global().async(group: reading) { [self] in
      defer { begin(at: nil) }
      do throws(ToolError) {
        var reader = try file.open()
        var found: Count?
        try file.onJournal { () throws(JournalError) in
          guard try reader.seek(toBatchAfter: middle) else { return }
          found = try read(&reader, from: count, take)
        }
        var kept = Optional(reader)
        state.withLock { state in
          swap(&state.reader, &kept)
          state.count = found
        }
      } catch {
        // The reader of the first half reads on, and meets the same error.
      }
    }
  }

  /// Says where this half begins; only the first call counts.
  private func begin(at frame: JournalFrame?) {
    guard place.load(ordering: .relaxed) == 0 else { return }
    state.withLock { $0.first = frame }
    place.store(frame?.offset ?? .max, ordering: .releasing)
    finding.signal()
  }

  /// Returns the count; `nil` if it cannot be trusted, or no login begins a batch.
  private func read(
    _ reader: inout JournalReader, from count: Count,
    _ take: (inout Count, JournalFrame, RawSpan) -> Bool
  ) throws(JournalError) -> Count? {
    var count = count
    var (hasBegun, isGood) = (false, true)
    var (last, isBetween) = (UInt64(0), true)
    try reader.visit { frame, payload in
      if !hasBegun {
        // A gap in the sequences is a watermark, which ends a batch.
        let beginsBatch = isBetween || frame.sequence != last + 1
        (last, isBetween) = (frame.sequence, frame.remainingInBatch == 0)
        guard beginsBatch, frame.kind == SessionEvent.Kind.login.rawValue else {
          return !isCancelled.load(ordering: .relaxed)
        }
        hasBegun = true
        begin(at: frame)
      }
      isGood = take(&count, frame, payload) && !isCancelled.load(ordering: .relaxed)
      return isGood
    }
    return hasBegun && isGood ? count : nil
  }
}

extension JournalFile {
  /// The usual length from which on a journal is read in two halves, in bytes.
  static let halvedLength: UInt64 = WorkThread.processors > 1 ? 16 << 20 : .max

  /// Starts to count the later half of the file that `reader` has opened; `nil` if the file is
  /// shorter than `length`.
  func laterHalf<Count>(
    of reader: borrowing JournalReader, above length: UInt64, from count: Count,
    _ take: @escaping @Sendable (inout Count, JournalFrame, RawSpan) -> Bool
  ) -> LaterHalf<Count>? {
    guard let end = reader.frozenEnd, end >= length else { return nil }
    let half = LaterHalf<Count>(after: end / 2)
    half.start(self, from: count, take)
    return half
  }
}
