internal import SessionJournal

/// A second reader of the header by Specs/JournalFormat.md.
struct HeaderModel {
  let firstSequence: UInt64
  let maximum: UInt64
  let hasSnapshot: Bool
  let checksum: UInt32
  let saltSum: UInt32

  static let magic: [UInt8] = [0x89, 0x53, 0x4A, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Reads a header; returns the error if there is none.
  static func read(_ bytes: [UInt8], path: String) -> Result<HeaderModel, JournalError> {
    guard !bytes.isEmpty else { return .failure(.empty(path: path)) }
    let hasMagic = zip(bytes, magic).allSatisfy { $0 == $1 }
    guard bytes.count >= 64 else {
      return .failure(hasMagic ? .headerDamaged(path: path) : .notAJournal(path: path))
    }
    let sum = Sum.of(magic + bytes[8..<60])
    guard UInt64(sum) == bytes.number(60, 4) else {
      return .failure(hasMagic ? .headerDamaged(path: path) : .notAJournal(path: path))
    }
    guard hasMagic else { return .failure(.headerDamaged(path: path)) }
    let version = UInt16(bytes.number(8, 2))
    let minimum = UInt16(bytes.number(10, 2))
    let features = UInt32(bytes.number(12, 4))
    if minimum > 1 {
      return .failure(.newerFormat(path: path, found: max(version, minimum), supported: 1))
    }
    if features > 1 { return .failure(.unknownFeatures(path: path, features: features)) }
    let first = bytes.number(40, 8)
    let maximum = bytes.number(48, 4)
    guard version > 0, minimum > 0, first >= (features == 1 ? 2 : 1), first <= 1 << 62,
      maximum >= 64, maximum <= 8_388_608
    else { return .failure(.headerDamaged(path: path)) }
    return .success(
      HeaderModel(
        firstSequence: first, maximum: maximum, hasSnapshot: features == 1, checksum: sum,
        saltSum: Sum.of(bytes[32..<40])))
  }
}
