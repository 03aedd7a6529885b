import SessionJournal

/// Writes frames that no writer produces, with valid checksums.
struct FrameForge {
  var sequence: UInt64
  var chain: UInt32
  var delta: UInt32 = 1
  var kind: UInt8 = 1
  var left: UInt16 = 0
  var length: UInt32?
  var payload: [UInt8] = []
  var salt: UInt64 = 0x0123_4567_89AB_CDEF

  var bytes: [UInt8] {
    let padded = payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
    var checksum = Checksum()
    checksum.extend(over: padded)
    var rest: [UInt8] = []
    rest += little(length ?? UInt32(payload.count)) + little(sequence) + little(delta)
    rest += little(chain) + little(checksum.value) + [kind, 0] + little(left)
    var frame = Checksum()
    frame.extend(over: little(salt))
    frame.extend(over: rest)
    return little(frame.value) + rest + padded
  }
}

func little(_ number: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
}

func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
  bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
}
