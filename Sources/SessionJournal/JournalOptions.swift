extension Journal {
  /// How a journal is opened.
  public struct Options: Sendable {
    /// How long a call waits for another process's commit before it throws `busy`; 5 s.
    public var lockDeadline: Duration

    /// The longest payload of a journal that is created, in bytes; 64 to 8 MiB, 1 MiB if not said.
    ///
    /// Values outside are moved to the nearest bound. A journal that exists keeps its own.
    public var maximumRecordSize: Int

    /// When an append counts as done; `everyCommit` if not said.
    public var durability: Durability

    package var room = PreallocationRule.standard

    package var fileSystem: any JournalFileSystem = POSIXFileSystem()

    /// What must have happened before an append returns.
    public enum Durability: Equatable, Sendable {
      /// The batch is on the medium: neither a crash nor a power cut takes it back.
      ///
      /// - Requirement: JRN-2
      case everyCommit

      /// The system has the batch: a crash of the process does not take it back, a power cut may
      /// take back all that was appended since the journal was opened.
      ///
      /// What is left is still a prefix of whole batches. Opening and closing sync.
      case operatingSystem
    }

    /// What a new journal is born with; random if nil.
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

    /// Makes options; what is not said has the values above.
    public init(
      lockDeadline: Duration = .seconds(5), maximumRecordSize: Int = 1024 * 1024,
      durability: Durability = .everyCommit
    ) {
      self.lockDeadline = lockDeadline
      self.durability = durability
      self.maximumRecordSize = maximumRecordSize
    }

    /// The header of a journal created with these options.
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
}
