extension Journal {
  /// How a journal is opened.
  public struct Options: Sendable {
    /// How long a call waits for another process's commit before it throws `busy`; 5 s.
    public var lockDeadline: Duration

    /// The longest payload of a journal that is created, in bytes; 64 to 8 MiB, 1 MiB if not said.
    ///
    /// Values outside are moved to the nearest bound. A journal that exists keeps its own.
    public var maximumRecordSize: Int

    package var fileSystem: any JournalFileSystem = POSIXFileSystem()

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
      lockDeadline: Duration = .seconds(5), maximumRecordSize: Int = 1024 * 1024
    ) {
      self.lockDeadline = lockDeadline
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
