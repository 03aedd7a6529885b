/// The notes that wait for a batch.
///
/// ```
///          opened, store failed           the next batch, of any purpose      durable
///  none ───────────────────────▶ waiting ─────────────────────────────▶ in it ───────▶ none
///          a request is dropped                a batch of its own             durable, or given up
///  none ───────────────────────▶ ending  ─────────────────────────────▶ in it ───────▶ none
/// ```
///
/// - Notes of the opening and of the secret store go with the next batch. An opening that found
///   nothing to note waits for a batch of another purpose, and is never noted if there is none.
/// - The ends of requests that no event records have a batch of their own.
struct PendingNotes: Hashable, Sendable {
  /// The notes of the opening.
  private(set) var opening: [SessionNote] = []
  /// Whether the opening is noted although there is nothing else to note.
  private var isDue = false
  /// The ends of requests that no event records.
  private(set) var endings: [SessionNote] = []
  /// The failures of the secret store.
  private var storage = StorageWatch()
  /// The skew to the server's clock that was last noted, in milliseconds.
  private var skew: Int64 = 0

  /// Whether the notes of the opening say more than that there was one.
  var hasFinding: Bool { opening.contains { $0.kind != .opened } }

  /// Returns the notes that go with the next batch, which is written at this uptime.
  func forNextBatch(at uptime: Int64) -> [SessionNote] {
    // A reader of the journal compares the uptime with the record's time to find a clock that was set.
    opening.map { note in
      if case .opened(let opened) = note { .opened(opened.written(at: uptime)) } else { note }
    } + storage.notes
  }

  /// Whether a batch is to be written for these notes alone.
  var wantsCommit: Bool { storage.wantsCommit || isDue && !opening.isEmpty }

  // MARK: Inputs

  /// Records the result of an operation of the secret store.
  mutating func take(_ report: StorageReport, at uptime: Int64) { storage.take(report, at: uptime) }

  /// Notes the failures of the secret store that are due and not noted yet.
  mutating func noteLastingRuns(at uptime: Int64) { storage.noteLastingRuns(at: uptime) }

  /// Notes that a response waits to be stored.
  mutating func noteUnstored(at uptime: Int64) { storage.noteUnstored(at: uptime) }

  /// Lets the notes of the secret store be journaled alone again.
  mutating func retryStorage() { storage.retry() }

  /// Records that a batch for ``wantsCommit`` could not be journaled.
  mutating func notJournaled() {
    storage.notJournaled()
    isDue = false
  }

  /// Records what the opening notes.
  ///
  /// With `isDue` it is noted at once: only two openings show later that the clock was set between them.
  mutating func opened(_ notes: [SessionNote], isDue: Bool = false) {
    (opening, self.isDue) = (notes, isDue)
  }

  /// Has the opening noted before this process waits for another one's request.
  ///
  /// If the first batch of an opening says that such a request has no response, readers take it that the
  /// other process was gone before this one came.
  mutating func waiting() { isDue = true }

  /// Records more notes of the opening, which could not be journaled.
  mutating func postpone(_ notes: [SessionNote]) { opening += notes }

  /// Another process has noted that this journal continues another one.
  mutating func continuationNoted() {
    opening.removeAll { $0.kind == .continued }
  }

  /// Records that a request ended with a failure, or with an answer that is not used.
  mutating func add(ending note: SessionNote) { endings.append(note) }

  /// Records that a batch with ``forNextBatch`` is durable.
  mutating func journaled() {
    (opening, isDue) = ([], false)
    storage.journaled()
  }

  /// Ends the wait of ``endings``: they are durable, or could not be journaled.
  mutating func takeEndings() -> [SessionNote] {
    defer { endings = [] }
    return endings
  }

  // MARK: The clock

  /// Returns the skew to a server's clock, if it has changed by more than the threshold.
  ///
  /// Milliseconds ahead of the server. The first skew is compared with 0.
  ///
  /// - Requirement: REF-8
  func newSkew(of server: Timestamp?, at time: Timestamp) -> Int64? {
    guard let server else { return nil }
    let now = time.milliseconds(since: server)
    return now.subtractingSaturating(skew).magnitude > Self.leastChange ? now : nil
  }

  /// Records the skew of a durable note.
  mutating func noted(skew: Int64) { self.skew = skew }

  /// The threshold in milliseconds: `Date` has whole seconds, and a response takes time.
  private static let leastChange: UInt64 = 30_000
}
