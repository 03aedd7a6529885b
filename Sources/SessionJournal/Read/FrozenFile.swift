/// A file as it was when this was created: later appends are not visible.
///
/// So a reader reaches an end even if a writer is at work.
final class FrozenFile: ReadOnlyFile {
  private let file: any JournalFileHandle

  /// The status of the file at that moment.
  let beginning: FileStatus

  /// The length of the file at that moment, in bytes.
  var end: UInt64 { beginning.size }

  init(_ file: any JournalFileHandle) throws(SystemFault) {
    self.file = file
    beginning = try file.status()
  }

  /// Returns the length of the file now.
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

  func close() { file.close() }
}

extension JournalReader {
  /// The frozen file, if the reader reads one.
  private var frozen: FrozenFile? { scanner.file as? FrozenFile }

  /// The length of the part that is read, in bytes: the size of the file when it was opened.
  package var frozenEnd: UInt64? { frozen?.end }

  /// Determines how the frozen part of the file ends; passes over the records that were not yet
  /// read, of which there are none if `isRead`.
  ///
  /// The end of the frozen part may cut a commit. That is a clean end if the file is longer now:
  /// its writer was still at work.
  package mutating func frozenEnding(isRead: Bool = false) throws(JournalError) -> JournalEnding {
    let ending = isRead ? try endingBehindRecords() : try ending()
    guard case .torn(let tail) = ending, tail.flaw.isEndOfFile, let frozen else { return ending }
    let size = try onFile(path) { () throws(SystemFault) in try frozen.sizeByNow() }
    return size > frozen.end ? .clean : ending
  }

  /// Whether a process has written to the file since it was opened, as far as that can be detected.
  ///
  /// True if the file is longer, or if its end was clean and something follows it now.
  package func isGrowing(after ending: JournalEnding) throws(JournalError) -> Bool {
    guard let frozen else { return false }
    let size = try onFile(path) { () throws(SystemFault) in try frozen.sizeByNow() }
    if size > frozen.end { return true }
    // A file that ends with its last batch has nothing after it.
    guard ending == .clean, size > scanner.position.offset else { return false }
    return try scanner.surroundings() == .grown
  }

  /// The end of what was read, between two batches.
  package var wholeEnd: FramePosition { scanner.position }
}
