/// A journal that was replaced by its good beginning (Specs/JournalFormat.md, "Repair").
package struct JournalRescue: Equatable, Sendable {
  /// The file as it was before, byte for byte; links followed.
  package let backup: String

  /// How long the journal is now, in bytes.
  package let bytes: UInt64

  /// How many bytes behind that are in the backup only.
  package let dropped: UInt64
}

extension Journal {
  /// Replaces the file at `path` by its first bytes, up to the offset that `judge` finds; durably.
  ///
  /// `judge` reads the journal under its locks, from its first record, and answers where what is good
  /// ends, behind a whole batch; nil if all of it is good, and then nothing is done. `mark` is asked
  /// after that for a record that the new file ends with, or none. `judge` is asked once
  /// more of the new file before that takes the journal's place, and must find all of it good. Whoever
  /// has another reason to leave the file alone answers nil and remembers why.
  ///
  /// The old file is copied to `<path>.aside-<n>-repaired-<time>` first; `time` holds letters and
  /// digits only. Interrupted anywhere, `path` is the old file or the new one, whole, and a backup
  /// that the new one needs is there. Links are followed once. A process that has the journal open and
  /// has read what is dropped refuses to go on with the new file (`damaged` with `historyChanged`). Throws `busy`, `diskFull`,
  /// `hardLinked`, `io`, `missing`, `permissionDenied`, `readOnlyFolder`, `compactionRefused` with
  /// `otherOwner` or `copyDiffers`, and what `judge` throws, with the journal as it was; `io` on a
  /// failed sync of the folder, after which either of the two may be there.
  package static func rescue(
    _ path: String, time: String, options: Options, mark: (() -> JournalDraft?)? = nil,
    judge: (inout JournalReader) throws(JournalError) -> UInt64?
  ) throws(JournalError) -> JournalRescue? {
    let fileSystem = options.fileSystem
    // What is no journal gets no lock file beside it.
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
        // Looked at again: copying takes time.
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

  /// Refuses a file that cannot be replaced before a lock file is made beside it: another user's app
  /// could not open that, and so not its journal.
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

/// The steps of a rescue, under the journal's locks.
private struct RescueWork {
  private static let chunkSize = 256 * 1024

  let location: JournalLocation
  let fileSystem: any JournalFileSystem
  let old: any JournalFileHandle

  var draft: DraftFile { DraftFile(location: location, fileSystem: fileSystem) }

  private var path: String { location.given }

  /// Refuses a file that others have under another name, or that has lost its own.
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

  /// A file with all bytes of the old one, durable and under its name.
  func backUp(_ size: UInt64, time: String) throws(JournalError) -> SetAsideJournal {
    let known = try onFile(path) { () throws(SystemFault) in
      try Journal.setAside(beside: location, fileSystem)
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

  /// A file with the bytes before `end` and one more record, durable, under the name of no journal;
  /// and its length.
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

  /// Removes the backup of what still stands in its place; any other stays.
  func removeBackup(_ backup: SetAsideJournal) {
    do throws(SystemFault) {
      guard try fileSystem.status(of: location.real).identity == old.status().identity else {
        return
      }
      try fileSystem.remove(backup.path)
    } catch {
      // The first fault says more, and a copy too many does no harm.
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

  /// Holds a copy against the old file, byte for byte.
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

  /// Runs calls on a file that is made; what keeps it from being made is told of the journal, which
  /// is as it was.
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
  /// Whether the file ends cleanly at `end`, without anything behind it.
  fileprivate mutating func isWhole(_ end: UInt64) throws(JournalError) -> Bool {
    let (ending, size) = (try ending(), try size())
    return ending == .clean && totals.bytes == end && size == end
  }

  /// The bytes of one more record after the whole prefix, as a batch of its own.
  ///
  /// To be asked of a file that ends cleanly, without room.
  package mutating func continuation(_ draft: JournalDraft) throws(JournalError) -> [UInt8] {
    _ = try ending()
    let place = scanner.position
    var writer = FrameWriter(seed: scanner.seed, chain: place.chain)
    writer.append(
      draft, sequence: place.sequence, durable: place.sequence - 1, remainingInBatch: 0)
    return writer.bytes
  }

  /// The bytes of the file in a range, read or not; fewer only behind its end.
  package func bytes(in range: Range<UInt64>) throws(JournalError) -> [UInt8] {
    try onFile(path) { () throws(SystemFault) in
      try scanner.file.bytes(Int(clamping: range.count), at: range.lowerBound)
    }
  }

  /// Which file this is.
  package var identity: FileStatus.Identity { scanner.identity }
}
