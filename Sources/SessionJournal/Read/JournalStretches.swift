/// Readers of one journal from several places, for several threads.
///
/// The places divide the file into stretches. Each stretch is proven to continue the one before it:
/// its first mark is the last mark of that one, with the same sequence and the same checksum.
package struct JournalStretches: Sendable {
  private let path: String
  private let file: any JournalFileHandle
  private let status: FileStatus
  private let header: JournalHeader
  private let fileSystem: any JournalFileSystem

  /// Uses the file that `reader` has opened, and leaves the reader's place as it is.
  package init(of reader: borrowing JournalReader) {
    path = reader.path
    file = reader.scanner.file
    status = reader.scanner.status
    header = reader.header
    fileSystem = reader.fileSystem
  }

  /// Returns a reader at the first frame; reads nothing yet.
  package func reader() -> JournalReader {
    JournalReader(
      scanner: FrameScanner(path: path, file: file, status, header), fileSystem: fileSystem)
  }

  /// Returns a reader at the first frame that uses the bytes which `opened`, a reader of the same
  /// file, has in memory.
  ///
  /// It takes them only if `opened` is between two batches. That one reads them again if it goes on.
  package func reader(takingBytesOf opened: inout JournalReader) -> JournalReader {
    JournalReader(
      scanner: FrameScanner(
        path: path, file: file, status, header, opened.scanner.takeWindow() ?? ReadWindow()),
      fileSystem: fileSystem)
  }
}

extension JournalReader {
  /// Continues after the first batch that ends at or after `offset`; at the first frame if that is 0.
  ///
  /// Returns `false`, and stays, if no batch is found near.
  package mutating func seek(toStretchAt offset: UInt64) throws(JournalError) -> Bool {
    guard offset == 0 else { return try seek(toBatchAfter: offset) }
    // A new reader already stands there. A seek would drop the bytes that it has in memory.
    if resumption > 0 || scanner.position != FramePosition(after: header) { seekToBeginning() }
    return true
  }

  /// Passes each record's frame and payload to `body` up to the place of ``seek(toStretchAt:)`` for
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
