@_spi(Internals) package import SessionCore

/// A journal that could not be used and was moved aside.
///
/// A new journal continues its session.
///
/// - Requirement: RES-6
package struct JournalQuarantine: Hashable, Sendable {
  /// The path of the file.
  ///
  /// Only `Journal.delete` and the app remove it.
  package let path: String
  /// Why it could not be used.
  package let cause: ContinuationCause
  /// The sequence of the last record that could be read; 0 if none could.
  package let lastSequence: UInt64

  init(_ predecessor: QuarantinedJournal) {
    path = predecessor.path
    cause = predecessor.link.cause
    lastSequence = predecessor.link.sequence
  }
}
