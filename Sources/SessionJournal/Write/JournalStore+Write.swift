extension JournalStore {
  /// Commits a batch that is decided under the lock; see `Journal.transact`.
  mutating func commit<Value, Refusal>(
    _ decide: ([JournalRecord]) throws(Refusal) -> (drafts: [JournalDraft], value: Value)
  ) throws(TransactionError<Value, Refusal>) -> (transaction: JournalTransaction, value: Value) {
    do throws(JournalError) {
      try requireUsable()
      try lock.acquire()
    } catch {
      throw .unavailable(error)
    }
    defer { release() }
    do throws(JournalError) { try settle() } catch { throw .unavailable(error) }
    let foreign = undelivered
    undelivered = []
    let decision: (drafts: [JournalDraft], value: Value)
    do throws(Refusal) {
      decision = try decide(foreign)
    } catch {
      throw .refused(error, foreign: foreign)
    }
    do throws(JournalError) {
      return (try append(decision.drafts, foreign), decision.value)
    } catch {
      throw .appendFailed(error, value: decision.value)
    }
  }

  private mutating func append(_ drafts: [JournalDraft], _ foreign: [JournalRecord])
    throws(JournalError) -> JournalTransaction
  {
    guard !drafts.isEmpty else {
      return JournalTransaction(foreign: foreign, appended: [], repair: takeRepair())
    }
    try check(drafts)
    var writer = batchWriter()
    let appended = writer.append(drafts)
    if let refusal = try write(writer).refusal { throw refusal }
    return JournalTransaction(foreign: foreign, appended: appended, repair: takeRepair())
  }

  /// Commits all submissions, each a batch of its own, with one write and one sync.
  ///
  /// The first submission that is written receives what others appended. If none is written, a
  /// later commit returns it.
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
    let done = try write(writer)
    if let refusal = done.refusal {
      for (submission, _) in written[done.batches...] { submission.finish(.failure(refusal)) }
      if done.batches == 0 { return }
    }
    var foreign = undelivered
    var repair = takeRepair()
    undelivered = []
    for (submission, records) in written[..<done.batches] {
      submission.finish(
        .success(JournalTransaction(foreign: foreign, appended: records, repair: repair)))
      foreign = []
      repair = nil
    }
  }

  mutating func takeRepair() -> JournalRepair? {
    defer { unreportedRepair = nil }
    return unreportedRepair
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
    BatchWriter(after: scanner.position, seed: scanner.seed, durable: durable)
  }

  /// The number of batches that are in the journal, from the first on, and why not all are.
  private typealias Written = (batches: Int, refusal: JournalError?)

  /// Writes batches after the last frame; with `everyCommit` they are durable on return.
  private mutating func write(_ writer: borrowing BatchWriter) throws(JournalError) -> Written {
    guard writer.place.offset > writer.start else { return (writer.ends.count, nil) }
    let isSynced = durability == .everyCommit
    let written = try put(writer, withRoom: isSynced)
    guard written.batches > 0 else { return written }
    let place = writer.ends[written.batches - 1].place
    if isSynced { try synchronize(upTo: place.sequence - 1) }
    scanner.pass(to: place)
    // A process on another view of the folder has no part in the lock, and may have written the same
    // place at the same moment. Then one of both batches is lost, and is not acknowledged.
    if scanner.file.isShared, try scanner.surroundings() == .changed { throw historyChanged() }
    lastRecord = max(lastRecord, scanner.lastSequence)
    endsWithWatermark = false
    return written
  }

  /// Writes batches, and preallocates room after them if the file must grow.
  ///
  /// After a fault, the batches that are whole in the file stay: others may have read them. The
  /// rest is cut.
  private mutating func put(_ writer: borrowing BatchWriter, withRoom: Bool) throws(JournalError)
    -> Written
  {
    let bytes = writer.bytes
    let end = writer.place.offset
    let zeros = withRoom ? room.zeros(after: end, in: knownSize) : 0
    // A commit that makes its file longer costs the file system a record of its own, and the sync
    // of it. So the batch that must grow the file writes zeros after itself, and the next ones
    // overwrite blocks that the file has already. `fallocate` and `F_PREALLOCATE` were rejected:
    // their blocks count as unwritten until data reaches them, and marking them costs that record
    // at each commit again.
    if zeros > 0 {
      let (count, fault) = scanner.file.writeSome(
        [UInt8](bytes, zeros: zeros), at: writer.start)
      if count >= bytes.count {
        knownSize = max(knownSize, writer.start + UInt64(count))
        return (writer.ends.count, nil)
      }
      // Over preallocated room nothing is cut: the write is tried again, and the room is still
      // there.
      if let fault, end > knownSize {
        let written = try takeBack(writer, after: count, fault)
        // A failed preallocation is no reason to refuse batches that may still fit.
        guard written.batches == 0, case .diskFull? = written.refusal else { return written }
      }
    }
    let (count, fault) = scanner.file.writeSome(bytes, at: writer.start)
    if let fault { return try takeBack(writer, after: count, fault) }
    knownSize = max(knownSize, end)
    return (writer.ends.count, nil)
  }

  /// Cuts the file after the last whole batch, when only `count` bytes were written.
  private mutating func takeBack(
    _ writer: borrowing BatchWriter, after count: Int, _ fault: SystemFault
  ) throws(JournalError) -> Written {
    // All or nothing was rejected. Readers take no lock, so between the write and this cut they may
    // have read the first batches, which are whole and valid. If those were cut, a follower would
    // report damage in a sound file, and another process would refuse to append to it. Each batch
    // has its own caller, so the callers of one write may receive different outcomes. `ifLastIs`
    // asks for an order among them.
    let whole = writer.whole(upTo: writer.start + UInt64(count), zerosUpTo: knownSize)
    let end = whole == 0 ? writer.start : writer.ends[whole - 1].place.offset
    do throws(SystemFault) {
      try scanner.file.truncate(to: end)
      knownSize = end
    } catch {
      // A partial batch is left that this process cannot cut.
      throw poison(error)
    }
    return (whole, whole == writer.ends.count ? nil : fault.error(at: path))
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

  /// Marks the store as poisoned; returns `io`, never `diskFull`, which says that nothing changed.
  mutating func poison(_ fault: SystemFault) -> JournalError {
    condition = .poisoned
    return .io(path: path, operation: fault.operation, code: fault.code)
  }
}

