import Synchronization

/// The draws that decide everything in one case: data, faults, clock and schedule.
///
/// A body that takes every decision from here can be replayed from the draws alone, made simpler by
/// making the draws simpler, and enumerated by counting through them. In each draw 0 is the simplest
/// choice: write generators so that 0 ends a list, leaves a fault out, takes the first way.
///
/// Let 0 end a loop, since draws past the end of a replay are 0. A case that asks for more than 65,536
/// draws *overruns*: the next 65,536 are 0, and those after them a fixed mixture, so that a loop ends that
/// waits for another value. What overruns and holds counts as no case. A property's body that still
/// asks after 1,048,576 draws never ends: the property says so, with the draws, and ends the process.
///
/// Safe to share between tasks. The same draws give the same case only if they are made in the same
/// order, so tasks that draw must be scheduled by draws too.
///
/// - Requirement: TST-1
public final class Choices: Sendable {
  private let state: Mutex<ChoiceState>

  /// Draws at random: the same seed gives the same draws on every platform.
  public init(seed: UInt64) {
    state = Mutex(ChoiceState(seed: seed))
  }

  /// Replays draws; past their end every draw is 0, and one beyond its bound is the greatest allowed.
  public init(replaying draws: [UInt64]) {
    state = Mutex(ChoiceState(replaying: draws, isTracing: true))
  }

  package init(replaying draws: [UInt64], isTracing: Bool) {
    state = Mutex(ChoiceState(replaying: draws, isTracing: isTracing))
  }

  /// Counts through all cases: at most `depth` draws, each below `width`.
  package init(depth: Int, width: UInt64) {
    state = Mutex(ChoiceState(depth: depth, width: width))
  }

  /// A number in `0 ..< bound`; 0 is the simplest.
  ///
  /// A bound of 0 or 1 gives 0, and nothing is recorded.
  public func draw(below bound: UInt64) -> UInt64 {
    bound < 2 ? 0 : state.withLock { $0.draw(upTo: bound - 1) }
  }

  /// A number in the range; its lower bound is the simplest.
  public func draw(in range: ClosedRange<Int>) -> Int {
    let width = UInt64(bitPattern: Int64(range.upperBound) &- Int64(range.lowerBound))
    let offset = state.withLock { $0.draw(upTo: width) }
    return Int(truncatingIfNeeded: Int64(range.lowerBound) &+ Int64(bitPattern: offset))
  }

  /// `true` in `part` of `whole` random cases; `false` is the simplest.
  ///
  /// Recorded as 0 or 1. A part of 0 is never and a part of the whole or more always true; then
  /// nothing is recorded.
  public func chance(_ part: UInt64, in whole: UInt64) -> Bool {
    if part == 0 { return false }
    if part >= whole { return true }
    return state.withLock { $0.drawFlag(part, in: whole) }
  }

  /// One of the options, or `nil` where there is none; the first is the simplest.
  public func pick<Value>(_ options: [Value]) -> Value? {
    options.isEmpty ? nil : options[Int(draw(below: UInt64(options.count)))]
  }

  /// Marks the draws of `body` as belonging together: the shrinker removes or swaps them as one.
  public func span<Value>(_ body: () throws -> Value) rethrows -> Value {
    let index = state.withLock { $0.openSpan() }
    defer { state.withLock { $0.closeSpan(index) } }
    return try body()
  }

