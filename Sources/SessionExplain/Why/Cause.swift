package import SessionCore

// The file of a cause's family in `Causes/` has all of the cause: what it matches, its summary, its
// findings and its advice. The catalogue in `Specs/Why.md` lists the same causes.

/// The cause of a session's end, of a session's problem, or of a record.
///
/// ``all`` is the closed set of causes of this version. A later version may have more of them. The
/// identifier of a cause never changes, so it can be a label of a metric.
///
/// - Requirement: RPL-3
public struct Cause: Sendable {
  /// The name of the cause, such as `suspended-in-refresh`; at most 32 ASCII characters.
  public let id: String
  package let `class`: Class
  /// The first line of the evidence, with `{}` for a value.
  package let headline: String
  /// The records that a proof of this cause relies on.
  let reliance: Reliance
  /// What the user experienced.
  package let experience: Experience
  private var summaries: Summaries

  // A cause is copied for each row, and its texts are many.
  private final class Summaries: Sendable {
    let english, spanish, portuguese: Plain

    init(_ english: Plain, _ spanish: Plain, _ portuguese: Plain) {
      (self.english, self.spanish, self.portuguese) = (english, spanish, portuguese)
    }
  }

  init(
    _ id: String, _ class: Class, _ headline: String, reliesOn reliance: Reliance = .history,
    _ experience: Experience, english: Plain, spanish: Plain, portuguese: Plain
  ) {
    (self.id, self.class) = (id, `class`)
    (self.headline, self.reliance) = (headline, reliance)
    self.experience = experience
    summaries = Summaries(english, spanish, portuguese)
  }

  /// Returns this cause with another summary, for a part of its journals that need another remedy.
  ///
  /// The identifier and the headline stay.
  func worded(english: Plain, spanish: Plain, portuguese: Plain) -> Cause {
    var cause = self
    cause.summaries = Summaries(english, spanish, portuguese)
    return cause
  }

  /// Returns what happened and what to do, in plain words.
  package func plain(in language: SessionLanguage) -> Plain {
    switch language {
    case .english: summaries.english
    case .spanish: summaries.spanish
    case .portuguese: summaries.portuguese
    }
  }

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

extension Cause: Hashable, CustomStringConvertible {
  /// The identifier.
  public var description: String { id }

  /// Returns whether both have the same identifier.
  public static func == (left: Cause, right: Cause) -> Bool { left.id == right.id }

  /// Hashes the identifier.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Causes that are explained together.
enum CauseFamily {
  /// Every family, in the order of the files' subjects.
  static let all: [[Cause]] = [
    logouts, serverEnds, serverReasons, limits, lostReplies, revokedFamilies, refusals, exhaustions,
    tokenLifetimes, storageEnds, openSessions, standstills, singleRecords,
  ]
}

extension Cause {
  /// Every cause of this version, without duplicates.
  public static let all = CauseFamily.all.flatMap { $0 }
}

extension Cause {
  /// The causes of ``all`` that have a second summary, with that one.
  package static let reworded: [Cause] = [
    .newerReason, .tokenNotRenewed, .nothingToSend, .endedInRefreshes, .switchRejected,
  ]
}
