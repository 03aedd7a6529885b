/// A journal that was repaired: replaced by its good beginning (Specs/JournalFormat.md, "Repair").
package struct JournalRescue: Equatable, Sendable {
  /// The path of the backup: the old file, byte for byte, links followed.
  package let backup: String

  /// The length of the journal now, in bytes.
  package let bytes: UInt64

  /// The number of bytes after the good beginning that only the backup holds.
  package let dropped: UInt64
}

extension Journal {
  /// Replaces the file at `path` by its good beginning, durably; nil if nothing was done.
  ///
  /// 1. Takes the journal's locks. `judge` reads the journal from its first record and returns the
  ///    offset where the good part ends, after a whole batch. It returns nil if all of it is good,
  ///    or if the caller has another reason to leave the file alone.
  /// 2. Copies the old file to `<path>.aside-<n>-repaired-<time>`; `time` holds letters and digits
  ///    only.
  /// 3. Calls `mark` for a record to append to the new file, or none.
  /// 4. Calls `judge` again on the new file; it must find all of it good. Then the new file takes
  ///    the journal's place.
  ///
  /// If this is interrupted, `path` is the old file or the new one, whole. If it is the new one,
  /// the backup exists. Links are followed once. Another process that has read dropped records
  /// refuses to continue with the new file (`damaged` with `historyChanged`).
  ///
  /// Throws with the journal unchanged: `busy`, `diskFull`, `hardLinked`, `io`, `missing`,
  /// `permissionDenied`, `readOnlyFolder`, `compactionRefused` (`otherOwner`, `copyDiffers`), and
  /// the errors of `judge`. Throws `io` on a failed sync of the folder; either file may be at
  /// `path` then.
  package static func rescue(
    _ path: String, time: String, options: JournalOptions, mark: (() -> JournalDraft?)? = nil,
    judge: (inout JournalReader) throws(JournalError) -> UInt64?
  ) throws(JournalError) -> JournalRescue? {
    let fileSystem = options.fileSystem
    // A file that is no journal gets no lock file next to it.
    _ = try JournalReader(path: path, fileSystem: fileSystem)
    let location = try JournalLocation.find(path, fileSystem)
    try refuseLock(location, fileSystem)
    var lock = LockFile(
      beside: location, fileSystem: fileSystem, deadline: options.deadlineNanoseconds)
    defer { lock.close() }
    try lock.acquire()
    let file = try onFile(path) { () throws(SystemFault) in
      try fileSystem.open(location.real, for: .writing)
    }
    defer { file.close() }
    try lock.acquire(journal: file)
    let work = RescueWork(location: location, fileSystem: fileSystem, old: file)
    try work.requireOnlyName()
    var reader = try JournalReader(path: location.real, fileSystem: fileSystem)
    guard let end = try judge(&reader) else { return nil }
    let size = try reader.size()
    let backup = try work.backUp(size, time: time)
    var written = end
    do throws(JournalError) {
      let (draft, length) = try work.makeDraft(end, mark?())
      written = length
      defer { draft.close() }
      do throws(JournalError) {
        var again = try JournalReader(path: work.draft.path, fileSystem: fileSystem)
        guard try judge(&again) == nil, try again.isWhole(length) else {
          throw .compactionRefused(path: path, .copyDiffers)
        }
        try lock.acquire(journal: draft)
        // Checked again: copying takes time.
        try work.requireOnlyName()
      } catch {
        work.draft.discard(draft)
        throw error
      }
      try work.putInPlace(draft)
    } catch {
      work.removeBackup(backup)
      throw error
    }
    return JournalRescue(backup: backup.path, bytes: written, dropped: size - end)
  }

  /// Refuses a file that cannot be replaced, before a lock file is made next to it.
  ///
  /// The app of another user could not open that lock file, and so not its journal.
  private static func refuseLock(_ location: JournalLocation, _ fileSystem: any JournalFileSystem)
    throws(JournalError)
  {
    let status = try onFile(location.given) { () throws(SystemFault) in
      try fileSystem.status(of: location.real)
    }
    guard status.links <= 1 else {
      throw .hardLinked(path: location.given, links: status.links)
    }
    guard status.owner == fileSystem.user else {
      throw .compactionRefused(path: location.given, .otherOwner)
    }
  }
}

/// The steps of a rescue, which run under the journal's locks.
private struct RescueWork {
  private static let chunkSize = 256 * 1024

  let location: JournalLocation
  let fileSystem: any JournalFileSystem
  let old: any JournalFileHandle

  var draft: DraftFile { DraftFile(location: location, fileSystem: fileSystem) }

  private var path: String { location.given }

  /// Throws if the file has another name (hard link), or is no longer at its path.
  func requireOnlyName() throws(JournalError) {
    let status = try onFile(path) { () throws(SystemFault) in try old.status() }
    let named = try onFile(path) { () throws(SystemFault) in
      try fileSystem.status(of: location.real)
    }
    guard status.links <= 1 else { throw .hardLinked(path: path, links: status.links) }
    guard status.identity == named.identity else {
      throw .io(path: path, operation: "exchange", code: SystemFault.isExchanged.code)
    }
  }

