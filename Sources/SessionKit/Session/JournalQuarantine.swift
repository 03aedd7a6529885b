@_spi(Internals) package import SessionCore

/// A journal that could not be used and was set aside; a new one goes on from it.
///
/// - Requirement: RES-6
package struct JournalQuarantine: Hashable, Sendable {
  /// Where it is kept; nothing removes it but `Journal.delete` and the app.
  package let path: String
  /// Why it could not be used.
  package let cause: ContinuationCause
  /// The last record of it that could be read; 0 for none.
  package let lastSequence: UInt64

  init(_ predecessor: QuarantinedJournal) {
    path = predecessor.path
    cause = predecessor.link.cause
    lastSequence = predecessor.link.sequence
  }
}
