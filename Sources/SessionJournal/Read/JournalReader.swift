/// Reads a journal without changing it: no lock, a bounded window, nothing allocated per frame.
///
/// Only whole batches are handed over. At the end of the whole prefix reading stops; asked again
/// after the file grew, it goes on. Of a file that is being written, the ending is a
/// snapshot: a batch on its way may show as torn and be whole a moment later.
///
/// - Requirement: JRN-1
public struct JournalReader: ~Copyable, Sendable {
  var scanner: FrameScanner
  /// What begins before this offset is passed over: a part of a batch that is read again.
  var resumption: UInt64 = 0
  private let fileSystem: any JournalFileSystem

  /// Opens the journal at `path` and verifies its header.
  ///
  /// Throws `emptyPath`, `missing`, `folderMissing`, `isDirectory`, `notARegularFile`,
  /// `permissionDenied`, `empty`, `notAJournal`, `headerDamaged`, `newerFormat`, `unknownFeatures`
  /// or `io`.
  public init(path: String) throws(JournalError) {
    try self.init(path: path, fileSystem: POSIXFileSystem())
  }

  /// Reads a journal that is in memory, `name` standing for its path in errors.
  public init(bytes: [UInt8], name: String = "-") throws(JournalError) {
    fileSystem = POSIXFileSystem()
    scanner = try FrameScanner(path: name, file: FileInMemory(bytes))
  }

  /// Opens the journal at `path`; where it is to be frozen, what comes to it later is not looked at.
  package init(
    path: String, fileSystem: any JournalFileSystem = POSIXFileSystem(), isFrozen: Bool = false
  ) throws(JournalError) {
    self.fileSystem = fileSystem
    guard !path.isEmpty else { throw .emptyPath }
    // Looked at before it is opened: opening some devices has effects.
    let status = try onFile(path) { () throws(SystemFault) in try fileSystem.status(of: path) }
    guard status.kind != .folder else { throw .isDirectory(path: path) }
    guard status.kind == .file else { throw .notARegularFile(path: path) }
    let file = try onFile(path) { () throws(SystemFault) in
      try fileSystem.open(path, for: .reading)
    }
    let source = try onFile(path) { () throws(SystemFault) -> any JournalFileHandle in
      isFrozen ? try FrozenFile(file) : file
    }
    scanner = try FrameScanner(path: path, file: source)
  }

  /// The path that was opened.
  public var path: String { scanner.path }

  /// The first 64 bytes, read.
  public var header: JournalHeader { scanner.header }

  /// Which journal this is.
  public var identifier: JournalIdentifier { scanner.header.identifier }

  /// How much has been handed over so far; watermarks are counted and not handed over.
  public var totals: JournalTotals { scanner.totals }

  /// How many zeros a writer has left behind the last batch for its next ones, in bytes; as of the
  /// last call of `ending`, and 0 before it.
  public var room: UInt64 { scanner.room }

  /// Hands over each record's frame and payload to the end of the whole prefix.
  ///
  /// `body` says whether to go on; a later call continues behind the last frame handed over. The
  /// payload is valid during the call only. Throws `damaged` only if the file is shorter than what
  /// was read of it before, and `io`; what stands behind the prefix is told by `ending()`.
  public mutating func visit(_ body: (JournalFrame, RawSpan) -> Bool) throws(JournalError) {
    let start = resumption
    try scanner.visit { frame, payload in
      frame.isWatermark || frame.offset < start ? true : body(frame, payload)
    }
  }

  /// The next record with its bytes; nil at the end of the whole prefix, as of now.
  public mutating func next() throws(JournalError) -> JournalRecord? {
    var record: JournalRecord?
    try visit { frame, payload in
      record = JournalRecord(frame, payload: payload)
      return false
    }
    return record
  }

  /// What stands behind the whole prefix; passes over the records that were not yet read.
  public mutating func ending() throws(JournalError) -> JournalEnding {
    try scanner.visit { _, _ in true }
    return try scanner.verdict()
  }

  /// What stands behind the records that `next` has come to the end of; passes over none.
  package mutating func endingBehindRecords() throws(JournalError) -> JournalEnding {
    try scanner.verdict()
  }

  /// The last sequence of what was read of the file.
  package var lastSequence: UInt64 { scanner.lastSequence }

  /// Whether the last record that was read still stands where it was.
  package func isContinued() throws(JournalError) -> Bool {
    try scanner.surroundings() != .changed
  }

  /// How long the file is now, in bytes.
  package func size() throws(JournalError) -> UInt64 {
    try onFile(path) { () throws(SystemFault) in try scanner.file.status().size }
  }

  /// Whether another file has taken the path since this one was opened.
  package func isReplaced() throws(JournalError) -> Bool {
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.status(of: path).identity != scanner.identity
    }
  }
}

/// Bytes that stand in for a file.
final class FileInMemory: JournalFileHandle {
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

  // Nobody writes to bytes that were handed over to be read.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    throw .readOnly("write")
  }

  func truncate(to size: UInt64) throws(SystemFault) { throw .readOnly("truncate") }
  func synchronizeData() throws(SystemFault) { throw .readOnly("sync") }
  func synchronize() throws(SystemFault) { throw .readOnly("sync") }
  func makePrivate() throws(SystemFault) { throw .readOnly("protect") }
  func tryLock() throws(SystemFault) -> Bool { throw .readOnly("lock") }
  func unlock() throws(SystemFault) { throw .readOnly("unlock") }
  func close() {}
}
