/// What opening a journal found, and what it did about it.
public struct JournalRecovery: Equatable, Sendable {
  /// Whether the file did not exist and was created.
  public let created: Bool

  /// The number and size of the whole records; all of them are durable.
  public let totals: JournalTotals

  /// The cut of the file's end; nil if it ended cleanly, with or without preallocated room.
  public let repair: JournalRepair?
}

/// A tail that was cut back to the last whole batch.
///
/// - Requirement: JRN-2
public struct JournalRepair: Equatable, Sendable {
  /// The ending that was found, with place and size: `torn` or `undetermined`.
  public let ending: JournalEnding

  /// The path of the file that holds the bytes that were cut; its mode is 0600.
  ///
  /// Zeros at the very end of the tail are not kept if there are more than 4,096.
  public let keptAside: String

  package init(ending: JournalEnding, keptAside: String) {
    self.ending = ending
    self.keptAside = keptAside
  }
}
