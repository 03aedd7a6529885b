internal import SessionJournal

/// A check of headers: what is read of 64 bytes is in them.
public enum HeaderTarget {
  static let magic: [UInt8] = [0x89, 0x53, 0x4A, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Checks one input; its first byte says whether to correct the checksum, so that the search gets
  /// past it.
  public static func check(_ input: [UInt8]) {
    var bytes = Array(input.dropFirst())
    if let first = input.first, first & 1 == 1, bytes.count >= 64 {
      if first & 2 == 2 { bytes.replaceSubrange(0..<8, with: magic) }
      bytes.put(Sum.of(magic + bytes[8..<60]), at: 60)
    }
    check(header: bytes)
  }

  /// Checks a header; returns it if the library accepts it.
  @discardableResult
  static func check(header bytes: [UInt8]) -> JournalHeader? {
    let header: JournalHeader
    do throws(JournalError) {
      header = try JournalReader(bytes: bytes).header
    } catch {
      require(!error.description.isEmpty, "an error without words")
      return nil
    }
    require(
      bytes.starts(with: magic) && UInt64(Sum.of(bytes[..<60])) == bytes.number(60, 4)
        && header.firstSequence == bytes.number(40, 8)
        && header.beginsWithSnapshot == (bytes.number(12, 4) == 1)
        && UInt64(header.maximumRecordSize) == bytes.number(48, 4)
        && UInt64(header.formatVersion) == bytes.number(8, 2), "\(header) of \(bytes)")
    let digits = header.identifier.description.filter { $0 != "-" }.lowercased()
    let expected = bytes[16..<32].map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    require(digits == expected.joined(), "\(digits) is not the journal's id")
    return header
  }
}
