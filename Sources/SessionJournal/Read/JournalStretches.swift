/// Readers of one journal from several places, for several threads.
///
/// The places divide the file into stretches. Each stretch is proven to continue the one before it:
/// its first mark is the last mark of that one, with the same sequence and the same checksum.
package struct JournalStretches: Sendable {
  private let path: String
  private let file: any JournalFileHandle
  private let fileSystem: any JournalFileSystem

  /// Uses the file that `reader` has opened, and leaves the reader's place as it is.
  package init(of reader: borrowing JournalReader) {
    path = reader.path
    file = reader.scanner.file
    fileSystem = reader.fileSystem
  }

  /// Returns a reader that begins after the first batch that ends at or after `offset`; at the first
  /// frame if that is 0.
  ///
  /// Returns `nil` if no batch is found near.
  package func reader(from offset: UInt64) throws(JournalError) -> JournalReader? {
    var reader = JournalReader(
      scanner: try FrameScanner(path: path, file: file), fileSystem: fileSystem)
    guard offset > 0 else { return reader }
    guard try reader.seek(toBatchAfter: offset) else { return nil }
    return reader
  }
}

extension JournalReader {
  /// Passes each record's frame and payload to `body` up to the place of `JournalStretches` for
  /// `offset`, or to the end of the whole prefix; returns `false` as soon as `body` does.
  package mutating func visit(
    to offset: UInt64, _ body: (JournalFrame, RawSpan) -> Bool
  ) throws(JournalError) -> Bool {
    guard scanner.position.previous < offset else { return true }
    var isWanted = true
    try scanner.visit { frame, payload in
      isWanted = frame.isWatermark || body(frame, payload)
      return isWanted && (frame.offset < offset || frame.remainingInBatch > 0)
    }
    return isWanted
  }
}
