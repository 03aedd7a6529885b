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

/// How much room a journal preallocates (Specs/JournalFormat.md, "Room").
///
/// A commit that changes the size of its file makes the file system write metadata too. Zeros
/// written after a batch, in the same write, save the next commits that cost.
package struct PreallocationRule: Equatable, Sendable {
  /// The file grows to a multiple of this, in bytes; 0 if nothing is preallocated.
  package let step: UInt64

  /// The least room that is left after every batch, in bytes.
  ///
  /// This much can still be appended if the disk is full later.
  let reserve: UInt64

  /// The most steps that are taken at once.
  private static let mostSteps: UInt64 = 16

  /// The rule that preallocates nothing.
  package static let none = PreallocationRule(step: 0)

  /// The default: 64 KiB at once, and up to 1 MiB in a larger file.
  package static let standard = PreallocationRule(step: 64 * 1024, reserve: 4 * 1024)

  package init(step: UInt64, reserve: UInt64 = 0) {
    self.step = step
    self.reserve = min(reserve, step)
  }

  /// Returns how many zeros to write after a batch that ends at `end`; 0 if a file of `size` bytes
  /// has room for it and the reserve.
  func zeros(after end: UInt64, in size: UInt64) -> Int {
    guard step > 0, end + reserve > size else { return 0 }
    let steps = min(max(1, end / (8 * step)), Self.mostSteps)
    return Int((end / step + steps) * step - end)
  }
}

/// A quarantined journal: a file that cannot be used, moved aside and kept (Specs/JournalFormat.md,
/// "Set aside").
///
/// It is next to the journal's place, as `<path>.aside-<n>-<reason>-<time>`. Only `Journal.delete`
/// and `Journal.deleteKept` remove it.
package struct SetAsideJournal: Hashable, Sendable {
  /// The absolute path of the quarantined file, links followed.
  package let path: String

  /// Its number: 1 for the first journal that was quarantined here.
  package let number: UInt64

  /// Parses the part of a file name after the journal's name; nil for anything else.
  package init?(path: String, rest: Substring) {
    guard rest.hasPrefix(FileSuffix.aside.rawValue) else { return nil }
    let parts = rest.dropFirst(FileSuffix.aside.rawValue.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty, parts[0].first != "0",
      parts[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      let number = UInt64(parts[0])
    else { return nil }
    self.path = path
    self.number = number
  }

  init(of journal: String, number: UInt64, reason: String, time: String) {
    path = journal + FileSuffix.aside.rawValue + "\(number)-\(reason)-\(time)"
    self.number = number
  }

  /// Returns the quarantined journal with the highest number; nil if there is none.
  static func last(
    beside location: JournalLocation, _ fileSystem: any JournalFileSystem
  ) throws(SystemFault) -> SetAsideJournal? {
    let path = location.real
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let start = slash.map(path.utf8.index(after:)) ?? path.startIndex
    // A string and no part of one, since strings are compared faster.
    let own = String(path[start...])
    return try fileSystem.names(beside: location.real).compactMap { name in
      guard name.hasPrefix(own) else { return nil }
      return SetAsideJournal(
        path: path[..<start] + name, rest: name.dropFirst(own.count))
    }.max { $0.number < $1.number }
  }
}
