extension JournalStore {
  /// Brings this process up to date under the lock, and makes what others wrote durable.
  mutating func settle() throws(JournalError) {
    try followReplacement()
    try lock.acquire(journal: scanner.file)
    guard try scanner.isContinued() else { throw historyChanged() }
    if let unproven {
      guard try unproven.writeAgain(in: scanner) else { throw .diskFull(path: path) }
    }
    if try !isQuiet() { try settleOthers() }
    let isOwed = durable < scanner.lastSequence && durability == .everyCommit
    if isOwed || unproven != nil { try synchronize(upTo: scanner.lastSequence) }
    unproven = nil
  }

  /// Whether nobody has written since this process last looked at the end of the file.
  private func isQuiet() throws(JournalError) -> Bool {
    let end = scanner.position.offset
    let known = knownSize
    return try onFile(path) { () throws(SystemFault) in
      guard try scanner.file.status().size == known else { return false }
      if known == end { return true }
      // Whoever writes begins here: a process that dies in a write leaves its first bytes.
      return try scanner.file.bytes(JournalFrame.headerSize, at: end).allSatisfy { $0 == 0 }
    }
  }

  /// Reads what others wrote, and cuts what one of them left half done.
  private mutating func settleOthers() throws(JournalError) {
    try collect()
    if durable < scanner.lastSequence, durability == .everyCommit {
      try synchronize(upTo: scanner.lastSequence)
    }
    // Nobody else is writing now, so what is not whole will never be.
    do throws(JournalError) {
      if let repair = try Self.repair(&scanner, location, fileSystem) { untoldRepair = repair }
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
      // Closing gives the lock back too, and leaves nothing to go on with.
      scanner.file.close()
      condition = .poisoned
    }
    lock.release()
  }

  /// Reads on, without the lock: a batch on its way is simply not there yet.
  mutating func catchUp() throws(JournalError) -> [JournalRecord] {
    try requireUsable()
    try followReplacement()
    try collect()
    let records = undelivered
    undelivered = []
    return records
  }

  private mutating func collect() throws(JournalError) {
    var records: [JournalRecord] = []
    var lastIsWatermark = endsWithWatermark
    defer {
      undelivered += records
      lastRecord = records.last?.sequence ?? lastRecord
      endsWithWatermark = lastIsWatermark
    }
    try scanner.visit { frame, payload in
      lastIsWatermark = frame.isWatermark
      if !frame.isWatermark { records.append(JournalRecord(frame, payload: payload)) }
      return true
    }
  }

  /// Goes over to the file that compaction has put in the old one's place.
  private mutating func followReplacement() throws(JournalError) {
    guard try Self.isReplaced(scanner.file, location, fileSystem) else { return }
    var next = try Self.scan(location, fileSystem)
    let expected = scanner.header.identifier
    guard next.header.identifier == expected else {
      throw .replaced(path: path, expected: expected, found: next.header.identifier)
    }
    let last = scanner.lastSequence
    if last >= next.header.firstSequence {
      try next.visit { frame, _ in frame.sequence < last }
    }
    guard next.totals.lastSequence >= last else { throw historyChanged() }
    scanner = next
    pager = nil
  }

  private func historyChanged() -> JournalError {
    .damaged(
      path: path,
      JournalDamage(
        offset: scanner.position.previous, sequence: scanner.lastSequence, flaw: .historyChanged))
  }
}