  /// Marks the draws of an asynchronous `body` as belonging together; runs where the caller runs.
  @_disfavoredOverload
  public func span<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let index = state.withLock { $0.openSpan() }
    defer { state.withLock { $0.closeSpan(index) } }
    return try await body()
  }

  /// Says of what sort this case is: counted in the report, once per case.
  public func label(_ text: String) {
    state.withLock { _ = $0.labels.insert(text) }
  }

  /// Tells what the body does, for the report of a failing case; costs nothing in any other.
  public func step(_ text: @autoclosure () -> String) {
    if isTracing { note(text(), state: nil, isSchedule: false) }
  }

  /// Tells what the body does and the state that it leads to.
  public func step(_ text: @autoclosure () -> String, state: @autoclosure () -> String) {
    if isTracing { note(text(), state: state(), isSchedule: false) }
  }

  /// Tells what the schedule does to the body; costs nothing where nothing is told.
  package func tellSchedule(_ text: @autoclosure () -> String) {
    if isTracing { note(text(), state: nil, isSchedule: true) }
  }

  /// Dates every step from now on by a virtual clock, in milliseconds since its beginning.
  package func date(by elapsed: @escaping @Sendable () -> Int64) {
    if isTracing { state.withLock { $0.elapsed = elapsed } }
  }

  /// Says that the test asked for something that means nothing: a warning in the report, once.
  package func complain(_ text: String) {
    state.withLock { $0.complain(text) }
  }

  /// What the test asked for and means nothing, in order.
  package var complaints: [String] { state.withLock { $0.complaints } }

  /// Tells nothing of what `body` does: it happens after the case, and led to nothing in it.
  func untold(_ body: () -> Void) {
    state.withLock { $0.muted += 1 }
    defer { state.withLock { $0.muted -= 1 } }
    body()
  }

  private func note(_ text: String, state outcome: String?, isSchedule: Bool) {
    // Outside the lock: the clock has a lock of its own.
    let time = state.withLock { $0.elapsed }.map { $0() }
    let step = Step(
      text, state: outcome, time: time.map { .milliseconds($0) }, isSchedule: isSchedule)
    state.withLock { $0.note(step) }
  }

  /// Names the journal file that this case wrote, for the report.
  public func attach(journal path: String) {
    state.withLock { $0.journal = path }
  }

  /// Whether steps are told: in the one run that a report describes, and in any replay.
  ///
  /// A body may do more here, such as to keep its journal on disk.
  public var isTracing: Bool { state.withLock { $0.isTracing } }

  /// What was drawn, in order.
  public var recorded: [UInt64] { state.withLock { $0.recorded } }

  /// What was told of this case, in order.
  public var steps: [Step] { state.withLock { $0.steps } }

  package var labels: Set<String> { state.withLock { $0.labels } }
  package var journal: String? { state.withLock { $0.journal } }
  /// What a case that held adds to the count: in one look, since enumerations count millions.
  var findings: CaseFindings {
    state.withLock { state in
      CaseFindings(
        labels: state.labels, complaints: state.complaints, isOverrun: state.isOverrun,
        isTooDeep: state.isOverrun && state.isFull)
    }
  }
  /// Says what ends a case that asks for draws for ever.
  func endless(_ end: @escaping @Sendable ([UInt64]) -> Never) {
    state.withLock { $0.endless = end }
  }
  package var isNarrowed: Bool { state.withLock { $0.isNarrowed } }
  var failingCase: ShrinkCase { state.withLock { $0.failingCase } }
  package func advance() -> Bool { state.withLock { $0.advance() } }
  func takes(_ sweep: Sweep) -> Bool { state.withLock { $0.take(sweep) } }
}

extension Choices {
  /// Goes on only if `condition` holds; otherwise the case is discarded.
  ///
  /// Errors: `Discard`.
  public func assume(_ condition: Bool) throws(Discard) {
    guard condition else { throw Discard() }
  }

  /// Fails the case unless `condition` holds.
  ///
  /// Unlike an expectation of a test library it records nothing, so the many runs of a shrinker make
  /// no noise. Errors: `Falsified`, with the place of the call: a case is made simpler only as long as
  /// it fails at the same place.
  public func require(
    _ condition: Bool, _ message: @autoclosure () -> String, fileID: String = #fileID,
    line: Int = #line
  ) throws(Falsified) {
    guard condition else { throw Falsified(message(), fileID: fileID, line: line) }
  }
}
