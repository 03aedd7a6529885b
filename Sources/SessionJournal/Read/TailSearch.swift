/// The search after the whole prefix for a proof that the prefix was once longer.
///
/// The proof is a frame that was written when the missing sequence was already durable. Reads
/// through a bounded window and skips holes.
struct TailSearch {
  struct Evidence: Equatable, Sendable {
    /// Whether a later frame proves that the missing sequence was acknowledged.
    var provesAcknowledged: Bool

    /// The offset after the last byte that is not zero; the beginning of the search if all are
    /// zero.
    var significantEnd: UInt64

    /// The end of the file.
    var end: UInt64
  }

  private static let chunkSize = 256 * 1024
  private static let overlap = UInt64(JournalFrame.headerSize - 8)

  let header: JournalHeader
  let seed: Checksum

  func run(from stop: FrameScanner.Stop, in file: any JournalFileHandle) throws(SystemFault)
    -> Evidence
  {
    var evidence = Evidence(
      provesAcknowledged: false, significantEnd: stop.offset, end: try file.status().size)
    let left = evidence.end - min(evidence.end, stop.offset)
    var chunk = ContiguousArray<UInt8>(zeros: Int(min(UInt64(Self.chunkSize), left)))
    var offset = stop.offset
    while offset < evidence.end {
      guard let data = try file.nextData(from: offset) else { break }
      if data > offset + Self.overlap { offset = (data - Self.overlap) & ~7 }
      let count = try file.read(into: &chunk, at: offset)
      guard count > 0 else { break }
      let found = chunk.withUnsafeBytes { bytes in
        inspect(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset, stop)
      }
      if found.proof {
        evidence.provesAcknowledged = true
        return evidence
      }
      if let count = found.significant { evidence.significantEnd = offset + UInt64(count) }
      guard count == chunk.count, count > Int(Self.overlap) else { break }
      if offset + UInt64(count) >= evidence.end { break }
      offset += UInt64(count) - Self.overlap
    }
    return evidence
  }

  /// Returns whether a frame in `bytes` is the proof, and the number of bytes before trailing
  /// zeros.
  ///
  /// The number is nil if all bytes are zero.
  private func inspect(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, _ stop: FrameScanner.Stop
  ) -> (proof: Bool, significant: Int?) {
    guard let base = bytes.baseAddress, !bytes.isZero else { return (false, nil) }
    var place = 0
    while place + JournalFrame.headerSize <= bytes.count {
      // Cheap checks first: this runs at every eighth byte.
      let sequence: UInt64 = base.loadLittle(place + 8)
      if sequence > stop.sequence, sequence - stop.sequence >= base.loadLittle32(place + 16),
        base.loadLittle32(place + 4) <= UInt64(header.maximumRecordSize),
        proves(base + place, offset: offset + UInt64(place), stop)
      {
        return (true, nil)
      }
      place += 8
    }
    return (false, bytes.significantCount)
  }

  private func proves(_ start: UnsafeRawPointer, offset: UInt64, _ stop: FrameScanner.Stop)
    -> Bool
  {
    // A header is enough; the payload need not be intact. So two damages, one in the middle and one
    // at the end, are still reported as damage: the later header proves the earlier commit. The
    // search begins at the damaged place itself. If frames were removed there, the one that follows
    // has too high a sequence, and is the proof. A sync marker or a footer after each commit was
    // rejected: it is a second record of each commit, and the delta of the next frame says the same
    // at no cost.
    let read = JournalFrame.read(start, offset: offset, seed: seed, header: header)
    guard case .success(let frame) = read, let durable = frame.durableSequence else {
      return false
    }
    return durable >= stop.sequence
  }
}

extension UnsafeRawPointer {
  fileprivate func loadLittle32(_ offset: Int) -> UInt64 {
    UInt64(loadLittle(offset, as: UInt32.self))
  }
}
