@_spi(Internals) package import SessionCore

/// A shell that does nothing but commit: a coordinator on a clock that stands still, with the
/// journal as an array.
///
/// What a test says happens, happens; what the coordinator wants is recorded. Nothing waits, no
/// task runs, and the same calls give the same effects.
///
/// - Requirement: TST-2
package struct CoordinatorBench: Sendable {
  /// The decisions under test.
  package private(set) var coordinator: SessionCoordinator
  /// What the clocks say at the next input.
  package var now: ClockReading
  /// What was journaled, by the coordinator and by others.
  package private(set) var journal: [SessionRecord] = []
  /// How many callers have asked.
  package private(set) var callers: UInt64 = 0

  /// How the next commits end; after these every one succeeds.
  package var commitEndings: [CommitEnding] = []

  /// How a commit ends.
  package enum CommitEnding: Hashable, Sendable {
    /// It is durable.
    case succeeds
    /// Nothing is written.
    case fails
    /// Nothing is written, and never would be however often it is tried.
    case failsForGood
    /// Nothing is written: another process appended these first.
    case conflicts([SessionRecord.Content])
    /// Nothing is written: a newer token is stored, announced by this event.
    case superseded(SessionEvent)
    /// Nothing is written: the user has to show who they are first.
    case presenceNeeded
  }

  /// How the next looks at the journal on behalf of callers end; after these every one finds nothing.
  package var lookEndings: [LookEnding] = []

  /// How a look at the journal ends.
  package enum LookEnding: Hashable, Sendable {
    /// Another process has appended these.
    case finds([SessionRecord.Content])
    /// The journal cannot be read or locked.
    case fails
  }

  /// Where the clocks stand at first.
  package static let start = ClockReading(time: .plainStart, uptime: 5_000)

  /// A bench with an empty journal.
  package init(_ policy: SessionPolicy = .bench) {
    now = Self.start
    coordinator = SessionCoordinator(policy: PolicyFigures(policy))
  }

  /// A bench whose journal holds something already.
  ///
  /// Errors: what a fold cannot take in.
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
  /// The names of the journal's records.
  package var names: [String] { journal.map(\.name) }

  /// A caller that has not asked before.
  package mutating func caller() -> Caller {
    callers += 1
    return Caller(callers)
  }

  /// Lets both clocks run on.
  package mutating func advance(by milliseconds: Int64) {
    now = ClockReading(
      time: now.time.advanced(by: milliseconds),
      uptime: now.uptime.addingSaturating(milliseconds))
  }

  /// Sets the civil time forward or back; the clock that never jumps stays.
  package mutating func jump(by milliseconds: Int64) {
    now = ClockReading(time: now.time.advanced(by: milliseconds), uptime: now.uptime)
  }

  /// Tells the coordinator, performs its commits and the looks at the journal that a caller's question
  /// needs, and returns every other effect in order.
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
          // What a shell does directly before the first byte.
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
