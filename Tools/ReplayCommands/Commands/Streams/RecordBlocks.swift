@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// Formats records as lines of JSON in several threads, and passes the lines on in order.
struct RecordBlocks {
  /// Some records whose payloads were checked.
  private struct Block: Sendable {
    var frames: [(frame: JournalFrame, isBehind: Bool)] = []
    /// The payloads, one after the other.
    var payloads: [UInt8] = []
  }

  /// The size of the payloads of a block, in bytes.
  private static let size = 64 * 1024

  private var block = Block()
  private var work: OrderedWork<Block, [UInt8]>

  /// Creates blocks of the records of a file with this header.
  init(of file: JournalFile, _ header: JournalHeader, _ line: EntryLine) {
    work = OrderedWork { block in
      var (decoder, line) = (file.decoder(for: header), line)
      var lines: [UInt8] = []
      lines.reserveCapacity(6 * Self.size)
      var start = 0
      block.payloads.withUnsafeBytes { bytes in
        for (frame, isBehind) in block.frames {
          let end = start + Int(frame.payloadLength)
          let payload = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
          start = end
          do throws(CodecError) {
            let record = try decoder.decode(
              sequence: frame.sequence, kind: frame.kind, payload: payload.bytes)
            line.write(JournalEntry(record, of: frame), .init(isBehind: isBehind)) { lines += $0 }
          } catch {
            // The payload was checked, so this does not happen.
          }
        }
      }
      return lines
    }
  }

  /// Adds a record; throws if its payload cannot be decoded.
  mutating func add(
    _ frame: JournalFrame, _ payload: RawSpan, isBehind: Bool, to take: ([UInt8]) -> Void
  ) throws(CodecError) {
    try SessionCodec.check(sequence: frame.sequence, kind: frame.kind, payload: payload)
    block.frames.append((frame, isBehind))
    payload.withUnsafeBytes { block.payloads += $0 }
    guard block.payloads.count >= Self.size else { return }
    work.add(block, take)
    block = Block()
  }

  /// Passes on the rest of the lines.
  mutating func finish(to take: ([UInt8]) -> Void) {
    work.finish(with: block, take)
    block = Block()
  }
}
