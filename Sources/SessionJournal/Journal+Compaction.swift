extension Journal {
  /// Replaces all records before `first` by a snapshot, in a new file that takes the journal's
  /// place.
  ///
  /// A batch is kept whole, so the first sequence that is kept may be below `first`. If `first` is
  /// beyond the last record, the snapshot replaces all records.
  ///
  /// `summary` must be empty. It receives every record once, in order, under the lock. A copy of it
  /// receives the records of the new file before that takes the journal's place. Reads and writes
  /// the file once; memory does not grow with it. Other openings of the journal switch to the new
  /// file by themselves, without gap or duplicate.
  ///
  /// `expected` is the first sequence that the file must have, so that the caller's decision still
  /// holds; nil if any will do.
  ///
  /// Returns nil, with nothing changed, in these cases:
  /// - No record is before `first`.
  /// - The file's first sequence is not `expected`, since others have compacted it.
  /// - The summary makes no snapshot.
  ///
  /// Throws:
  /// - `busy`, `diskFull`, `io`, `readOnlyFolder`, `hardLinked`, `damaged` or `compactionRefused`:
  ///   the journal is as it was before and still usable.
  /// - `io` on a failed sync of the old file or the folder: every later call throws `poisoned`.
  /// - `replaced`, `missing`, `poisoned` or `closed`.
  ///
  /// - Requirement: JRN-4
  public func compact(
    keepingFrom first: UInt64, ifFirstIs expected: UInt64? = nil, summary: some JournalSummary
  ) throws(JournalError) -> JournalCompaction? {
    try withStore { store throws(JournalError) in
      try store.compact(keepingFrom: first, ifFirstIs: expected, summary: summary)
    }
  }
}

extension JournalStore {
  fileprivate mutating func compact(
    keepingFrom wanted: UInt64, ifFirstIs expected: UInt64?, summary: some JournalSummary
  ) throws(JournalError) -> JournalCompaction? {
    try requireUsable()
    try lock.acquire()
    defer { release() }
    try settle()
    guard expected ?? scanner.header.firstSequence == scanner.header.firstSequence else {
      return nil
    }
    // A snapshot may only replace records that are durable.
    if durable < scanner.lastSequence { try synchronize(upTo: scanner.lastSequence) }
    let file = scanner.file
    let links = try onFile(path) { () throws(SystemFault) in try file.status().links }
    guard links <= 1 else { throw .hardLinked(path: path, links: links) }
    guard let first = try firstKept(wanted) else { return nil }

    let copy = CompactionCopy(
      path: path, draft: DraftFile(location: location, fileSystem: fileSystem), old: file,
      end: scanner.position, first: first)
    guard let made = try copy.make(summary) else { return nil }
    try putInPlace(made, by: copy.draft)
    let done = JournalCompaction(
      firstSequence: first, recordsRemoved: made.recordsRemoved,
      bytesBefore: scanner.position.offset, bytesAfter: made.scanner.position.offset,
      foreign: undelivered, repair: takeRepair())
    undelivered = []
    file.close()
    scanner = made.takeScanner()
    pager = nil
    durable = scanner.lastSequence
    knownSize = scanner.position.offset
    endsWithWatermark = true
    unproven = nil
    return done
  }

  private mutating func putInPlace(_ made: borrowing CompactedFile, by draft: DraftFile)
    throws(JournalError)
  {
    let folder: any JournalFolder
    do throws(JournalError) {
      folder = try onFile(path) { () throws(SystemFault) in
        try fileSystem.openFolder(of: location.real)
      }
      try lock.acquire(journal: made.scanner.file)
      // Checked again: copying takes time, and the old file would continue under another name.
      let links = try onFile(path) { () throws(SystemFault) in
        try scanner.file.status().links
      }
      guard links <= 1 else { throw JournalError.hardLinked(path: path, links: links) }
      try draft.onDraft { () throws(SystemFault) in try draft.putInPlace(made.scanner.identity) }
    } catch {
      draft.discard(made.scanner.file)
      throw error
    }
    do throws(SystemFault) {
      try folder.synchronize()
    } catch {
      // A power cut may leave either file, so no later call may rely on one of them.
      throw poison(error)
    }
  }

  /// Returns the first sequence that is kept if the caller asks for `wanted`; nil if no record is
  /// before it.
  ///
  /// It follows a record that ends its batch, even if watermark frames come next. So the snapshot's
  /// sequence is that of a record.
  private func firstKept(_ wanted: UInt64) throws(JournalError) -> UInt64? {
    let wanted = min(
      wanted, scanner.lastSequence + 1, JournalHeader.firstSequences.upperBound)
    guard wanted > scanner.header.firstSequence else { return nil }
    if let near = scanner.index.place(before: wanted - 1),
      let found = try firstKept(wanted, from: near)
    {
      return found
    }
    return try firstKept(wanted, from: FramePosition(after: scanner.header))
  }

  private func firstKept(_ wanted: UInt64, from place: FramePosition) throws(JournalError)
    -> UInt64?
  {
    var old = try FrameScanner(path: path, file: scanner.file)
    old.seek(to: place)
    var found: UInt64?
    var isReached = false
    try old.visit { frame, _ in
      isReached = frame.sequence >= wanted
      guard !isReached else { return false }
      if !frame.isWatermark, frame.remainingInBatch == 0 { found = frame.sequence + 1 }
      return true
    }
    if !isReached { try old.requireWhole(upTo: scanner.position) }
    // A snapshot alone is no record to summarize.
    return found == scanner.header.firstSequence ? nil : found
  }
}
