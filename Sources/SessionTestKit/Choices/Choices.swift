import Synchronization

/// The draws that decide everything in one case: data, faults, clock and schedule.
///
/// A body that takes every decision from here can be replayed from its draws. It becomes simpler if
/// its draws become simpler, and counting through the draws enumerates all cases. In each draw 0 is
/// the simplest choice. Write generators so that 0 ends a list, leaves a fault out, or takes the
/// first of several options.
///
/// Let 0 end every loop, since draws past the end of a replay are 0. A case that asks for more than
/// 65,536 draws *overruns*:
///
/// - The next 65,536 draws are 0.
/// - Later draws are a fixed mixture, so that a loop ends that waits for another value.
/// - If an overrun case does not fail, it is not counted as a case.
/// - After 1,048,576 draws the case counts as endless. The property prints its draws and ends the
///   process.
///
/// An instance can be shared between tasks. The same draws give the same case only if they are made
/// in the same order. Tasks that draw must therefore be scheduled by draws too.
///
/// - Requirement: TST-1
public final class Choices: Sendable {
  private let state: Mutex<ChoiceState>

  /// Whether steps are recorded; it never changes, so that it is read without the lock.
  private let traces: Bool

  /// Creates a source of random draws; the same seed gives the same draws on every platform.
  public init(seed: UInt64) {
    state = Mutex(ChoiceState(seed: seed))
    traces = false
  }

  /// Creates a source that replays draws.
  ///
  /// Past their end every draw is 0. A draw above its bound becomes the greatest allowed value.
  public init(replaying draws: [UInt64]) {
    state = Mutex(ChoiceState(replaying: draws))
    traces = true
  }

  package init(replaying draws: [UInt64], isTracing: Bool) {
    state = Mutex(ChoiceState(replaying: draws))
    traces = isTracing
  }

  /// Creates a source that counts through all cases of at most `depth` draws, each below `width`.
  package init(depth: Int, width: UInt64) {
    state = Mutex(ChoiceState(depth: depth, width: width))
    traces = false
  }

  /// Draws a number in `0 ..< bound`; 0 is the simplest.
  ///
  /// A bound of 0 or 1 gives 0, and nothing is recorded.
  public func draw(below bound: UInt64) -> UInt64 {
    bound < 2 ? 0 : state.withLock { $0.draw(upTo: bound - 1) }
  }

  /// Draws a number in the range; its lower bound is the simplest.
  public func draw(in range: ClosedRange<Int>) -> Int {
    let width = UInt64(bitPattern: Int64(range.upperBound) &- Int64(range.lowerBound))
    let offset = state.withLock { $0.draw(upTo: width) }
    return Int(truncatingIfNeeded: Int64(range.lowerBound) &+ Int64(bitPattern: offset))
  }

  /// Draws `true` with the chance of `part` in `whole`; `false` is the simplest.
  ///
  /// The draw is recorded as 0 or 1. If `part` is 0, the result is `false`. If `part` is at least
  /// `whole`, the result is `true`. In both cases nothing is recorded.
  public func chance(_ part: UInt64, in whole: UInt64) -> Bool {
    if part == 0 { return false }
    if part >= whole { return true }
    return state.withLock { $0.drawFlag(part, in: whole) }
  }

  /// Picks one of the options, or `nil` if there are none; the first is the simplest.
  public func pick<Value>(_ options: [Value]) -> Value? {
    options.isEmpty ? nil : options[Int(draw(below: UInt64(options.count)))]
  }

  /// Marks the draws of `body` as belonging together; the shrinker removes or swaps them as one.
  public func span<Value>(_ body: () throws -> Value) rethrows -> Value {
    let index = state.withLock { $0.openSpan() }
    defer { state.withLock { $0.closeSpan(index) } }
    return try body()
  }

