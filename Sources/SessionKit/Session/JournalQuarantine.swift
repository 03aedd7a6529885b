public import SessionCore

/// A journal that could not be used and was set aside; a new one goes on from it (RES-6).
public struct JournalQuarantine: Hashable, Sendable {
  /// Where it is kept; nothing removes it but `Journal.delete` and the app.
  public let path: String
  /// Why it could not be used.
  public let cause: SessionNote.ContinuationCause
  /// The last record of it that could be read; 0 for none.
  public let lastSequence: UInt64

  init(_ predecessor: QuarantinedJournal) {
    path = predecessor.path
    cause = predecessor.link.cause
    lastSequence = predecessor.link.sequence
  }
}

/// What happens where the journal cannot be used: damaged in what was acknowledged, written by a newer
/// version, or no journal at all (RES-6).
public enum UnusableJournal: Hashable, Sendable {
  /// Opening throws and changes nothing.
  case refuse
  /// It is moved aside, never removed, and a new journal goes on from it; so does the session, where its
  /// token is stored and nothing that can be read says that it was ended.
  ///
  /// The file beside the journal is `<path>.aside-<n>-<cause>-<time>`, the new journal's first records
  /// name its identifier and the last sequence that could be read, and `journalSetAside` tells the app.
  case setAside
}
