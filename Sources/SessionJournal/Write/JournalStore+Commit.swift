extension JournalStore {
  /// Brings this process up to date under the lock, and makes what others wrote durable.
  mutating func settle() throws(JournalError) {
    try lock.acquire(journal: scanner.file)
    var status = try location.status(fileSystem)
    while status.identity != scanner.identity {
      // Closing the old file releases its lock. If the lock file was removed, another process
      // may then be first again.
      try switchFile()
      try lock.acquire(journal: scanner.file)
      status = try location.status(fileSystem)
    }
    // The file may have been opened under another name, so its names are counted. None is left.
    guard status.links > 0 || !scanner.countsNames else { throw .missing(path: path) }
    let surroundings = try scanner.surroundings()
    if surroundings == .changed { throw historyChanged() }
    // A process that dies during a write leaves its first bytes, or a longer file.
    let isQuiet = surroundings == .quiet && status.size == knownSize
    if !isQuiet { try collect() }
    if let unproven {
      guard try unproven.writeAgain(in: scanner) else { throw .diskFull(path: path) }
    }
    let isPending = durable < scanner.lastSequence && durability == .everyCommit
    // The next commit vouches for everything before it. Suppose that it vouched for records of
    // another process that were not synced, and one of these was damaged afterwards. Then the
    // damage could only be called undetermined, together with the commit. This costs one more sync
    // for each change of the writer.
    if isPending || unproven != nil { try synchronize(upTo: scanner.lastSequence) }
    unproven = nil
    if !isQuiet { try repairOthers() }
    guard isOnlyRead else { return }
    // The file's name too may be in the cache only: its creator may have died before the folder's sync.
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.synchronizeFolder(of: location.real)
    }
    DraftFile(location: location, fileSystem: fileSystem).removeLeftover()
    isOnlyRead = false
  }

  /// Cuts what another process left incomplete.
  private mutating func repairOthers() throws(JournalError) {
    // This process holds the lock, so no other process writes: an incomplete batch stays incomplete.
    do throws(JournalError) {
      if let repair = try Self.repair(&scanner, location, fileSystem) { unreportedRepair = repair }
    } catch {
      // The sync of the cut may be what failed.
      if case .io = error { condition = .poisoned }
      throw error
    }
    knownSize = try Self.size(of: scanner)
  }

  mutating func release() {
    do throws(SystemFault) {
      try scanner.file.unlock()
    } catch {
      // Closing releases the lock too, but no later call can continue.
      scanner.file.close()
      condition = .poisoned
    }
    lock.release()
  }

  /// Reads new records without the lock; a batch that is being written is simply not there yet.
  mutating func catchUp() throws(JournalError) -> [JournalRecord] {
    try requireUsable()
    if try location.status(fileSystem).identity != scanner.identity { try switchFile() }
    try collect()
    if try scanner.surroundings() == .changed { throw historyChanged() }
    let records = undelivered
    undelivered = []
    return records
  }

  private mutating func collect() throws(JournalError) {
    scanner.file.forgetCache()
    var records: [JournalRecord] = []
    var lastIsWatermark = endsWithWatermark
    var unproven = unproven
    defer {
      undelivered += records
      lastRecord = records.last?.sequence ?? lastRecord
      endsWithWatermark = lastIsWatermark
      self.unproven = unproven
    }
    try scanner.visit { frame, payload in
      lastIsWatermark = frame.isWatermark
      unproven?.note(frame)
      if !frame.isWatermark { records.append(JournalRecord(frame, payload: payload)) }
      return true
    }
    scanner.rest()
  }

  /// Switches to the file that a compaction put in the place of the old one.
  private mutating func switchFile() throws(JournalError) {
    // No process appends to the old file any more: it is complete.
    try collect()
    var next = try Self.scan(location, fileSystem)
    let expected = scanner.header.identifier
    guard next.header.identifier == expected else {
      throw .replaced(path: path, expected: expected, found: next.header.identifier)
    }
    let last = scanner.lastSequence
    let known = try knownFrames()
    var isSame = true
    let first = FramePosition(after: next.header).sequence
    // As in opening: the last bytes may be left by a sync that failed.
    var unproven = UndeterminedTail()
    var lastIsWatermark = false
    if last >= first {
      try next.visit { frame, _ in
        unproven.note(frame)
        lastIsWatermark = frame.isWatermark
        if let first = known.first?.sequence, frame.sequence >= first, !frame.isSnapshot {
          isSame = isSame && frame.isSame(as: known[Int(frame.sequence - first)])
        }
        return frame.sequence < last
      }
    }
    // A snapshot replaces missing records; without one, all must be there.
    let isContinued = next.header.beginsWithSnapshot || first <= last + 1
    guard isContinued, last < first || next.totals.lastSequence == last && isSame else {
      throw historyChanged()
    }
    // The process that renamed may have died before the name was durable: records would be lost.
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.synchronizeFolder(of: location.real)
    }
    scanner = next
    knownSize = 0
    endsWithWatermark = lastIsWatermark
    self.unproven = unproven
    pager = nil
  }

  /// Returns the last frames that were read, including the last record: another file must hold them
  /// too.
  ///
  /// A watermark frame alone would prove nothing: all are alike.
  private func knownFrames() throws(JournalError) -> [JournalFrame] {
    guard scanner.position.previous != 0 else { return [] }
    var old = try FrameScanner(path: path, file: scanner.file)
    if let near = scanner.index.place(before: lastRecord) { old.seek(to: near) }
    var frames: [JournalFrame] = []
    let last = scanner.lastSequence
    try old.visit { frame, _ in
      frames.append(frame)
      return frame.sequence < last
    }
    guard frames.last?.checksum == scanner.position.chain else { throw historyChanged() }
    return frames
  }

  func historyChanged() -> JournalError {
    .damaged(
      path: path,
      JournalDamage(
        offset: scanner.position.previous, sequence: scanner.lastSequence, flaw: .historyChanged))
  }
}