  /// Marks the draws of an asynchronous `body` as belonging together.
  ///
  /// The body runs on the caller's actor.
  @_disfavoredOverload
  public func span<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let index = state.withLock { $0.openSpan() }
    defer { state.withLock { $0.closeSpan(index) } }
    return try await body()
  }

  /// Labels this case; the report counts in how many cases each label occurred.
  public func label(_ text: String) {
    state.withLock { _ = $0.labels.insert(text) }
  }

  /// Records what the body does, for the report of a failing case.
  ///
  /// In all other cases `text` is not evaluated.
  public func step(_ text: @autoclosure () -> String) {
    if isTracing { note(text(), state: nil, isSchedule: false) }
  }

  /// Records what the body does, and the state that results from it.
  public func step(_ text: @autoclosure () -> String, state: @autoclosure () -> String) {
    if isTracing { note(text(), state: state(), isSchedule: false) }
  }

  /// Records what the schedule does to the body; `text` is evaluated only if steps are recorded.
  package func tellSchedule(_ text: @autoclosure () -> String) {
    if isTracing { note(text(), state: nil, isSchedule: true) }
  }

  /// Dates every step from now on by a virtual clock, in milliseconds since its beginning.
  package func date(by elapsed: @escaping @Sendable () -> Int64) {
    if isTracing { state.withLock { $0.elapsed = elapsed } }
  }

  /// Adds a warning to the report, once: the test asked for something that has no meaning.
  package func complain(_ text: String) {
    state.withLock { $0.complain(text) }
  }

  /// Requests of the test that have no meaning, in order.
  package var complaints: [String] { state.withLock { $0.complaints } }

  /// Runs `body` without recording its steps: it runs after the case and does not affect the
  /// outcome.
  func withoutSteps(_ body: () -> Void) {
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

  /// Adds the path of a journal file that this case wrote to the report.
  public func attach(journal path: String) {
    state.withLock { $0.journal = path }
  }

  /// Whether steps are recorded: in a replay, and in the run that the report describes.
  ///
  /// A body may do more in such a run, for example keep its journal on disk.
  public var isTracing: Bool { traces }

  /// All draws so far, in order.
  public var recorded: [UInt64] { state.withLock { $0.recorded } }

  /// All recorded steps so far, in order.
  public var steps: [Step] { state.withLock { $0.steps } }

  package var labels: Set<String> { state.withLock { $0.labels } }
  package var journal: String? { state.withLock { $0.journal } }
  /// What a case that did not fail adds to the tally.
  ///
  /// It takes the lock once, since an enumeration can have millions of cases.
  var findings: CaseFindings {
    state.withLock { state in
      CaseFindings(
        labels: state.labels, complaints: state.complaints, isOverrun: state.isOverrun,
        isTooDeep: state.isOverrun && state.isFull)
    }
  }
  /// Sets the function that ends a case that never stops drawing.
  func endless(_ end: @escaping @Sendable ([UInt64]) -> Never) {
    state.withLock { $0.endless = end }
  }
  package var isNarrowed: Bool { state.withLock { $0.isNarrowed } }
  var failingCase: ShrinkCase { state.withLock { $0.failingCase } }
  package func advance() -> Bool { state.withLock { $0.advance() } }
  func takes(_ sweep: (Int) -> Bool) -> Bool { state.withLock { $0.take(sweep) } }
}

extension Choices {
  /// Discards the case unless `condition` holds.
  ///
  /// Throws `Discard` if it does not hold.
  public func assume(_ condition: Bool) throws(Discard) {
    guard condition else { throw Discard() }
  }

  /// Fails the case unless `condition` holds.
  ///
  /// Unlike an expectation of a test library it records nothing, so the many runs of a shrinker
  /// print nothing. Throws `Falsified` with the place of the call. The shrinker accepts a simpler
  /// case only if it fails at the same place.
  public func require(
    _ condition: Bool, _ message: @autoclosure () -> String, fileID: String = #fileID,
    line: Int = #line
  ) throws(Falsified) {
    guard condition else { throw Falsified(message(), fileID: fileID, line: line) }
  }
}

/// What one case adds to the tally and the warnings, with any outcome.
struct CaseFindings: Sendable {
  let labels: Set<String>
  let complaints: [String]
  let isOverrun: Bool
  /// Whether the case overran although it used every digit of the odometer: no depth limits the
  /// enumeration.
  let isTooDeep: Bool
}

/// The error by which the body of a property discards a case: it neither holds nor fails.
///
/// A property fails as unhealthy if more than nine in ten of its cases are discarded.
///
/// - Requirement: TST-1
public struct Discard: Error, Hashable, Sendable {
  /// Creates the error.
  public init() {}
}

/// The error by which the body of a property reports that the property does not hold.
///
/// Any error other than `Discard` falsifies a property too. This one carries a message and the
/// place of the check.
public struct Falsified: PlacedError, Hashable, Sendable, CustomStringConvertible {
  /// A sentence that says what does not hold.
  public let message: String
  /// The file of the check, as `Module/File.swift`.
  public let fileID: String
  /// The line of the check.
  public let line: Int

  /// Creates the error for a check at the place of the call.
  public init(_ message: String, fileID: String = #fileID, line: Int = #line) {
    self.message = message
    self.fileID = fileID
    self.line = line
  }

  /// The message and its place.
  public var description: String { "\(message) (\(fileID):\(line))" }
}

/// An error that carries the place of the check that failed.
///
/// The shrinker accepts a simpler case only if it fails at the same place. Other errors are
/// distinguished by their type, and those of an enumeration also by their case.
public protocol PlacedError: Error {
  /// The file of the check, as `Module/File.swift`.
  var fileID: String { get }
  /// The line of the check.
  var line: Int { get }
}
