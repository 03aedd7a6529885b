@_spi(Internals) import SessionCore
import SessionJournal

/// The loop: passes inputs to the coordinator and performs its effects, in order.
///
/// ```
///           feed                      no input is left
///  idle ───────────▶ running ────────────────────────────────▶ idle
///                     ▲   │ an effect finds the log busy
///          the pause  │   ▼
///          is over    stalled
/// ```
///
/// An effect that finds the log busy stops the loop. Its try has waited some milliseconds, and the
/// pause after it takes no thread. Then the loop continues with the same effect. The effects after it
/// and all inputs wait in order meanwhile. A busy log was not written and its secrets were not touched,
/// so the next try repeats nothing.
///
/// Work outside the loop continues during the pause. It may read records of others that the effect was
/// decided without. The effect meets them before it is performed.
///
/// - Requirement: SCL-1
extension SessionEngine {
  /// Another opening has the log: the effect is tried again after a pause, in milliseconds.
  struct Busy: Error {
    let pause: Int64
  }

  /// Passes an input to the coordinator and performs its effects, until no input is left or the loop
  /// stalls.
  ///
  /// `detail` is what is known of a failed request besides the input, for the replies that follow.
  func feed(_ input: SessionInput, detail: String? = nil) {
    loop.inbox.append((input, detail))
    run()
  }

  /// Waits until no input is left.
  ///
  /// Suspends only if the loop is stalled.
  func idle() async {
    guard loop.isStalled else { return }
    await withCheckedContinuation { loop.waiters.begin($0) }
  }

  /// Passes records on that were read outside the loop.
  ///
  /// If an effect waits for the log, it meets them before it is performed.
  func deliver(_ others: [SessionRecord]) {
    guard !others.isEmpty else { return }
    if loop.isStalled {
      peers.undelivered += others
    } else {
      feed(.observed(others, isHolderGone: false))
    }
  }

  /// Passes the inputs of the inbox to the coordinator, unless that happens already or the loop is
  /// stalled.
  func run() {
    guard !loop.isRunning, !loop.isStalled else { return }
    loop.isRunning = true
    defer { loop.isRunning = false }
    if !loop.effects.isEmpty {
      guard performEffects() else { return }
    }
    repeat {
      while !loop.inbox.isEmpty || !peers.undelivered.isEmpty {
        if !peers.undelivered.isEmpty {
          answer(.observed(unknown([]), isHolderGone: false))
        }
        guard let (input, detail) = loop.inbox.takeFirst() else { break }
        if let detail { problems.detail = detail }
        loop.effects = coordinator.handle(input, at: configuration.clock.now()).reversed()
          .map(EngineLoop.Step.effect)
        view.waiterCount = coordinator.waiterCount
        if !(loop.effects.isEmpty && input.isForToken) { showChanges(after: input) }
        guard performEffects() else { return }
      }
      if let observed = compactIfDue() { loop.inbox.append((observed, nil)) }
    } while !loop.inbox.isEmpty
    if problems.detail != nil { problems.detail = nil }
    // A response is kept only while a failed commit may be tried again.
    for number in loop.takeAnswered() where !coordinator.holds(number) {
      requests.responses[number] = nil
    }
    loop.waiters.endAll(with: ())
  }

  /// Puts what an effect resulted in before all other inputs.
  func answer(_ input: SessionInput) { loop.inbox.putFirst((input, nil)) }

  /// Performs the effects that are left; returns `false` if one of them stalls the loop.
  private func performEffects() -> Bool {
    while let step = loop.effects.popLast() {
      do throws(Busy) {
        try perform(step)
        loop.retry = nil
      } catch {
        loop.effects.append(step)
        pause(\.isStalled, for: error.pause)
        return false
      }
    }
    let reports = witness.takeReports()
    if !reports.isEmpty { loop.inbox.append((.stored(reports), nil)) }
    return true
  }

  private func perform(_ step: EngineLoop.Step) throws(Busy) {
    switch step {
    case .effect(let effect): try perform(effect)
    case .wipe(let wipe, let held): try finish(wipe, of: held)
    }
  }

  /// Sets a flag for the length of a pause, in milliseconds; then the loop runs again.
  private func pause(
    _ flag: any WritableKeyPath<EngineLoop, Bool> & Sendable, for milliseconds: Int64
  ) {
    loop[keyPath: flag] = true
    start { engine in
      await engine.runtime.pause(milliseconds)
      engine.loop[keyPath: flag] = false
      engine.run()
    }
  }

  /// Returns the error of an effect that found the log in this condition.
  ///
  /// Throws `Busy` if the effect is tried again.
  func settled(_ error: JournalError) throws(Busy) -> JournalError {
    var retry = loop.retry ?? BusyRetry(limit: configuration.place.deadline)
    defer { loop.retry = retry }
    switch retry.failed(error) {
    case .again(let pause): throw Busy(pause: pause)
    case .over(let error): return error
    }
  }