extension JournalStore {
  /// Appends a proof that the last record was acknowledged, then closes the file.
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
    // What was only read is as others left it.
    guard wasUsable, !isOnlyRead else { return }
    // Needs no lock, and is promised even if another process holds it.
    if durable < scanner.lastSequence { try synchronize(upTo: scanner.lastSequence) }
    do throws(JournalError) {
      try lock.acquire()
      // Closing is not enough: a child process may have inherited the open file.
      defer { release() }
      try settle()
      try prove()
      try cutRoom()
    } catch {
      switch error {
      // The process that holds the lock for so long is writing, and its next frame is the proof.
      case .busy: return
      // The journal was deleted, perhaps with its folder: nothing is left to prove.
      case .missing, .folderMissing, .replaced: return
      // Records can be read without the proof, and the next commit cuts a partial one.
      case .diskFull: return
      default: throw error
      }
    }
  }

  /// Makes everything durable and appends a watermark that says so.
  private mutating func prove() throws(JournalError) {
    if durable < scanner.lastSequence { try synchronize(upTo: scanner.lastSequence) }
    guard !endsWithWatermark, scanner.position.previous != 0 else { return }
    var writer = batchWriter()
    _ = writer.append([JournalDraft(kind: RecordKind.watermark, payload: [])])
    if let refusal = try put(writer, withRoom: false).refusal { throw refusal }
    try synchronize(upTo: writer.place.sequence - 1)
    scanner.pass(to: writer.place)
  }

  /// Cuts preallocated room; not synced, since zeros that come back do no harm.
  private mutating func cutRoom() throws(JournalError) {
    guard knownSize > scanner.position.offset else { return }
    try onFile(path) { () throws(SystemFault) in
      try scanner.file.truncate(to: scanner.position.offset)
    }
  }
}

/// An encoder of batches that go into the file with one write.
struct BatchWriter {
  /// The offset of the first batch.
  let start: UInt64

  /// The position after the last batch.
  private(set) var place: FramePosition

  /// The position after each batch, and the number of padding bytes at its end.
  private(set) var ends: [(place: FramePosition, padding: UInt64)] = []

  private var frames: FrameWriter
  private let durable: UInt64

  /// Creates a writer that continues at `place`; everything up to `durable` is durable.
  init(after place: FramePosition, seed: Checksum, durable: UInt64) {
    start = place.offset
    self.place = place
    frames = FrameWriter(seed: seed, chain: place.chain)
    self.durable = durable
  }

  /// The frames and padding of all batches so far.
  var bytes: [UInt8] { frames.bytes }

  /// Adds one batch; returns its records.
  mutating func append(_ drafts: [JournalDraft]) -> [JournalRecord] {
    var records: [JournalRecord] = []
    records.reserveCapacity(drafts.count)
    frames.reserve(
      drafts.reduce(0) { $0 + JournalFrame.headerSize + JournalFrame.padded($1.payload.count) })
    for (number, draft) in drafts.enumerated() {
      let remaining = UInt16(drafts.count - 1 - number)
      place.previous = place.offset
      frames.append(
        draft, sequence: place.sequence, durable: durable, remainingInBatch: remaining)
      records.append(
        JournalRecord(
          sequence: place.sequence, offset: place.offset, kind: draft.kind,
          remainingInBatch: remaining, payload: draft.payload))
      place.offset = start + UInt64(frames.bytes.count)
      place.sequence += 1
      place.chain = frames.chain
    }
    let last = drafts.last?.payload.count ?? 0
    ends.append((place, UInt64(JournalFrame.padded(last) - last)))
    return records
  }

  /// Returns how many of the batches are whole after a partial write.
  ///
  /// Everything up to `end` was written. The file holds zeros from there up to `size`.
  func whole(upTo end: UInt64, zerosUpTo size: UInt64) -> Int {
    ends.prefix { batch in
      let isPadded = batch.place.offset <= size && batch.place.offset - batch.padding <= end
      return batch.place.offset <= end || isPadded
    }.count
  }
}
