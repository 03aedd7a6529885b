/// The first 64 bytes of a journal file (Specs/JournalFormat.md, "Header").
public struct JournalHeader: Equatable, Sendable {
  /// The format version that wrote the file.
  public let formatVersion: UInt16

  /// The oldest format version whose readers understand the file.
  public let minimumReaderVersion: UInt16

  /// The identifier of the journal.
  public let identifier: JournalIdentifier

  /// The sequence of the first record, at least 1.
  ///
  /// If the file begins with a snapshot, it is that of the first record after it, and at least 2.
  public let firstSequence: UInt64

  /// Whether the file was compacted: it then begins with a snapshot of all earlier records.
  public let beginsWithSnapshot: Bool

  /// The longest payload that the file may hold, in bytes.
  public let maximumRecordSize: UInt32

  package let salt: UInt64
  package let checksum: UInt32

  package static let size = 64

  /// The offset of the checksum, which covers all bytes before it.
  static let checksumPlace = 60
  package static let supportedVersion: UInt16 = 1
  package static let magic: [UInt8] = [0x89, 0x53, 0x4A, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Payload sizes that a header may allow, in bytes: 64 to 8 MiB.
  package static let recordSizes: ClosedRange<UInt32> = 64...8_388_608

  /// First sequences that a header may have: low enough that no later one overflows.
  package static let firstSequences: ClosedRange<UInt64> = 1...(1 << 62)

  /// Whether the file's snapshot, and nothing else, must begin at `offset`.
  @inline(__always)
  package func isSnapshotPlace(_ offset: UInt64) -> Bool {
    beginsWithSnapshot && offset == UInt64(Self.size)
  }

  /// The feature bit of a file that begins with a snapshot; the only feature of format 1.
  package static let snapshotFeature: UInt32 = 1

  /// Creates the header of a new journal; its first sequence is 1 unless it copies another one.
  package init(
    identifier: JournalIdentifier, salt: UInt64, maximumRecordSize: UInt32,
    firstSequence: UInt64 = 1
  ) {
    self.init(
      identifier: identifier, salt: salt, maximumRecordSize: maximumRecordSize,
      firstSequence: firstSequence, beginsWithSnapshot: false)
  }

  /// Returns the header of the compacted file that replaces this one.
  ///
  /// The file holds a snapshot and the records from `first` on.
  package func compacted(from first: UInt64, salt: UInt64) -> JournalHeader {
    JournalHeader(
      identifier: identifier, salt: salt, maximumRecordSize: maximumRecordSize,
      firstSequence: first, beginsWithSnapshot: true)
  }

  private init(
    identifier: JournalIdentifier, salt: UInt64, maximumRecordSize: UInt32, firstSequence: UInt64,
    beginsWithSnapshot: Bool
  ) {
    let header = Self.encode(
      identifier: identifier, salt: salt, firstSequence: firstSequence,
      maximumRecordSize: maximumRecordSize, beginsWithSnapshot: beginsWithSnapshot)
    formatVersion = Self.supportedVersion
    minimumReaderVersion = Self.supportedVersion
    self.identifier = identifier
    self.firstSequence = firstSequence
    self.beginsWithSnapshot = beginsWithSnapshot
    self.maximumRecordSize = maximumRecordSize
    self.salt = salt
    checksum = header.checksum
  }

  package var encoded: [UInt8] {
    Self.encode(
      identifier: identifier, salt: salt, firstSequence: firstSequence,
      maximumRecordSize: maximumRecordSize, beginsWithSnapshot: beginsWithSnapshot
    ).bytes
  }

  /// The CRC state after the salt, with which the checksum of each frame begins.
  package var seed: Checksum {
    var bytes: [UInt8] = []
    bytes.appendLittle(salt)
    var seed = Checksum()
    seed.extend(over: bytes)
    return seed
  }

  private static func encode(
    identifier: JournalIdentifier, salt: UInt64, firstSequence: UInt64, maximumRecordSize: UInt32,
    beginsWithSnapshot: Bool
  ) -> (bytes: [UInt8], checksum: UInt32) {
    var bytes = magic
    bytes.reserveCapacity(size)
    bytes.appendLittle(supportedVersion)
    bytes.appendLittle(supportedVersion)
    bytes.appendLittle(beginsWithSnapshot ? snapshotFeature : 0)
    bytes.appendBig(identifier.high)
    bytes.appendBig(identifier.low)
    bytes.appendLittle(salt)
    bytes.appendLittle(firstSequence)
    bytes.appendLittle(maximumRecordSize)
    bytes.appendLittle(UInt64(0))
    var checksum = Checksum()
    checksum.extend(over: bytes)
    bytes.appendLittle(checksum.value)
    return (bytes, checksum.value)
  }
}

extension JournalHeader {
  /// The result of reading the first bytes of a file.
  package enum Reading: Equatable, Sendable {
    case whole(JournalHeader)
    case empty
    case notAJournal
    case damaged
    case newer(found: UInt16)
    case unknownFeatures(UInt32)
  }

