/// A reader of a journal, in bounded memory and without a lock, that never changes it.
///
/// Only whole batches are passed on. Reading stops at the end of the whole prefix. Called again
/// after the file grew, it continues. The ending of a file that is being written is a snapshot: a
/// batch may be torn now and whole a moment later.
///
/// - Requirement: JRN-1
public struct JournalReader: ~Copyable, Sendable {
  var scanner: FrameScanner
  /// Frames before this offset are skipped: they are a part of a batch that is read again.
  var resumption: UInt64 = 0
  let fileSystem: any JournalFileSystem

  /// Opens the journal at `path` and verifies its header.
  ///
  /// Throws `emptyPath`, `missing`, `folderMissing`, `isDirectory`, `notARegularFile`,
  /// `permissionDenied`, `empty`, `notAJournal`, `headerDamaged`, `newerFormat`, `unknownFeatures`
  /// or `io`.
  public init(path: String) throws(JournalError) {
    try self.init(path: path, fileSystem: POSIXFileSystem())
  }

  /// Reads a journal that is in memory; errors show `name` as its path.
  public init(bytes: [UInt8], name: String = "-") throws(JournalError) {
    fileSystem = POSIXFileSystem()
    scanner = try FrameScanner(path: name, file: FileInMemory(bytes))
  }

  /// Opens the journal at `path`; if `isFrozen`, later appends are not visible.
  ///
  /// `status` is what the system has just said of the path, if it was asked.
  package init(
    path: String, fileSystem: any JournalFileSystem = POSIXFileSystem(), isFrozen: Bool = false,
    status: FileStatus? = nil
  ) throws(JournalError) {
    self.fileSystem = fileSystem
    guard !path.isEmpty else { throw .emptyPath }
    // Checked before it is opened: opening some devices has effects.
    let status =
      if let status {
        status
      } else {
        try onFile(path) { () throws(SystemFault) in try fileSystem.status(of: path) }
      }
    guard status.kind != .folder else { throw .isDirectory(path: path) }
    guard status.kind == .file else { throw .notARegularFile(path: path) }
    let file = try onFile(path) { () throws(SystemFault) in
      try fileSystem.open(path, for: .reading)
    }
    let source = try onFile(path) { () throws(SystemFault) -> any JournalFileHandle in
      isFrozen ? try FrozenFile(file) : file
    }
    scanner = try FrameScanner(path: path, file: source, readsOn: true)
  }

  /// Reads the file of a scanner.
  init(scanner: consuming FrameScanner, fileSystem: any JournalFileSystem) {
    self.scanner = scanner
    self.fileSystem = fileSystem
  }

  /// The path that was opened.
  public var path: String { scanner.path }

  /// The header of the file.
  public var header: JournalHeader { scanner.header }

  /// The identifier of the journal.
  public var identifier: JournalIdentifier { scanner.header.identifier }

  /// How much was read so far; watermarks are counted but not passed on.
  public var totals: JournalTotals { scanner.totals }

  /// The number of preallocated zeros after the last batch, in bytes.
  ///
  /// Updated by `ending()`; 0 before its first call.
  public var room: UInt64 { scanner.room }

  /// Passes each record's frame and payload to `body`, to the end of the whole prefix.
  ///
  /// `body` returns whether to continue. A later call continues after the last frame. The payload
  /// is valid during the call only. Throws `io`, and `damaged` only if the file is shorter than
  /// what was read before. Call `ending()` to learn what follows the prefix.
  public mutating func visit(_ body: (JournalFrame, RawSpan) -> Bool) throws(JournalError) {
    let start = resumption
    try scanner.visit { frame, payload in
      frame.isWatermark || frame.offset < start ? true : body(frame, payload)
    }
  }

  /// Returns the next record; nil at the current end of the whole prefix.
  public mutating func next() throws(JournalError) -> JournalRecord? {
    var record: JournalRecord?
    try visit { frame, payload in
      record = JournalRecord(frame, payload: payload)
      return false
    }
    return record
  }

  /// Determines how the file ends; passes over the records that were not yet read.
  public mutating func ending() throws(JournalError) -> JournalEnding {
    try scanner.visit { _, _ in true }
    return try scanner.verdict()
  }

  /// Determines how the file ends; `next` must have reached the end of the whole prefix.
  package mutating func endingBehindRecords() throws(JournalError) -> JournalEnding {
    try scanner.verdict()
  }

  /// The last sequence that was read.
  package var lastSequence: UInt64 { scanner.lastSequence }

  /// Whether the last record that was read is still in its place.
  package func isContinued() throws(JournalError) -> Bool {
    try scanner.surroundings() != .changed
  }

  /// Returns the length of the file now, in bytes.
  package func size() throws(JournalError) -> UInt64 {
    try onFile(path) { () throws(SystemFault) in try scanner.file.status().size }
  }

  /// Whether another file has the path since this one was opened.
  package func isReplaced() throws(JournalError) -> Bool {
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.status(of: path).identity != scanner.identity
    }
  }
}

/// A file whose content is in memory.
private final class FileInMemory: ReadOnlyFile {
  private let content: [UInt8]

  init(_ content: [UInt8]) {
    self.content = content
  }

  func status() throws(SystemFault) -> FileStatus {
    FileStatus(
      kind: .file, size: UInt64(content.count), identity: .init(device: 0, number: 0))
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    guard offset < UInt64(content.count) else { return 0 }
    let count = min(buffer.count, content.count - Int(offset))
    content.withUnsafeBytes { bytes in
      buffer.copyMemory(from: .init(rebasing: bytes[Int(offset)..<(Int(offset) + count)]))
    }
    return count
  }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? { offset }

  func close() {}
}

extension JournalReader {
  /// Continues at the frame at `offset`, which is the first of a batch that was read before.
  ///
  /// `sequence` is the last one before it. At most two parts of the file's length in 1,024 are read
  /// to find the place.
  package mutating func seek(toFrameAt offset: UInt64, after sequence: UInt64) {
    let place = scanner.index.place(before: sequence + 1)
    scanner.seek(to: place ?? FramePosition(after: scanner.header))
    resumption = offset
  }

  /// Continues at the first frame.
  package mutating func seekToBeginning() {
    scanner.seek(to: FramePosition(after: scanner.header))
    resumption = 0
  }
}
