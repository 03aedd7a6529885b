/// What opening a journal found, and what it did about it.
public struct JournalRecovery: Equatable, Sendable {
  /// The file did not exist and was created.
  public let created: Bool

  /// How much of it is whole, all of it made durable.
  public let totals: JournalTotals

  /// What was cut from its end; nil if it ended cleanly, with room behind it or without.
  public let repair: JournalRepair?
}

/// A tail that was cut back to the last whole batch.
///
/// - Requirement: JRN-2
public struct JournalRepair: Equatable, Sendable {
  /// What was found: `torn` or `undetermined`, with place and size.
  public let ending: JournalEnding

  /// The file with the bytes that were cut, mode 0600.
  ///
  /// More than 4,096 zeros at the very end of the tail are not kept.
  public let keptAside: String

  package init(ending: JournalEnding, keptAside: String) {
    self.ending = ending
    self.keptAside = keptAside
  }
}
