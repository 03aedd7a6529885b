@_spi(Internals) package import SessionCore

/// Why: the chain of records, what was ruled out, what follows and how surely, and what to do.
///
/// Only facts and words; how they are shown is another's.
package struct Explanation: Equatable, Sendable {
  package var cause: Cause
  /// How surely that is the cause.
  package var certainty: Certainty
  /// What the headline's places are filled with.
  package var headline: [Value] = []
  /// The record that is explained; `nil` of a journal without records.
  package var sequence: UInt64?
  package var time: Timestamp?
  /// The state before it and behind it.
  package var before: SessionState.Kind
  package var after: SessionState.Kind
  /// The code of the end, as the journal has it.
  package var reason: String?
  /// Whether the policy closed for good what had expired.
  package var isClosedByPolicy = false
  /// Why the session had expired that a logout settled.
  package var root: [Explanation] = []
  /// Newest first.
  package var chain: [Link] = []
  /// How many requests with the token are not kept.
  package var omitted: UInt64 = 0
  package var proven: [Finding] = []
  package var inferred: [Finding] = []
  package var ruledOut: [Finding] = []
  /// What else the session shows: clocks, thresholds, doubts.
  package var alsoSeen: [Finding] = []
  package var untold: [Untold] = []
  package var advice: [Advice] = []
  /// The last record that a compaction took away.
  package var compactedBefore: UInt64?
  /// How many other ends of sessions come before it, as far as the command looked.
  package var otherEnds: UInt64 = 0
  /// Where the user signed in again.
  package var signedInAgain: UInt64?

  /// A record of the chain.
  package struct Link: Equatable, Sendable {
    package let fact: Fact
    package let role: Role
    /// Whether the file has it one by one; of what a snapshot says the time is not known.
    package let isInFile: Bool
  }

  /// What a record is to the one that is explained.
  package enum Role: String, CaseIterable, Sendable {
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
