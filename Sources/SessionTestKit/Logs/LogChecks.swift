import Foundation
public import SessionJournal
public import SessionKit
import Synchronization

/// Checks for the author of a log: whether it keeps the promises that sessions rely on.
///
/// ```swift
/// let checks = LogChecks { try MyLogPlace(table: UUID().uuidString) }   // a new, empty log each time
/// for broken in checks.brokenPromises() { Issue.record(broken) }
/// ```
///
/// The checks need no test framework. They block the calling thread, and some start threads. Three of
/// them need more than a place:
///
/// - ``LogPromise/failure`` needs ``faults``, as far as the log can be made to fail.
/// - ``LogPromise/processes`` needs ``startProcess``.
/// - ``LogPromise/secrets`` needs ``secrets``.
///
/// Without these, the checks examine what they can, or nothing.
///
/// - Requirement: SCL-1, TST-2
public struct LogChecks<Place: SessionLogPlace>: Sendable {
  /// A way to let the log fail.
  public struct Fault: Sendable {
    /// What fails, for the report.
    public let name: String
    let inject: @Sendable (Place) throws -> Void
    let heal: @Sendable (Place) throws -> Void

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - name: what fails.
    ///   - heal: makes the log usable again, if that does not happen by itself.
    ///   - inject: makes the next transaction fail at some step.
    public init(
      _ name: String, heal: @escaping @Sendable (Place) throws -> Void = { _ in },
      inject: @escaping @Sendable (Place) throws -> Void
    ) {
      (self.name, self.heal, self.inject) = (name, heal, inject)
    }
  }

  /// The faults that the log can be made to have; none by default.
  public var faults: [Fault] = []

  /// Runs ``countUp(at:times:)`` in another process, and returns after the process has ended; `nil`
  /// by default.
  ///
  /// It is called on several threads at the same time.
  public var startProcess: (@Sendable (Place, _ times: Int) throws -> Void)?

  /// Returns the store of secrets that the log offers; `nil` by default.
  public var secrets: (@Sendable (Place) -> any SecretStore)?

  /// The number of threads or processes that append at the same time.
  public var writers = 4

  /// How often each of them appends.
  public var appends = 25

  /// How long a call may take that finds the log in use.
  public var longestWait = Duration.seconds(1)

  private let makePlace: @Sendable () throws -> Place

  /// Creates checks of the logs that `makePlace` makes.
  ///
  /// Each call must return the place of another log that does not exist yet.
  public init(_ makePlace: @escaping @Sendable () throws -> Place) { self.makePlace = makePlace }

  /// Checks all promises, and returns those that are broken.
  public func brokenPromises() -> [BrokenPromise] {
    LogPromise.allCases.compactMap { promise in
      do throws(BrokenPromise) {
        try check(promise)
        return nil
      } catch {
        return error
      }
    }
  }

  /// Checks one promise on a new log.
  public func check(_ promise: LogPromise) throws(BrokenPromise) {
    do {
      let place = try makePlace()
      switch promise {
      case .identity: try checkIdentity(place)
      case .order: try checkOrder(place)
      case .delivery: try checkDelivery(place)
      case .decision: try checkDecision(place)
      case .refusal: try checkRefusal(place)
      case .failure: for fault in faults { try checkFailure(makePlace(), fault) }
      case .threads: try checkThreads(place)
      case .processes: try checkProcesses(place)
      case .busy: try checkBusy(place)
      case .pages: try checkPages(place)
      case .news: try checkNews(place)
      case .compaction: try checkCompaction(place)
      case .compactionRefusal: try checkCompactionRefusal(place)
      case .closing: try checkClosing(place)
      case .secrets: try checkSecrets(place)
      }
    } catch let found as LogProblem {
      throw BrokenPromise(promise: promise, problem: found.text)
    } catch {
      throw BrokenPromise(promise: promise, problem: "a call failed: \(error)")
    }
  }

