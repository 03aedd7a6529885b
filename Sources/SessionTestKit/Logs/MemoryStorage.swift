import SessionJournal
import SessionKit
import Synchronization

/// What a log in memory holds.
struct MemoryStorage: Sendable {
  /// The identity; nil until the log was opened first.
  var identifier: JournalIdentifier?
  /// All records, the snapshot first.
  private(set) var records: [JournalRecord] = []
  /// The first sequence, without the snapshot.
  private(set) var first: UInt64 = 1
  /// The last sequence; 0 if there is none.
  private(set) var last: UInt64 = 0
  var items = MemoryItems()
  var faults: [(step: MemoryLog.Step, error: JournalError)] = []
  /// Whether a test holds the log.
  var isHeld = false
  /// The number of changes, for those who wait for one.
  private(set) var changes: UInt64 = 0
  /// The number of objects that may wait for a change.
  var followers = 0

  var view: MemoryLogView {
    var view = MemoryLogView()
    view.follow(self)
    return view
  }

  /// Returns the error with which a call is to fail at this step; nil if it goes on.
  mutating func takeFault(at step: MemoryLog.Step) -> JournalError? {
    guard let place = faults.firstIndex(where: { $0.step == step }) else { return nil }
    return faults.remove(at: place).error
  }

  /// Appends a batch, and returns its records.
  mutating func append(_ drafts: [JournalDraft]) -> [JournalRecord] {
    guard !drafts.isEmpty else { return [] }
    var appended: [JournalRecord] = []
    for (place, draft) in drafts.enumerated() {
      last += 1
      appended.append(
        JournalRecord(
          sequence: last, offset: 0, kind: draft.kind,
          remainingInBatch: UInt16(drafts.count - 1 - place), payload: draft.payload))
    }
    records += appended
    changes += 1
    return appended
  }

  /// Replaces the batches before `wanted` by a snapshot; returns how many records went, or nil if
  /// nothing is changed.
  mutating func compact(keepingFrom wanted: UInt64, _ summary: some JournalSummary) -> UInt64? {
    let old = records.prefix { $0.sequence < wanted }
    // A batch is kept whole.
    guard let end = old.lastIndex(where: { $0.remainingInBatch == 0 }), !records[end].isSnapshot
    else { return nil }
    var summary = summary
    for record in records[...end] {
      summary.take(record.header, payload: record.payload.span.bytes)
    }
    guard let snapshot = summary.snapshot() else { return nil }
    let sequence = records[end].sequence
    let removed = records[...end].count { !$0.isSnapshot }
    let whole = JournalRecord(
      sequence: sequence, offset: 0, kind: RecordHeader.snapshotKind, payload: snapshot)
    records = [whole] + records[(end + 1)...]
    first = sequence + 1
    changes += 1
    return UInt64(removed)
  }
}

/// What one opening of a log in memory has seen.
struct MemoryLogView: Sendable {
  private(set) var first: UInt64 = 1
  private(set) var last: UInt64 = 0
  var isClosed = false

  func isOutdated(by storage: MemoryStorage) -> Bool {
    storage.last > last || storage.first != first
  }

  /// Counts everything in the log as seen.
  mutating func follow(_ storage: MemoryStorage) { (first, last) = (storage.first, storage.last) }

  /// Returns the records that were not seen, and counts them as seen.
  mutating func take(from storage: MemoryStorage) -> [JournalRecord] {
    // A snapshot of records that were all seen is nothing new.
    defer { follow(storage) }
    return storage.records.filter { $0.sequence > last }
  }
}

/// What a log in memory holds, under a lock, and the tasks that wait for a change.
final class MemoryContent: Sendable {
  private let storage = Mutex(MemoryStorage())
  private let waiting = WaitableState(())

  // Never inlined: after an `await` a task may run on another thread.

  /// Reads the content, or changes something in it for which no task waits.
  @inline(never)
  func withLock<Value: Sendable>(_ body: (inout MemoryStorage) -> Value) -> Value {
    storage.withLock { body(&$0) }
  }

  /// Changes the content, then lets the waiting tasks look at it again, if there may be any.
  @inline(never)
  func change(_ body: (inout MemoryStorage) -> Void) {
    let isFollowed = storage.withLock { storage in
      body(&storage)
      return storage.followers > 0
    }
    if isFollowed { waiting.resumeWaiters() }
  }

  /// Waits for a change after the given number of them, and returns the new number.
  ///
  /// Only a follower that was counted may wait. Returns `nil` if the task is cancelled.
  func change(after number: UInt64) async -> UInt64? {
    await waiting.wait { _ in self.number(after: number) }
  }

  @inline(never)
  private func number(after number: UInt64) -> UInt64? {
    storage.withLock { $0.changes > number ? $0.changes : nil }
  }
}

/// Waits for changes of a log in memory.
final class MemoryLogChanges: LogChanges {
  private let content: MemoryContent
  private let seen: Mutex<UInt64>

  init(_ content: MemoryContent) {
    self.content = content
    let changes = content.withLock { storage in
      storage.followers += 1
      return storage.changes
    }
    seen = Mutex(changes)
  }

  deinit { content.withLock { $0.followers -= 1 } }

  var isNotified: Bool { true }

  func wait(atMost limit: Duration) async {
    let before = known()
    let content = content
    let found = await withTaskGroup(of: UInt64?.self) { group in
      group.addTask { await content.change(after: before) }
      group.addTask {
        do { try await ProcessTimers.shared.sleep(for: limit) } catch {
          // The other task has ended the wait.
        }
        return nil
      }
      let found = await group.next() ?? nil
      group.cancelAll()
      return found
    }
    note(found)
  }

  // Never inlined: after an `await` a task may run on another thread.

  @inline(never)
  private func known() -> UInt64 { seen.withLock { $0 } }

  @inline(never)
  private func note(_ found: UInt64?) {
    guard let found else { return }
    seen.withLock { $0 = found }
  }
}
