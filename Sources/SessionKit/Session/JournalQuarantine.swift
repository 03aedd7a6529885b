@_spi(Internals) public import SessionCore

/// A journal that could not be used and was set aside; a new one goes on from it (RES-6).
public struct JournalQuarantine: Hashable, Sendable {
  /// Where it is kept; nothing removes it but `Journal.delete` and the app.
  public let path: String
  /// Why it could not be used.
  public let cause: ContinuationCause
  /// The last record of it that could be read; 0 for none.
  public let lastSequence: UInt64

  init(_ predecessor: QuarantinedJournal) {
    path = predecessor.path
    cause = predecessor.link.cause
    lastSequence = predecessor.link.sequence
  }
}