  /// Opens a log, appends the numbers that follow the last one, and closes it again: what a process
  /// of ``startProcess`` must run.
  ///
  /// Tries again while the log is busy, for a minute at most.
  public static func countUp(at place: Place, times: Int) throws {
    let tally = Tally()
    let log = try patiently { try place.open { tally.take($0, $1) } }
    for _ in 0..<times {
      let next = try patiently {
        try log.transact { (foreign) throws(Never) in
          for record in foreign { tally.take(record.header, record.payload.span.bytes) }
          return ([tally.next], ())
        }
      }
      for record in next.transaction.appended {
        tally.take(record.header, record.payload.span.bytes)
      }
    }
    try log.close()
  }

  /// Repeats a call while the log is busy.
  static func patiently<Value, Failure: Error>(
    _ call: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var tries = 0
    while true {
      do throws(Failure) { return try call() } catch {
        guard isBusy(error), tries < 60_000 else { throw error }
        tries += 1
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
  }

  static func isBusy(_ error: any Error) -> Bool {
    let found: JournalError?
    switch error {
    case let error as JournalError: found = error
    case let error as TransactionError<Void, Never>: found = error.journalError
    default: found = nil
    }
    if case .busy? = found { return true } else { return false }
  }
}

/// What a check found.
struct LogProblem: Error {
  let text: String

  init(_ text: String) { self.text = text }
}

/// Throws if a condition is not met.
func demand(_ condition: Bool, _ text: @autoclosure () -> String) throws(LogProblem) {
  guard condition else { throw LogProblem(text()) }
}

/// The last number of a log in which each record holds the number after the one before.
final class Tally: Sendable {
  private let state = Mutex<(last: UInt64, isBroken: Bool)>((0, false))

  static let kind: UInt8 = 1

  func take(_ header: RecordHeader, _ payload: RawSpan) {
    let number = payload.withUnsafeBytes { bytes in
      bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    state.withLock { state in
      if number != state.last &+ 1, !header.isSnapshot { state.isBroken = true }
      state.last = number
    }
  }

  /// The last number; nil if a number was missing or repeated.
  var last: UInt64? { state.withLock { $0.isBroken ? nil : $0.last } }

  var next: JournalDraft {
    let number = state.withLock { $0.last } &+ 1
    return JournalDraft(
      kind: Self.kind,
      payload: (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) })
  }
}

/// A promise that every log of sessions keeps (`Specs/Logs.md`).
///
/// ``LogChecks`` has a check for each.
///
/// - Requirement: SCL-1
public enum LogPromise: String, Hashable, Sendable, CaseIterable {
  /// All openings have one name and one identifier, and the place says that the log is there.
  case identity
  /// A reopened log replays what was appended: in order, unchanged, with whole batches.
  case order
  /// An opening receives each record of others once, and never its own.
  case delivery
  /// A decision is made on all records before it: no other opening appends in between.
  case decision
  /// A refused decision, a decision without drafts and a refused draft write nothing.
  case refusal
  /// A failed call loses no acknowledged record, and its batch is there wholly or not at all.
  case failure
  /// Several threads, each with its own opening, lose and repeat nothing.
  case threads
  /// Several processes lose and repeat nothing.
  case processes
  /// A call that finds the log in use throws `busy` soon, and writes nothing.
  case busy
  /// Pages of records are complete, in order, and end at the last sequence that the opening knows.
  case pages
  /// News is reported as long as records of others were not received.
  case news
  /// A compaction replaces old records by one snapshot, for all openings.
  case compaction
  /// A compaction that was decided on an old view, or that removes nothing, changes nothing.
  case compactionRefusal
  /// A closed opening throws `closed`, and the log stays as it is.
  case closing
  /// Secrets that a decision writes are stored together with its records, or not at all.
  case secrets
}

/// A promise of a log that a check found broken.
///
/// - Requirement: SCL-1
public struct BrokenPromise: Error, Hashable, Sendable, CustomStringConvertible {
  /// The promise.
  public let promise: LogPromise

  /// What the check did, what it expected and what it found.
  public let problem: String

  /// The name of the promise and the problem.
  public var description: String { "\(promise.rawValue): \(problem)" }
}
