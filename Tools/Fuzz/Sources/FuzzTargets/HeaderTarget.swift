internal import SessionJournal

/// A check of headers: the library and the second reader agree about 64 bytes.
public enum HeaderTarget {
  /// Checks one input; its first byte says whether to correct the checksum, so that the search gets
  /// past it.
  public static func check(_ input: [UInt8]) {
    var bytes = Array(input.dropFirst())
    if let first = input.first, first & 1 == 1, bytes.count >= 64 {
      if first & 2 == 2 { bytes.replaceSubrange(0..<8, with: HeaderModel.magic) }
      bytes.put(Sum.of(HeaderModel.magic + bytes[8..<60]), at: 60)
    }
    check(header: bytes)
  }

  /// Checks a header; returns it if both readers accept it.
  @discardableResult
  static func check(header bytes: [UInt8]) -> HeaderModel? {
    let model = HeaderModel.read(bytes, path: "-")
    let header: JournalHeader
    do throws(JournalError) {
      header = try JournalReader(bytes: bytes).header
    } catch {
      guard case .failure(let expected) = model, expected == error else {
        finding("a header of \(model) is refused: \(error)")
      }
      require(!error.description.isEmpty, "an error without words")
      return nil
    }
    guard case .success(let model) = model else { finding("\(header) is none: \(model)") }
    require(
      header.firstSequence == model.firstSequence
        && header.beginsWithSnapshot == model.hasSnapshot
        && UInt64(header.maximumRecordSize) == model.maximum
        && UInt64(header.formatVersion) == bytes.number(8, 2), "\(header) is \(model)")
    let digits = header.identifier.description.filter { $0 != "-" }.lowercased()
    let expected = bytes[16..<32].map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    require(digits == expected.joined(), "\(digits) is not the journal's id")
    return model
  }
}