  /// Copies all bytes of the old file to a durable backup next to it.
  func backUp(_ size: UInt64, time: String) throws(JournalError) -> SetAsideJournal {
    let known = try onFile(path) { () throws(SystemFault) in
      try SetAsideJournal.last(beside: location, fileSystem)
    }
    let aside = SetAsideJournal(
      of: location.real, number: (known?.number ?? 0) + 1, reason: "repaired", time: time)
    let copy = try made { () throws(SystemFault) in
      try fileSystem.open(aside.path, for: .creatingOnly)
    }
    defer { copy.close() }
    do throws(JournalError) {
      try fill(copy, upTo: size)
      try made { () throws(SystemFault) in try fileSystem.synchronizeFolder(of: location.real) }
    } catch {
      removeBackup(aside)
      throw error
    }
    return aside
  }

  /// Creates a durable draft with the bytes before `end`, and with `mark` if there is one.
  ///
  /// Returns the file and its length.
  func makeDraft(_ end: UInt64, _ mark: JournalDraft?) throws(JournalError)
    -> (file: any JournalFileHandle, length: UInt64)
  {
    var length = end
    let file = try made { () throws(SystemFault) in try draft.create() }
    do throws(JournalError) {
      let isOurs = try onFile(path) { () throws(SystemFault) in
        try file.status().owner == old.status().owner
      }
      guard isOurs else { throw .compactionRefused(path: path, .otherOwner) }
      try fill(file, upTo: end)
      if let mark {
        var reader = try JournalReader(path: draft.path, fileSystem: fileSystem)
        let bytes = try reader.continuation(mark)
        try made { () throws(SystemFault) in
          try file.writeAll(bytes, at: end)
          try file.synchronize()
        }
        length += UInt64(bytes.count)
      }
    } catch {
      draft.discard(file)
      file.close()
      throw error
    }
    return (file, length)
  }

  func putInPlace(_ file: any JournalFileHandle) throws(JournalError) {
    let folder: any JournalFolder
    do throws(JournalError) {
      folder = try onFile(path) { () throws(SystemFault) in
        try fileSystem.openFolder(of: location.real)
      }
      try made { () throws(SystemFault) in try draft.putInPlace(file.status().identity) }
    } catch {
      draft.discard(file)
      throw error
    }
    try onFile(path) { () throws(SystemFault) in try folder.synchronize() }
  }

  /// Removes a backup if the old file is still in place; the new file needs its backup.
  func removeBackup(_ backup: SetAsideJournal) {
    do throws(SystemFault) {
      guard try fileSystem.status(of: location.real).identity == old.status().identity else {
        return
      }
      try fileSystem.remove(backup.path)
    } catch {
      // The first error says more, and an extra copy does no harm.
    }
  }

  private func fill(_ copy: any JournalFileHandle, upTo size: UInt64) throws(JournalError) {
    var done: UInt64 = 0
    while done < size {
      let (place, wanted) = (done, Int(min(UInt64(Self.chunkSize), size - done)))
      let bytes = try onFile(path) { () throws(SystemFault) in try old.bytes(wanted, at: place) }
      guard bytes.count == wanted else {
        throw .io(path: path, operation: "read", code: SystemFault.isExchanged.code)
      }
      try made { () throws(SystemFault) in try copy.writeAll(bytes, at: place) }
      done += UInt64(wanted)
    }
    try made { () throws(SystemFault) in try copy.synchronize() }
    try compare(copy, upTo: size)
  }

  /// Compares a copy with the old file, byte for byte.
  private func compare(_ copy: any JournalFileHandle, upTo size: UInt64) throws(JournalError) {
    var done: UInt64 = 0
    while done < size {
      let (place, wanted) = (done, Int(min(UInt64(Self.chunkSize), size - done)))
      let isSame = try onFile(path) { () throws(SystemFault) in
        try old.bytes(wanted, at: place) == copy.bytes(wanted, at: place)
      }
      guard isSame else { throw .compactionRefused(path: path, .copyDiffers) }
      done += UInt64(wanted)
    }
  }

  /// Runs calls on a new file and maps faults to errors of the journal, which is unchanged.
  private func made<Value: ~Copyable>(_ calls: () throws(SystemFault) -> Value) throws(JournalError)
    -> Value
  {
    do throws(SystemFault) {
      return try calls()
    } catch {
      throw error.isDenied ? .readOnlyFolder(path: path) : error.error(at: path)
    }
  }
}

extension JournalReader {
  /// Whether the file ends cleanly at `end`, with nothing after it.
  fileprivate mutating func isWhole(_ end: UInt64) throws(JournalError) -> Bool {
    let (ending, size) = (try ending(), try size())
    return ending == .clean && totals.bytes == end && size == end
  }

  /// Returns the bytes of a batch of one record that continues the whole prefix.
  ///
  /// The file must end cleanly, without preallocated room.
  package mutating func continuation(_ draft: JournalDraft) throws(JournalError) -> [UInt8] {
    _ = try ending()
    let place = scanner.position
    var writer = FrameWriter(seed: scanner.seed, chain: place.chain)
    writer.append(
      draft, sequence: place.sequence, durable: place.sequence - 1, remainingInBatch: 0)
    return writer.bytes
  }

  /// Returns the bytes in a range of the file, read or not; fewer only at its end.
  package func bytes(in range: Range<UInt64>) throws(JournalError) -> [UInt8] {
    try onFile(path) { () throws(SystemFault) in
      try scanner.file.bytes(Int(clamping: range.count), at: range.lowerBound)
    }
  }

  /// The identity of the file.
  package var identity: FileStatus.Identity { scanner.identity }
}
