internal import SessionJournal

/// A second, simple reader of journals by Specs/JournalFormat.md, over bytes in memory.
struct FileModel {
  let bytes: [UInt8]
  let header: HeaderModel
  private(set) var records: [JournalRecord] = []
  private(set) var lastSequence: UInt64
  private(set) var end = 64
  private var chain: UInt32
  private var stop: (offset: Int, sequence: UInt64, flaw: JournalFlaw)?

  init(_ bytes: [UInt8], _ header: HeaderModel) {
    self.bytes = bytes
    self.header = header
    lastSequence = header.firstSequence - (header.hasSnapshot ? 2 : 1)
    chain = header.checksum
    while stop == nil, readBatch() {}
  }

  /// Reads the next batch if it is complete; returns `false` at the end of the file.
  private mutating func readBatch() -> Bool {
    var (offset, sequence, sum) = (end, lastSequence + 1, chain)
    var batch: [JournalRecord] = []
    var left: UInt64?
    while left != 0 {
      let isSnapshot = offset == 64 && header.hasSnapshot
      if offset == bytes.count, left == nil, !isSnapshot { return false }
      if let flaw = flaw(offset, sequence, sum, left, offset - end, isSnapshot) {
        stop = (offset, sequence, flaw)
        return true
      }
      let length = Int(bytes.number(offset + 4, 4))
      let kind = bytes[offset + 28]
      left = bytes.number(offset + 30, 2)
      if kind != 0xFF {
        batch.append(
          JournalRecord(
            sequence: sequence, offset: UInt64(offset), kind: kind, flags: bytes[offset + 29],
            remainingInBatch: UInt16(left ?? 0),
            payload: Array(bytes[(offset + 32)..<(offset + 32 + length)])))
      }
      sum = UInt32(bytes.number(offset, 4))
      offset += 32 + (length + 7) / 8 * 8
      sequence += 1
    }
    (end, lastSequence, chain) = (offset, sequence - 1, sum)
    records += batch
    return true
  }

  /// Returns the first flaw of the frame at `offset`, in the order of the specification.
  private func flaw(
    _ offset: Int, _ sequence: UInt64, _ sum: UInt32, _ left: UInt64?, _ batch: Int,
    _ isSnapshot: Bool
  ) -> JournalFlaw? {
    if offset == bytes.count { return left == nil ? .shortHeader : .shortBatch }
    if offset + 32 > bytes.count { return .shortHeader }
    guard hasSum(offset) else { return .headerChecksum }
    guard isPossible(offset) else { return .impossibleHeader }
    if bytes.number(offset + 8, 8) != sequence { return .sequenceBroken }
    if bytes.number(offset + 20, 4) != UInt64(sum) { return .chainBroken }
    let size = 32 + (Int(bytes.number(offset + 4, 4)) + 7) / 8 * 8
    if let left, bytes.number(offset + 30, 2) + 1 != left || batch + size > 16 * 1024 * 1024 {
      return .batchBroken
    }
    if offset + size > bytes.count { return .shortPayload }
    let payload = Sum.of(bytes[(offset + 32)..<(offset + size)])
    return UInt64(payload) == bytes.number(offset + 24, 4) ? nil : .payloadChecksum
  }

  private func hasSum(_ offset: Int) -> Bool {
    UInt64(Sum.of(bytes[(offset + 4)..<(offset + 32)], after: header.saltSum))
      == bytes.number(offset, 4)
  }

  private func isPossible(_ offset: Int) -> Bool {
    let isSnapshot = offset == 64 && header.hasSnapshot
    let (length, sequence) = (bytes.number(offset + 4, 4), bytes.number(offset + 8, 8))
    let (delta, kind) = (bytes.number(offset + 16, 4), bytes[offset + 28])
    let left = bytes.number(offset + 30, 2)
    let isUnknown = delta == 0xFFFF_FFFF
    return kind != 0 && length <= header.maximum && sequence < 1 << 63 && delta != 0
      && (isUnknown || delta <= sequence)
      && (kind != 0xFF || (length == 0 && left == 0)) && (kind == 0x7F) == isSnapshot
      && (!isSnapshot || (isUnknown && left == 0))
  }

  /// The verdict on the file.
  var ending: EndingModel {
    guard let stop else { return .clean }
    let damage = EndingModel(
      word: .damaged, offset: stop.offset, sequence: stop.sequence, flaw: stop.flaw)
    if header.hasSnapshot, end == 64 { return damage }
    let onlyZeros = bytes[stop.offset...].allSatisfy { $0 == 0 }
    if onlyZeros, stop.offset == end { return .clean }
    if hasProof(from: stop.offset, of: stop.sequence) { return damage }
    let isShort = [.shortHeader, .shortPayload, .shortBatch].contains(stop.flaw)
    return EndingModel(
      word: isShort || onlyZeros ? .torn : .undetermined, offset: end, sequence: lastSequence + 1,
      bytes: bytes.count - end, flaw: onlyZeros && !isShort ? .onlyZeros : stop.flaw)
  }

  private func hasProof(from start: Int, of sequence: UInt64) -> Bool {
    stride(from: start, through: bytes.count - 32, by: 8).contains { offset in
      let (own, delta) = (bytes.number(offset + 8, 8), bytes.number(offset + 16, 4))
      return own > sequence && delta != 0xFFFF_FFFF && delta <= own && own - delta >= sequence
        && hasSum(offset) && isPossible(offset)
    }
  }

  /// Returns whether a complete frame of this file is at `offset`, with its payload.
  func isWhole(at offset: Int) -> Bool {
    guard offset % 8 == 0, offset + 32 <= bytes.count, hasSum(offset), isPossible(offset)
    else { return false }
    let size = 32 + (Int(bytes.number(offset + 4, 4)) + 7) / 8 * 8
    return offset + size <= bytes.count
      && UInt64(Sum.of(bytes[(offset + 32)..<(offset + size)])) == bytes.number(offset + 24, 4)
  }
}
