/// The end of a journal that no later frame proves durable.
///
/// After a failed sync, the system may keep unwritten data in memory and mark it as written. It
/// reads back, but no later sync writes it. Records appended after it would be lost with it.
/// Writing it again marks it as unwritten, so that the next sync can be trusted.
struct UndeterminedTail: Sendable {
  private static let chunkSize: UInt64 = 256 * 1024

  /// The offset of the first frame that nothing proves durable.
  private var start = UInt64(JournalHeader.size)

  /// Learns from the next frame of the file.
  @inline(__always)
  mutating func note(_ frame: JournalFrame) {
    if frame.durableSequence == frame.sequence - 1 { start = frame.offset }
  }

  /// Writes the unproven bytes again, unchanged; false if the disk is full.
  ///
  /// A file system that never writes in place needs room for this.
  func writeAgain(in scanner: borrowing FrameScanner) throws(JournalError) -> Bool {
    do throws(SystemFault) {
      var place = start
      while place < scanner.position.offset {
        let count = min(Self.chunkSize, scanner.position.offset - place)
        let bytes = try scanner.file.bytes(Int(count), at: place)
        guard !bytes.isEmpty else { break }
        try scanner.file.writeAll(bytes, at: place)
        place += UInt64(bytes.count)
      }
      return true
    } catch {
      let error = error.error(at: scanner.path)
      if case .diskFull = error { return false }
      throw error
    }
  }
}
