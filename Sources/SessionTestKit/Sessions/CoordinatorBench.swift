@_spi(Internals) package import SessionCore

/// A shell that only commits: a coordinator with a clock that stands still, and an array as
/// journal.
///
/// A test decides what happens, and the bench records the coordinator's effects. Nothing waits, no
/// task runs, and the same calls result in the same effects.
///
/// - Requirement: TST-2
package struct CoordinatorBench: Sendable {
  /// The coordinator under test.
  package private(set) var coordinator: SessionCoordinator
  /// The clock reading of the next input.
  package var now: ClockReading
  /// All journaled records, of the coordinator and of other processes.
  package private(set) var journal: [SessionRecord] = []
  /// The number of callers so far.
  package private(set) var callers: UInt64 = 0

  /// The results of the next commits; after these every commit succeeds.
  package var commitEndings: [CommitEnding] = []

  /// The result of a commit.
  package enum CommitEnding: Hashable, Sendable {
    /// The commit is durable.
    case succeeds
    /// Nothing is written; a later attempt may succeed.
    case fails
    /// The token was stored, but no record was written; a later attempt may succeed.
    case failsAfterStoring
    /// Nothing is written, and no later attempt can succeed.
    case failsForGood
    /// Nothing is written, since another process appended these records first.
    case conflicts([SessionRecord.Content])
    /// Nothing is written, since a newer token is stored; this event announces it.
    case superseded(SessionEvent)
    /// Nothing is written, since the user must authenticate on the device first.
    case presenceNeeded
  }

  /// The results of the next journal reads for callers; after these every read finds nothing.
  package var lookEndings: [LookEnding] = []

  /// The result of reading the journal.
  package enum LookEnding: Hashable, Sendable {
    /// Another process has appended these records.
    case finds([SessionRecord.Content])
    /// The journal cannot be read or locked.
    case fails
  }

  /// The clock reading at the start.
  package static let start = ClockReading(time: .plainStart, uptime: 5_000)

  /// Creates a bench with an empty journal.
  package init(_ policy: SessionPolicy = .bench) {
    now = Self.start
    coordinator = SessionCoordinator(policy: PolicyFigures(policy))
  }

  /// Creates a bench whose journal contains these records.
  ///
  /// Throws if they cannot be folded.
  package init(_ policy: SessionPolicy = .bench, journal contents: [SessionRecord.Content])
    throws(SessionFold.Failure)
  {
    now = Self.start
    var fold = SessionFold()
    for (sequence, content) in zip(UInt64(1)..., contents) {
      let record = SessionRecord(sequence: sequence, time: now.time, content: content)
      journal.append(record)
      try fold.apply(record)
    }
    coordinator = SessionCoordinator(policy: PolicyFigures(policy), fold: fold)
  }

  /// The events of the journal.
  package var events: [SessionEvent] { journal.compactMap(\.event) }
  /// The names of the kinds of the journal's records.
  package var names: [String] { journal.map(\.name) }

  /// Returns a new caller.
  package mutating func caller() -> Caller {
    callers += 1
    return Caller(callers)
  }

  /// Advances the civil time and the uptime by this number of milliseconds.
  package mutating func advance(by milliseconds: Int64) {
    now = ClockReading(
      time: now.time.advanced(by: milliseconds),
      uptime: now.uptime.addingSaturating(milliseconds))
  }

  /// Advances the clock to the time for which `effects` set the refresh timer, and lets it fire.
  package mutating func fireRefresh(after effects: [SessionEffect]) -> [SessionEffect] {
    if let end = effects.uptime(of: .refresh) { advance(by: end - now.uptime) }
    return tell(.fired(.refresh))
  }

  /// Sets the civil time forward or back by this number of milliseconds; the uptime does not
  /// change.
  package mutating func jump(by milliseconds: Int64) {
    now = ClockReading(time: now.time.advanced(by: milliseconds), uptime: now.uptime)
  }

  /// Gives the coordinator an input, and returns its effects in order.
  ///
  /// The bench performs commits and the journal reads that a caller needs. These are not in the
  /// result.
  @discardableResult
  package mutating func tell(_ input: SessionInput) -> [SessionEffect] {
    var effects: [SessionEffect] = []
    var inputs = [input]
    while !inputs.isEmpty {
      for effect in coordinator.handle(inputs.removeFirst(), at: now) {
        if case .commit(let commit) = effect {
          inputs.insert(perform(commit), at: 0)
        } else if effect == .readJournal, coordinator.isLookingForCaller {
          inputs.insert(look(), at: 0)
        } else {
          effects.append(effect)
          // A shell does this directly before the first byte is sent.
          if case .send(let number, _) = effect { inputs.append(.leaving(number)) }
        }
      }
    }
    return effects
  }

  private mutating func perform(_ commit: SessionCommit) -> SessionInput {
    switch commitEndings.isEmpty ? .succeeds : commitEndings.removeFirst() {
    case .succeeds:
      append(commit.contents, at: commit.time)
      return .committed(firstSequence: UInt64(journal.count - commit.contents.count + 1))
    case .fails:
      return .commitFailed(isLasting: false)
    case .failsAfterStoring:
      return .commitFailed(isLasting: false, isStored: true)
    case .failsForGood:
      return .commitFailed(isLasting: true)
    case .conflicts(let contents):
      return .conflicted(append(contents, at: now.time))
    case .superseded(let event):
      return .superseded(event)
    case .presenceNeeded:
      return .presenceNeeded
    }
  }

  private mutating func look() -> SessionInput {
    switch lookEndings.isEmpty ? .finds([]) : lookEndings.removeFirst() {
    case .finds(let contents):
      .observed(append(contents, at: now.time), isHolderGone: false)
    case .fails:
      .unobserved
    }
  }

  @discardableResult
  private mutating func append(_ contents: [SessionRecord.Content], at time: Timestamp)
    -> [SessionRecord]
  {
    let first = UInt64(journal.count + 1)
    let records = zip(first..., contents).map {
      SessionRecord(sequence: $0, time: time, content: $1)
    }
    journal += records
    return records
  }
}