  /// Calls `work` with what others appended, outside the loop, while no other opening appends.
  ///
  /// Suspends only if the log is busy. Throws `busy` after the log's deadline.
  func locked<Value: Sendable>(_ work: (_ foreign: [JournalRecord]) -> Value)
    async throws(JournalError) -> Value
  {
    var retry = BusyRetry(limit: configuration.place.deadline)
    while true {
      do throws(JournalError) { return try log.locked(work) } catch {
        switch retry.failed(error) {
        case .again(let pause): await runtime.pause(pause)
        case .over(let error): throw error
        }
      }
    }
  }
}

/// Compaction of the log: performs what `CompactionSchedule` decides.
///
/// The session continues whether it succeeds or fails.
extension SessionEngine {
  /// Compacts the log if it is due.
  ///
  /// Returns what peers have appended meanwhile, if anything. A busy log does not stall the loop,
  /// since nothing waits for a compaction.
  private func compactIfDue() -> SessionInput? {
    // No caller asked for a compaction, so its failure is no error of any call, and the journal is
    // unchanged.
    guard !loop.isCompactionPaused else { return nil }
    let (now, beginning) = (configuration.clock.now(), log.firstSequence)
    let first = compaction.firstKept(
      inFileFrom: beginning,
      CompactionSchedule.Situation(
        isOpen: coordinator.isOpen, isWhole: coordinator.fold.isReplaceable,
        needsClearing: needsDataClearing),
      at: now)
    guard let first else { return nil }
    let problem = problems.compaction
    defer { if problems.compaction != problem { show() } }
    do throws(JournalError) {
      let done = try configuration.compaction(log, first)
      if problems.compaction != nil { problems.compaction = nil }
      loop.compactionRetry = nil
      compaction.ended(hasNewBeginning: log.firstSequence != beginning, at: now)
      let others = read(done?.foreign ?? [])
      return others.isEmpty ? nil : .observed(others, isHolderGone: false)
    } catch {
      guard let problem = pauseCompaction(after: error) else { return nil }
      problems.compaction = .journal(problem)
      compaction.failed(at: now)
      return nil
    }
  }

  /// Pauses the compaction of a busy log; returns the error if it has failed instead.
  private func pauseCompaction(after error: JournalError) -> JournalError? {
    var retry = loop.compactionRetry ?? BusyRetry(limit: configuration.place.deadline)
    switch retry.failed(error) {
    case .over(let error):
      loop.compactionRetry = nil
      return error
    case .again(let time):
      loop.compactionRetry = retry
      pause(\.isCompactionPaused, for: time)
      return nil
    }
  }
}

/// A queue of inputs; to take the first one moves no other, since ten thousand may wait.
struct Inbox: Sendable {
  typealias Entry = (input: SessionInput, detail: String?)

  /// The first entries, in reverse order.
  private var first: [Entry] = []
  /// The entries after them.
  private var rest: [Entry] = []

  var isEmpty: Bool { first.isEmpty && rest.isEmpty }

  mutating func append(_ entry: Entry) { rest.append(entry) }

  mutating func putFirst(_ entry: Entry) { first.append(entry) }

  mutating func takeFirst() -> Entry? {
    if first.isEmpty, rest.count > 1 {
      first = rest.reversed()
      rest = []
    }
    // An array keeps its memory, which is large after ten thousand callers.
    defer { if first.isEmpty, first.capacity > 64 { first = [] } }
    return first.popLast() ?? rest.popLast()
  }
}

extension SessionInput {
  /// Whether a caller asks for a token.
  ///
  /// If nothing follows from that, one more caller waits, and nothing else is shown differently.
  fileprivate var isForToken: Bool {
    if case .refresh = self { true } else { false }
  }

  /// Whether it can bring records of other processes, which may change anything.
  var mayBringRecords: Bool {
    switch self {
    case .observed, .conflicted, .wiped(.overtaken): true
    default: false
    }
  }
}

/// The inputs and effects that wait, and why the loop does not run.
struct EngineLoop: Sendable {
  /// One step of the effects of an input.
  enum Step: Sendable {
    case effect(SessionEffect)
    /// The part of a wipe that needs the log, and the token that was held before.
    case wipe(SessionEffect.Wipe, of: StoredToken?)
  }

  /// The inputs that were not handled yet, with details of a failed request.
  var inbox = Inbox()
  /// The effects of the last input that were not performed yet, the next one last.
  var effects: [Step] = []
  var isRunning = false
  /// Whether the next effect waits for a busy log.
  var isStalled = false
  /// The tries of the next effect; `nil` if it has not found the log busy.
  var retry: BusyRetry?
  /// Whether a compaction waits for a busy log.
  var isCompactionPaused = false
  var compactionRetry: BusyRetry?
  /// Calls that wait until no input is left.
  var waiters = WaiterTable<Void>()
  /// The requests whose responses have arrived since the loop was idle.
  private var answered: [RequestNumber] = []

  /// Notes that a response waits to be handled.
  mutating func noteAnswered(_ number: RequestNumber) { answered.append(number) }

  /// Returns the requests whose responses were handled, and forgets them.
  mutating func takeAnswered() -> [RequestNumber] {
    defer { answered = [] }
    return answered
  }
}
