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
