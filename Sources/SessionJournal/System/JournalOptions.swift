/// How a journal is opened.
public struct JournalOptions: Sendable {
  /// How long a call waits for another process's commit before it throws `busy`; default 5 s.
  public var lockDeadline: Duration

  /// The longest payload of a newly created journal, in bytes; default 1 MiB.
  ///
  /// Values outside 64 bytes to 8 MiB are moved to the nearest bound. An existing journal keeps
  /// its own.
  public var maximumRecordSize: Int

  /// When an append counts as done; default `everyCommit`.
  public var durability: Durability

  package var room = PreallocationRule.standard

  package var fileSystem: any JournalFileSystem = POSIXFileSystem()

  /// What must have happened before an append returns.
  public enum Durability: Equatable, Sendable {
    /// The batch is on the medium: it survives a crash and a power cut.
    ///
    /// - Requirement: JRN-2
    case everyCommit

    /// The system has the batch: it survives a crash of the process.
    ///
    /// A power cut may lose everything that was appended since the journal was opened. What
    /// remains is a prefix of whole batches. Opening and closing the journal sync the file.
    case operatingSystem
  }

  /// The random values of a new journal; generated if nil.
  package var birth: Birth?

  /// The two random values of a journal.
  package struct Birth: Equatable, Sendable {
    package let identifier: JournalIdentifier
    package let salt: UInt64

    package init(identifier: JournalIdentifier, salt: UInt64) {
      self.identifier = identifier
      self.salt = salt
    }
  }

  /// Creates options with the defaults above.
  public init(
    lockDeadline: Duration = .seconds(5), maximumRecordSize: Int = 1024 * 1024,
    durability: Durability = .everyCommit
  ) {
    self.lockDeadline = lockDeadline
    self.durability = durability
    self.maximumRecordSize = maximumRecordSize
  }

  /// Returns the header of a journal that is created with these options.
  var newHeader: JournalHeader {
    var generator = SystemRandomNumberGenerator()
    let sizes = JournalHeader.recordSizes
    return JournalHeader(
      identifier: birth?.identifier ?? .random(), salt: birth?.salt ?? generator.next(),
      maximumRecordSize: min(
        max(UInt32(clamping: maximumRecordSize), sizes.lowerBound), sizes.upperBound))
  }

  var deadlineNanoseconds: UInt64 {
    let parts = lockDeadline.components
    guard parts.seconds >= 0, parts.attoseconds >= 0 else { return 0 }
    let seconds = UInt64(parts.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !seconds.overflow else { return .max }
    let whole = seconds.partialValue.addingReportingOverflow(
      UInt64(parts.attoseconds / 1_000_000_000))
    return whole.overflow ? .max : whole.partialValue
  }
}
