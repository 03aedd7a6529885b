/// What stood in a file when this was made, and nothing that is appended to it later.
///
/// A writer may be at work: whoever reads to the end of this comes to an end all the same.
final class FrozenFile: JournalFileHandle {
  private let file: any JournalFileHandle

  /// How long the file was, in bytes.
  let end: UInt64

  init(_ file: any JournalFileHandle) throws(SystemFault) {
    self.file = file
    end = try file.status().size
  }

  /// How long the file is by now.
  func sizeByNow() throws(SystemFault) -> UInt64 { try file.status().size }

  func status() throws(SystemFault) -> FileStatus {
    let status = try file.status()
    return FileStatus(
      kind: status.kind, size: min(status.size, end), identity: status.identity,
      links: status.links, owner: status.owner)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
    -> Int
  {
    guard offset < end else { return 0 }
    let count = Int(min(UInt64(buffer.count), end - offset))
    return try file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
  }

  func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? {
    guard let data = try file.nextData(from: offset), data < end else { return nil }
    return data
  }

  // Only readers look at files like this.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(SystemFault) -> Int {
    throw .readOnly("write")
  }

  func truncate(to size: UInt64) throws(SystemFault) { throw .readOnly("truncate") }
  func synchronizeData() throws(SystemFault) { throw .readOnly("sync") }
  func synchronize() throws(SystemFault) { throw .readOnly("sync") }
  func makePrivate() throws(SystemFault) { throw .readOnly("protect") }
  func tryLock() throws(SystemFault) -> Bool { throw .readOnly("lock") }
  func unlock() throws(SystemFault) { throw .readOnly("unlock") }
  func close() { file.close() }
}

extension JournalReader {
  /// What is read, where only what stood in the file at one moment is.
  private var frozen: FrozenFile? { scanner.file as? FrozenFile }

  /// How much of the file is looked at, in bytes: what stood in it when it was opened.
  package var frozenEnd: UInt64? { frozen?.end }

  /// What stands behind the whole prefix of a file of which only its beginning is looked at; passes over
  /// the records that were not yet read.
  ///
  /// A commit that the end of what is looked at cuts through is no fault where the file goes on by now:
  /// its writer was not done with it.
  package mutating func frozenEnding() throws(JournalError) -> JournalEnding {
    let ending = try ending()
    guard case .torn(let tail) = ending, tail.flaw.isEndOfFile, let frozen else { return ending }
    let size = try onFile(path) { () throws(SystemFault) in try frozen.sizeByNow() }
    return size > frozen.end ? .clean : ending
  }

  /// Whether somebody has written to the file since it was opened, as far as can be told: it is longer, or
  /// something stands where the ending was clean.
  package func isGrowing(behind ending: JournalEnding) throws(JournalError) -> Bool {
    guard let frozen else { return false }
    let size = try onFile(path) { () throws(SystemFault) in try frozen.sizeByNow() }
    if size > frozen.end { return true }
    guard ending == .clean else { return false }
    return try scanner.surroundings() == .grown
  }

  /// Where what was read ends, between two batches.
  package var wholeEnd: FramePosition { scanner.position }
}
