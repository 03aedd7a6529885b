@_spi(Internals) public import SessionCore

// An explanation contains facts and codes of sentences. Formatters turn them into text.

/// The explanation of why a session ended, of its current state, or of one record.
///
/// ``summary(in:)`` is for people who have never seen this library. ``text`` has the evidence as
/// well. ``cause``, ``certainty`` and ``app`` are labels for metrics.
///
/// - Requirement: RPL-3, RPL-8
public struct Explanation: Equatable, Sendable {
  /// The cause.
  public package(set) var cause: Cause
  /// The certainty of the cause.
  public package(set) var certainty: Certainty
  /// The values for the places in the headline.
  package var headline: [Value] = []
  /// The sequence of the record that is explained; `nil` if the journal has no records.
  public package(set) var sequence: UInt64?
  /// The time of that record, by the clock of the device.
  public package(set) var time: Timestamp?
  package var origin = Origin()
  /// The state before the record and after it.
  package var before: SessionState.Kind
  package var after: SessionState.Kind
  /// The server's code, if the summary does not say in other words what it means.
  package var code: String?
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
  package var findings = Findings()
  /// The last record that a compaction removed.
  package var compactedBefore: UInt64?
  package var others = OtherEnds()
  /// The sequence of the user's next login.
  package var signedInAgain: UInt64?

  /// The version of the app that last opened the journal before that record.
  ///
  /// It is `nil` if the app did not give one, or if the journal does not have that record any more.
  public var app: String? { origin.app }
  /// The kind of system of that opening, such as `iOS`; `unknown` for one without a word.
  ///
  /// It is `nil` if the journal does not have it.
  public var platform: String? { origin.platform }
  /// The pseudonym of the user, such as `user-k3v9q2mh4t`.
  ///
  /// It is `nil` if no user is known, or if the journal's identity is not known.
  public var user: String? { origin.user }

  /// Where the records come from; each is `nil` if it is not known.
  package struct Origin: Equatable, Sendable {
    package var app: String?
    package var platform: String?
    package var user: String?
    /// The identifier of the journal.
    package var journal: String?
  }

  /// What the records show.
  package struct Findings: Equatable, Sendable {
    package var proven: [Finding] = []
    package var inferred: [Finding] = []
    package var ruledOut: [Finding] = []
    /// Other findings about the session: clocks, thresholds, doubts.
    package var alsoSeen: [Finding] = []
    package var untold: [Untold] = []
    package var advice: [Advice] = []
  }

  /// The other ends of sessions in the journal.
  package struct OtherEnds: Equatable, Sendable {
    /// The number of ends before this one.
    package var before: UInt64 = 0
    /// The number of ends after this one.
    package var after: UInt64 = 0
    /// The newest of them, the newest first.
    package var newest: [Explanation] = []
  }

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

extension Explanation {
  /// Returns the explanation with the app and the platform of an opening that its records leave out.
  package func opened(by source: SessionDevice?) -> Explanation {
    guard let source, app == nil, platform == nil else { return self }
    var copy = self
    (copy.origin.app, copy.origin.platform) = (
      source.app?.description, source.platform?.metricLabel
    )
    copy.root = root.map { $0.opened(by: source) }
    return copy
  }

  /// The explanation of redacted records: advice does not name a pseudonym as the id of a token.
  package var redacted: Explanation {
    var copy = self
    copy.findings.advice = findings.advice.map {
      $0.what == .serverLogForToken ? Advice(.serverLogForRedactedToken) : $0
    }
    copy.root = root.map(\.redacted)
    return copy
  }
}

/// The certainty of a cause or a finding, in ascending order.
public enum Certainty: String, CaseIterable, Sendable, Comparable {
  /// It fits the records, but another named cause fits too, or lost records could contradict it.
  case possible = "possible"
  /// No record contradicts it, and the history that would contain such a record is complete.
  case likely = "likely"
  /// A record states it, or the rules leave no other possibility.
  case proven = "proven"

  /// Returns whether the left one is less certain.
  public static func < (left: Certainty, right: Certainty) -> Bool {
    left != right && (left == .possible || right == .proven)
  }
}

/// A value from a record, for a place in a sentence.
package enum Value: Hashable, Sendable {
  /// `tok#6`
  case token(Generation)
  /// `@408`
  case place(UInt64)
  /// Milliseconds: `54 min`
  case span(Int64)
  case time(Timestamp)
  case number(UInt64)
  /// `2 requests`
  case counted(UInt64, String)
  /// The process id.
  case process(UInt32)
  /// The process id and the opening, if another process with the same id is named beside it.
  case opening(UInt32, Identifier)
  /// The text of a server or the journal.
  case word(String)
}

/// A statement that the journal proves, rules out, or makes likely or possible.
package struct Finding: Hashable, Sendable {
  package let what: FindingWord
  package var certainty: Certainty
  package var values: [Value] = []
  /// The records that prove it.
  package var sequences: [UInt64] = []
  /// The records that were searched, if it relies on an absence.
  package var searched: ClosedRange<UInt64>?

  package init(
    _ what: FindingWord, _ certainty: Certainty = .proven, _ values: [Value] = [],
    on sequences: [UInt64] = [], searched: ClosedRange<UInt64>? = nil
  ) {
    self.what = what
    self.certainty = certainty
    self.values = values
    self.sequences = sequences
    self.searched = searched
  }
}

/// A sentence of a closed set, with values for its places.
package struct Sentence<Word: Hashable & Sendable>: Hashable, Sendable {
  package let what: Word
  package let values: [Value]

  package init(_ what: Word, _ values: [Value] = []) { (self.what, self.values) = (what, values) }
}

/// A question that the journal does not answer.
package typealias Untold = Sentence<UntoldWord>

/// A next step for the reader.
package typealias Advice = Sentence<AdviceWord>