  /// Decodes at most the first 64 bytes of a file; fewer only if the file is shorter.
  package static func read(_ bytes: [UInt8]) -> Reading {
    guard !bytes.isEmpty else { return .empty }
    guard bytes.count >= size else {
      // Creation renames a whole header into place, so a short one was cut later.
      let common = min(bytes.count, magic.count)
      return bytes.prefix(common).elementsEqual(magic.prefix(common)) ? .damaged : .notAJournal
    }
    var checksum = Checksum()
    checksum.extend(over: magic)
    checksum.extend(over: Array(bytes[magic.count..<checksumPlace]))
    return bytes.withUnsafeBytes { raw in
      guard let start = raw.baseAddress else { return .empty }
      let hasMagic = bytes.prefix(magic.count).elementsEqual(magic)
      guard start.loadLittle(checksumPlace, as: UInt32.self) == checksum.value else {
        return hasMagic ? .damaged : .notAJournal
      }
      // The checksum was computed with the right magic: this is a journal with changed first
      // bytes.
      guard hasMagic else { return .damaged }
      return decode(start, checksum: checksum.value)
    }
  }

  private static func decode(_ start: UnsafeRawPointer, checksum: UInt32) -> Reading {
    let minimum: UInt16 = start.loadLittle(10)
    let features: UInt32 = start.loadLittle(12)
    guard minimum <= supportedVersion else {
      return .newer(found: max(minimum, start.loadLittle(8)))
    }
    guard features & ~snapshotFeature == 0 else { return .unknownFeatures(features) }
    let header = JournalHeader(
      formatVersion: start.loadLittle(8), minimumReaderVersion: minimum,
      identifier: JournalIdentifier(
        high: start.loadLittle(16, as: UInt64.self).byteSwapped,
        low: start.loadLittle(24, as: UInt64.self).byteSwapped),
      firstSequence: start.loadLittle(40), beginsWithSnapshot: features & snapshotFeature != 0,
      maximumRecordSize: start.loadLittle(48), salt: start.loadLittle(32), checksum: checksum)
    guard header.formatVersion >= 1, minimum >= 1, firstSequences.contains(header.firstSequence),
      recordSizes.contains(header.maximumRecordSize),
      // A snapshot has the sequence before the first, and 0 is none.
      !header.beginsWithSnapshot || header.firstSequence > 1
    else { return .damaged }
    return .whole(header)
  }

  private init(
    formatVersion: UInt16, minimumReaderVersion: UInt16, identifier: JournalIdentifier,
    firstSequence: UInt64, beginsWithSnapshot: Bool, maximumRecordSize: UInt32, salt: UInt64,
    checksum: UInt32
  ) {
    self.formatVersion = formatVersion
    self.minimumReaderVersion = minimumReaderVersion
    self.identifier = identifier
    self.firstSequence = firstSequence
    self.beginsWithSnapshot = beginsWithSnapshot
    self.maximumRecordSize = maximumRecordSize
    self.salt = salt
    self.checksum = checksum
  }
}

/// The identity of a journal: a random UUID, assigned when the file is created.
///
/// Compaction keeps it, and a copy of the file shares it. Every new file has its own.
public struct JournalIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The first eight bytes of the UUID, in canonical order.
  public let high: UInt64

  /// The last eight bytes of the UUID, in canonical order.
  public let low: UInt64

  /// Creates an identifier from two halves; does not check version and variant bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses the 36 characters of a UUID, in either case; nil for anything else.
  public init?(_ text: String) {
    let characters = Array(text.utf8)
    guard characters.count == 36 else { return nil }
    var halves: (high: UInt64, low: UInt64) = (0, 0)
    var digits = 0
    for (place, character) in characters.enumerated() {
      if [8, 13, 18, 23].contains(place) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let value = Self.value(ofDigit: character) else { return nil }
      if digits < 16 {
        halves.high = halves.high << 4 | value
      } else {
        halves.low = halves.low << 4 | value
      }
      digits += 1
    }
    self.init(high: halves.high, low: halves.low)
  }

  /// Returns a new random identifier: UUID version 4 (RFC 9562).
  public static func random() -> JournalIdentifier {
    var generator = SystemRandomNumberGenerator()
    let high: UInt64 = generator.next()
    let low: UInt64 = generator.next()
    return JournalIdentifier(
      high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000,
      low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
  }

  /// The canonical form: 36 characters, lowercase.
  public var description: String {
    // Written as bytes: a session compares it with each stored item that it reads.
    String(unsafeUninitializedCapacity: 36) { text in
      var end = 0
      for place in 0..<32 {
        if place == 8 || place == 12 || place == 16 || place == 20 {
          text[end] = UInt8(ascii: "-")
          end += 1
        }
        let half = place < 16 ? high : low
        let digit = UInt8(half >> UInt64(60 - 4 * (place % 16)) & 0xF)
        text[end] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        end += 1
      }
      return end
    }
  }

  private static func value(ofDigit character: UInt8) -> UInt64? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(character - UInt8(ascii: "A") + 10)
    default: nil
    }
  }
}
