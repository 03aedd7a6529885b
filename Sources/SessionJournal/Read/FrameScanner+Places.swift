/// Places in the middle of a file.
extension FrameScanner {
  /// How far after a place a batch is looked for, in bytes.
  private static let nearby = 1024 * 1024
  /// The size of most frames at most, in bytes.
  private static let usualFrame = 512

  /// Continues after the first frame at or after `offset` that ends a batch.
  ///
  /// Returns `false` if none is found near. The caller must then seek another place.
  mutating func seek(toBatchAfter offset: UInt64) throws(JournalError) -> Bool {
    let start = max(UInt64(JournalHeader.size), offset) & ~7
    window.forget(from: 0)
    // One read is enough, except near a long record.
    for count in [JournalFrame.headerSize, Self.nearby] {
      let available: Int
      do throws(SystemFault) {
        available = try window.fill(count, at: start, keeping: start, of: file)
      } catch {
        throw error.error(at: path)
      }
      let found = window.storage.withUnsafeBytes { bytes in
        place(ofBatchIn: UnsafeRawBufferPointer(rebasing: bytes[..<available]), from: start)
      }
      if let found {
        move(to: found)
        return true
      }
    }
    window.release()
    return false
  }

  private func place(ofBatchIn bytes: UnsafeRawBufferPointer, from start: UInt64)
    -> FramePosition?
  {
    guard let base = bytes.baseAddress else { return nil }
    var place = 0
    while place + JournalFrame.headerSize <= bytes.count {
      let read = JournalFrame.read(
        base + place, offset: start + UInt64(place), seed: seed, header: header)
      guard case .success(let frame) = read, place + frame.size <= bytes.count,
        frame.isIntact(base + place)
      else {
        place += 8
        continue
      }
      guard frame.remainingInBatch > 0 else { return FramePosition(after: frame, in: header) }
      place += frame.size
    }
    return nil
  }

  /// Lends the frame at `offset`; returns `false` if there is none.
  func lend(frameAt offset: UInt64, _ body: (JournalFrame, RawSpan) -> Void)
    throws(JournalError) -> Bool
  {
    var count = Self.usualFrame
    while true {
      let bytes = try onFile(path) { () throws(SystemFault) in try file.bytes(count, at: offset) }
      let missing = bytes.withUnsafeBytes { bytes -> Int? in
        guard bytes.count >= JournalFrame.headerSize, let base = bytes.baseAddress,
          case .success(let frame) = JournalFrame.read(
            base, offset: offset, seed: seed, header: header)
        else { return nil }
        guard frame.size <= bytes.count else { return bytes.count < count ? nil : frame.size }
        guard frame.isIntact(base) else { return nil }
        let payload = UnsafeRawBufferPointer(
          start: base + JournalFrame.headerSize, count: Int(frame.payloadLength))
        body(frame, payload.bytes)
        return 0
      }
      guard let missing, missing > 0 else { return missing != nil }
      count = missing
    }
  }
}
