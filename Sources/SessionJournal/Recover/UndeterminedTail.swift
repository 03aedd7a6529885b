/// The end of a journal of which no later frame says that it reached the disk.
///
/// After a sync that failed, the system may keep what it could not write in memory and call it
/// written: it reads back, and no later sync writes it. Records appended behind it would be lost with
/// it. Written once more, it is dirty again, and the next sync tells the truth.
struct UndeterminedTail: Sendable {
  private static let chunkSize: UInt64 = 256 * 1024

  /// Where the first frame begins that nothing proves durable.
  private var start = UInt64(JournalHeader.size)

  /// Learns from the next frame of the file.
  @inline(__always)
  mutating func note(_ frame: JournalFrame) {
    if frame.durableSequence == frame.sequence - 1 { start = frame.offset }
  }

  /// Writes the unproven part of what was read again, as it is; false if there is no room, which a
  /// file system that never writes in place may lack.
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
