/// The cause of a session's end, of a session's problem, or of a record.
///
/// The file of a cause's family in `Causes/` has all of the cause: what it matches, its findings and
/// its advice. The catalogue in `Specs/Why.md` lists the same causes.
package struct Cause: Hashable, Sendable, CustomStringConvertible {
  /// The name in JSON and of the recorded journal, which never changes.
  package let id: String
  package let `class`: Class
  /// The first line of an answer, with `{}` for a value.
  package let headline: String
  /// Which records a proof of this cause relies on.
  let reliance: Reliance

  init(
    _ id: String, _ class: Class, _ headline: String, reliesOn reliance: Reliance = .history
  ) {
    (self.id, self.class) = (id, `class`)
    (self.headline, self.reliance) = (headline, reliance)
  }

  package var description: String { id }

  /// The subject of an explanation.
  package enum Class: String, CaseIterable, Sendable {
    /// An end of a session.
    case end = "end"
    /// A session that has not ended, or no session.
    case still = "still"
    /// One record.
    case event = "event"
  }

  /// The records that a proof of a cause relies on.
  enum Reliance: Sendable {
    /// The records of the end itself. Lost records before them change nothing.
    case ownRecords
    /// Also the record before them: an absence counts, so lost records there may contradict it.
    case recordsBefore
    /// The history of the token or the session.
    case history
  }
}

/// Causes that are explained together, and what only they say.
package struct CauseFamily: Sendable {
  var causes: [Cause] = []
  var findings: [FindingWord] = []
  var untold: [UntoldWord] = []
  var advice: [AdviceWord] = []

  /// Every family, in the order of the files' subjects.
  static let all: [CauseFamily] = [
    .logouts,
    .serverEnds,
    .limits,
    .lostReplies,
    .revokedFamilies,
    .refusals,
    .exhaustions,
    .tokenLifetimes,
    .storageEnds,
    .openSessions,
    .singleRecords,
    .shared,
  ]
}

extension Cause {
  /// Every cause.
  package static let all = CauseFamily.all.flatMap(\.causes)
}

extension FindingWord {
  /// Every finding.
  package static let all = CauseFamily.all.flatMap(\.findings)
}

extension UntoldWord {
  /// Every question that an answer may leave open.
  package static let all = CauseFamily.all.flatMap(\.untold)
}

extension AdviceWord {
  /// Every advice.
  package static let all = CauseFamily.all.flatMap(\.advice)
}
