import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import Testing

/// A journal that takes a while to read.
enum LargeJournal {
  /// Writes a journal of about `size` bytes in blocks: records of unknown kinds and real ones.
  ///
  /// Only the second record is a logout.
  static func write(to path: String, size: Int, payload: Int) throws {
    try SampleJournal.write(
      to: path,
      batches: [SampleJournal.batches[1], (200, [.event(.logout(.init(reason: .user)))])],
      closing: false)
    var last = try end(of: path)
    let header = try JournalReader(path: path).header
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    var writer = FrameWriter(seed: header.seed, chain: last.chain)
    let (filler, body) = SessionCodec.encode(
      .unknown(.init(kind: 0xEE, payload: [UInt8](repeating: 0x41, count: payload))),
      at: SampleJournal.start)
    let (kind, note) = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    var written = 0
    while written < size {
      let draft =
        last.sequence % 8 == 0
        ? JournalDraft(kind: kind, payload: note) : JournalDraft(kind: filler, payload: body)
      writer.append(
        draft, sequence: last.sequence, durable: last.sequence - 1, remainingInBatch: 0)
      last.sequence += 1
      guard writer.bytes.count >= 4 << 20 else { continue }
      try file.write(contentsOf: writer.bytes)
      written += writer.bytes.count
      writer.removeBytes()
    }
    try file.close()
  }

  private static func end(of path: String) throws -> FramePosition {
    var reader = try JournalReader(path: path)
    _ = try reader.ending()
    return reader.wholeEnd
  }
}
