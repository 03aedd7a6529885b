extension JournalStore {
  /// One commit of a batch that is decided under the lock, as `Journal.transact` describes it.
  mutating func commit(
    _ decide: ([JournalRecord]) -> [JournalDraft]
  ) throws(JournalError) -> Journal.Transaction {
    try requireUsable()
    try lock.acquire()
    defer { release() }
    try settle()
    let foreign = undelivered
    undelivered = []
    let drafts = decide(foreign)
    try check(drafts)
    var writer = batchWriter()
    let appended = writer.append(drafts)
    try write(writer)
    return Journal.Transaction(foreign: foreign, appended: appended, repair: takeRepair())
  }

  /// One commit of all that was submitted, a batch each, with one write and one sync.
  ///
  /// What others appended goes to the first that is written; where none is, it is kept for later.
  mutating func commit(_ submissions: [Submission]) {
    guard !submissions.isEmpty else { return }
    do throws(JournalError) {
      try requireUsable()
      try lock.acquire()
      defer { release() }
      try settle()
      try write(submissions)
    } catch {
      for submission in submissions { submission.finish(.failure(error)) }
    }
  }

  private mutating func write(_ submissions: [Submission]) throws(JournalError) {
    var writer = batchWriter()
    var last = lastRecord
    var written: [(Submission, [JournalRecord])] = []
    written.reserveCapacity(submissions.count)
    for submission in submissions {
      do throws(JournalError) {
        if let expected = submission.expected, expected < last || expected >= writer.place.sequence
        {
          throw .conflict(path: path, expected: expected, found: last)
        }
        try check(submission.drafts)
        let records = writer.append(submission.drafts)
        last = records.last?.sequence ?? last
        written.append((submission, records))
      } catch {
        submission.finish(.failure(error))
      }
    }
    guard !written.isEmpty else { return }
    try write(writer)
    var foreign = undelivered
    var repair = takeRepair()
    undelivered = []
    for (submission, records) in written {
      submission.finish(
        .success(Journal.Transaction(foreign: foreign, appended: records, repair: repair)))
      foreign = []
      repair = nil
    }
  }

  mutating func takeRepair() -> JournalRepair? {
    defer { untoldRepair = nil }
    return untoldRepair
  }

  private func check(_ drafts: [JournalDraft]) throws(JournalError) {
    var bytes = 0
    let maximum = Int(scanner.header.maximumRecordSize)
    for draft in drafts {
      guard !RecordKind.isReserved(draft.kind) else {
        throw .reservedKind(path: path, kind: draft.kind)
      }
      guard draft.payload.count <= maximum else {
        throw .recordTooLarge(path: path, bytes: draft.payload.count, maximum: maximum)
      }
      bytes += JournalFrame.headerSize + JournalFrame.padded(draft.payload.count)
    }
    guard drafts.count <= BatchLimits.records, bytes <= BatchLimits.bytes else {
      throw .batchTooLarge(path: path, records: drafts.count, bytes: bytes)
    }
  }

  private func batchWriter() -> BatchWriter {
    BatchWriter(behind: scanner.position, seed: scanner.header.seed, durable: durable)
  }

  /// Writes batches behind the last frame; with `everyCommit` they are durable then.
  private mutating func write(_ writer: borrowing BatchWriter) throws(JournalError) {
    guard writer.place.offset > writer.start else { return }
    try put(writer.bytes, at: writer.start)
    if durability == .everyCommit { try synchronize(upTo: writer.place.sequence - 1) }
    scanner.pass(to: writer.place)
    lastRecord = scanner.lastSequence
    endsWithWatermark = false
  }

  /// Writes bytes, and room behind them where the file must grow; all of them or none.
  private mutating func put(_ bytes: [UInt8], at offset: UInt64) throws(JournalError) {
    let end = offset + UInt64(bytes.count)
    let zeros = durability == .everyCommit ? room.zeros(behind: end, in: knownSize) : 0
    guard zeros > 0 else { return try putAll(bytes, at: offset) }
    do throws(JournalError) {
      try putAll(bytes + repeatElement(0, count: zeros), at: offset)
    } catch {
      // No room in advance is no reason to refuse what may still fit.
      guard case .diskFull = error else { throw error }
      try putAll(bytes, at: offset)
    }
  }

  private mutating func putAll(_ bytes: [UInt8], at offset: UInt64) throws(JournalError) {
    do throws(SystemFault) {
      try scanner.file.writeAll(bytes, at: offset)
      knownSize = max(knownSize, offset + UInt64(bytes.count))
    } catch {
      let refusal = error.error(at: path)
      do throws(SystemFault) {
        try scanner.file.truncate(to: offset)
        knownSize = offset
      } catch {
        // Half a batch is left behind that this process cannot take back.
        throw poison(error)
      }
      throw refusal
    }
  }

  mutating func synchronize(upTo sequence: UInt64) throws(JournalError) {
    do throws(SystemFault) {
      try scanner.file.synchronizeData()
    } catch {
      // The system may have dropped what it could not write, and a second sync would succeed.
      throw poison(error)
    }
    durable = sequence
  }

  /// The error of a fault that ends all trust; never `diskFull`, which says that nothing changed.
  mutating func poison(_ fault: SystemFault) -> JournalError {
    condition = .poisoned
    return .io(path: path, operation: fault.operation, code: fault.code)
  }
}

extension JournalStore {
  /// Leaves a proof in the file that its last record was acknowledged, then lets go of it.
  mutating func close() throws(JournalError) {
    guard condition != .closed else { return }
    let wasUsable = condition == .open
    defer {
      condition = .closed
      scanner.file.close()
      lock.close()
      pager = nil
      undelivered = []
    }
    guard wasUsable else { return }
    do throws(JournalError) {
      try lock.acquire()
      try settle()
      try prove()
      try cutRoom()
    } catch {
      switch error {
      // Whoever has the lock for so long is writing, and their next frame is the proof.
      case .busy: return
      // The journal was deleted, perhaps with its folder: nothing is left to prove.
      case .missing, .folderMissing, .replaced: return
      // No record needs the proof to be read, and what half of it was written is cut by the next.
      case .diskFull: return
      default: throw error
      }
    }
  }

  /// Makes everything durable and says so in a frame of its own.
  private mutating func prove() throws(JournalError) {
    if durable < scanner.lastSequence { try synchronize(upTo: scanner.lastSequence) }
    guard !endsWithWatermark, scanner.position.previous != 0 else { return }
    var writer = batchWriter()
    _ = writer.append([JournalDraft(kind: RecordKind.watermark, payload: [])])
    try putAll(writer.bytes, at: writer.start)
    try synchronize(upTo: writer.place.sequence - 1)
    scanner.pass(to: writer.place)
  }

  /// Gives back what was taken in advance; not synced, since zeros that come back do no harm.
  private mutating func cutRoom() throws(JournalError) {
    guard knownSize > scanner.position.offset else { return }
    try onFile(path) { () throws(SystemFault) in
      try scanner.file.truncate(to: scanner.position.offset)
    }
  }
}
