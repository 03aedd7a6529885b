internal import SessionCore

/// Why: the chain of records, what was ruled out, what follows and how surely, and what to do.
///
/// Only facts and words; how they are shown is another's.
struct Explanation: Equatable, Sendable {
  var cause: Cause
  /// How surely that is the cause.
  var certainty: Certainty
  /// What the headline's places are filled with.
  var headline: [Value] = []
  /// The record that is explained; `nil` of a journal without records.
  var sequence: UInt64?
  var time: Timestamp?
  /// The state before it and behind it.
  var before: SessionState.Kind
  var after: SessionState.Kind
  /// The code of the end, as the journal has it.
  var reason: String?
  /// Whether the policy closed for good what had expired.
  var isClosedByPolicy = false
  /// Why the session had expired that a logout settled.
  var root: [Explanation] = []
  /// Newest first.
  var chain: [Link] = []
  /// How many requests with the token are not kept.
  var omitted: UInt64 = 0
  var proven: [Finding] = []
  var inferred: [Finding] = []
  var ruledOut: [Finding] = []
  /// What else the session shows: clocks, thresholds, doubts.
  var alsoSeen: [Finding] = []
  var untold: [Untold] = []
  var advice: [Advice] = []
  /// The last record that a compaction took away.
  var compactedBefore: UInt64?
  /// How many other ends of sessions come before it, as far as the command looked.
  var otherEnds: UInt64 = 0
  /// Where the user signed in again.
  var signedInAgain: UInt64?

  /// A record of the chain.
  struct Link: Equatable, Sendable {
    let fact: Fact
    let role: Role
    /// Whether the file has it one by one; of what a snapshot says the time is not known.
    let isInFile: Bool
  }

  /// What a record is to the one that is explained.
  enum Role: String, CaseIterable, Sendable {
    /// What is explained.
    case end = "end"
    /// Decided in one batch with it.
    case decided = "decided"
    /// A request with the token.
    case request = "request"
    /// What became of a request.
    case outcome = "outcome"
    /// It announced the token.
    case token = "token"
    /// Somebody opened or closed the journal.
    case opening = "opening"
    /// Something that opening found.
    case remark = "remark"
    /// What came behind.
    case behind = "behind"
  }
}
