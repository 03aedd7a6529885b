internal import SessionJournal

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The checks of the same bytes as a file: reading it, and opening it for writing.
enum FileChecks {
  /// The path is in the folder that the script created for this process.
  private static let path = "fuzzed.journal"

  /// Checks that a file that grows while it is followed is read like the whole file.
  ///
  /// Its preallocated space may be filled instead.
  static func growth(_ bytes: [UInt8], _ reading: Reading, mark: UInt32) {
    let cut = 64 + Int(mark >> 5) % (bytes.count - 63)
    let room = mark & 16 == 0 ? 0 : bytes.count - cut
    put(Array(bytes[..<cut]) + [UInt8](repeating: 0, count: room), from: 0)
    do throws(JournalError) {
      var reader = try JournalReader(path: path)
      var records = try reader.rest()
      // Zeros may have been the rest of a frame. If other bytes come there, a complete frame is
      // overwritten, which is not growth.
      let end = Int(reader.totals.bytes)
      guard end <= cut || bytes[cut..<end].allSatisfy({ $0 == 0 }) else { return }
      put(Array(bytes[cut...]), from: cut)
      records += try reader.rest()
      require(records == reading.records, "grown from \(cut): \(records), not \(reading.records)")
      let ending = try reader.ending()
      require(ending == reading.ending, "grown from \(cut): \(ending)")
      var memory = try JournalReader(bytes: bytes)
      var file = try JournalReader(path: path)
      let (one, other) = (try memory.survey(), try file.survey())
      require(one == other, "in memory \(one), in a file \(other)")
    } catch {
      finding("grown from \(cut): \(error)")
    }
  }

  /// Checks that opening keeps the whole prefix, cuts as the verdict says, and allows new records.
  static func opening(_ bytes: [UInt8], _ reading: Reading) {
    put(bytes, from: 0)
    var records: [JournalRecord] = []
    do throws(JournalError) {
      let journal = try Journal.open(at: path) { records.append(JournalTarget.record($0, $1)) }
      if case .damaged = reading.ending { finding("a damaged journal was opened") }
      require(records == reading.records, "replayed \(records), not \(reading.records)")
      let isCut = reading.ending != .clean
      require((journal.recovery.repair != nil) == isCut, "\(journal.recovery)")
      let left = contents(of: path)
      let rest = Array(bytes[..<(isCut ? reading.end : bytes.count)])
      require(left == rest, "\(left.count) bytes are left")
      if let repair = journal.recovery.repair { checkKept(repair.keptAside, bytes, reading) }
      try checkLife(journal, reading)
    } catch {
      checkRefusal(error, bytes, reading)
    }
  }

  private static func checkKept(_ name: String, _ bytes: [UInt8], _ reading: Reading) {
    let kept = contents(of: name)
    let tail = bytes[reading.end...]
    require(
      tail.starts(with: kept) && tail.dropFirst(kept.count).allSatisfy { $0 == 0 },
      "of \(tail.count) bytes that were cut, \(kept.count) are kept")
    unlink(name)
  }

  private static func checkLife(_ journal: Journal, _ reading: Reading) throws(JournalError) {
    let draft = JournalDraft(kind: 1, payload: [1, 2, 3])
    let appended = try journal.append([draft, draft]).appended
    require(appended.first?.sequence == reading.lastSequence + 1, "\(appended)")
    try journal.close()
    var reader = try JournalReader(path: path)
    let records = try reader.rest()
    require(records == reading.records + appended, "\(records) after \(appended) were appended")
    let ending = try reader.ending()
    require(ending == .clean, "closed, and \(ending)")
  }

  private static func checkRefusal(_ error: JournalError, _ bytes: [UInt8], _ reading: Reading) {
    guard case .damaged(_, let damage) = error, reading.ending == .damaged(damage)
    else { finding("\(reading.ending), and opening says: \(error)") }
    require(contents(of: path) == bytes, "a damaged journal was changed")
  }

  // MARK: - Files

  private static func put(_ bytes: [UInt8], from offset: Int) {
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    require(
      file >= 0 && ftruncate(file, off_t(offset == 0 ? 0 : bytes.count + offset)) == 0, "no file")
    defer { close(file) }
    let written = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
    require(written == bytes.count, "the folder of this run has no room")
  }

  private static func contents(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return [] }
    defer { close(file) }
    let size = Int(lseek(file, 0, SEEK_END))
    return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, pread(file, buffer.baseAddress, size, 0))
    }
  }
}
