@_spi(Internals) package import SessionCore

/// The explanation of a subject: the chain of records, the findings with their certainty, and
/// advice.
///
/// It contains facts and codes of sentences. Formatters turn them into text.
package struct Explanation: Equatable, Sendable {
  package var cause: Cause
  /// The certainty of the cause.
  package var certainty: Certainty
  /// The values for the places in the headline.
  package var headline: [Value] = []
  /// The sequence of the record that is explained; `nil` if the journal has no records.
  package var sequence: UInt64?
  package var time: Timestamp?
  /// The state before the record and after it.
  package var before: SessionState.Kind
  package var after: SessionState.Kind
  /// The code of the end in the journal.
  package var reason: String?
  /// Whether the policy closed a session that had expired.
  package var isClosedByPolicy = false
  /// The explanation of the expiry after which a logout came.
  package var root: [Explanation] = []
  /// The records that led to the subject, the newest first.
  package var chain: [Link] = []
  /// The number of requests with the token that are not kept.
  package var omitted: UInt64 = 0
  package var proven: [Finding] = []
  package var inferred: [Finding] = []
  package var ruledOut: [Finding] = []
  /// Other findings about the session: clocks, thresholds, doubts.
  package var alsoSeen: [Finding] = []
  package var untold: [Untold] = []
  package var advice: [Advice] = []
  /// The last record that a compaction removed.
  package var compactedBefore: UInt64?
  /// The number of earlier ends of sessions among the records that the command read.
  package var otherEnds: UInt64 = 0
  /// The sequence of the user's next login.
  package var signedInAgain: UInt64?

  /// A record of the chain.
  package struct Link: Equatable, Sendable {
    package let fact: Fact
    package let role: Role
    /// Whether the file has the record itself; the time of a record from a snapshot is not known.
    package let isInFile: Bool
  }

  /// The role of a record in the chain.
  package enum Role: String, CaseIterable, Sendable {
    /// The record that is explained.
    case end = "end"
    /// A record of the same batch.
    case decided = "decided"
    /// A request with the token.
    case request = "request"
    /// The outcome of a request.
    case outcome = "outcome"
    /// The announcement of the token.
    case token = "token"
    /// An opening or a closing of the journal.
    case opening = "opening"
    /// A note about what an opening found.
    case remark = "remark"
    /// A later record.
    case behind = "behind"
  }
}
