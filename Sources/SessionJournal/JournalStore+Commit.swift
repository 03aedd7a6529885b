extension JournalStore {
  /// One commit, as `Journal.transact` describes it.
  ///
  /// `redelivers`: what others appended is kept for the next call if this one fails, because the
  /// caller has not seen it.
  mutating func commit(
    redelivers: Bool, _ decide: ([JournalRecord]) -> [JournalDraft]
  ) throws(JournalError) -> Journal.Transaction {
    try requireUsable()
    try lock.acquire()
    defer { release() }
    let repair = try settle()
    let foreign = undelivered
    undelivered = []
    let drafts = decide(foreign)
    do throws(JournalError) {
      let appended = try write(drafts)
      return Journal.Transaction(foreign: foreign, appended: appended, repair: repair)
    } catch {
      if redelivers { undelivered = foreign }
      throw error
    }
  }

  /// Brings this process up to date under the lock, and makes what others wrote durable.
  mutating func settle() throws(JournalError) -> JournalRepair? {
    try followReplacement()
    try lock.acquire(journal: scanner.file)
    guard try scanner.isContinued() else { throw historyChanged() }
    try collect()
    if let unproven {
      guard try unproven.writeAgain(in: scanner) else { throw .diskFull(path: path) }
    }
    if durable < scanner.lastSequence || unproven != nil { try synchronize() }
    unproven = nil
    // Nobody else is writing now, so what is not whole will never be.
    do throws(JournalError) {
      return try Self.repair(&scanner, location, fileSystem)
    } catch {
      // The sync of the cut may be what failed.
      if case .io = error { condition = .poisoned }
      throw error
    }
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
    var unproven = unproven
    defer {
      undelivered += records
      endsWithWatermark = lastIsWatermark
      self.unproven = unproven
    }
    try scanner.visit { frame, payload in
      lastIsWatermark = frame.isWatermark
      unproven?.note(frame)
      if !frame.isWatermark { records.append(JournalRecord(frame, payload: payload)) }
      return true
    }
  }

  /// Goes over to the file that compaction has put in the old one's place.
  private mutating func followReplacement() throws(JournalError) {
    guard try Self.isReplaced(scanner.file, location, fileSystem) else { return }
    // Nobody appends to the old file any more: what is there is all that will be.
    try collect()
    var next = try Self.scan(location, fileSystem)
    let expected = scanner.header.identifier
    guard next.header.identifier == expected else {
      throw .replaced(path: path, expected: expected, found: next.header.identifier)
    }
    let last = scanner.lastSequence
    let first = FramePosition(behind: next.header).sequence
    // As in opening: what stands there may be left by a sync that failed.
    var unproven = UnprovenEnd()
    var lastIsWatermark = false
    if last >= first {
      try next.visit { frame, _ in
        unproven.note(frame)
        lastIsWatermark = frame.isWatermark
        return frame.sequence < last
      }
    }
    // A snapshot stands for what is missing; without one, all must be there.
    let isContinued = next.header.beginsWithSnapshot || first <= last + 1
    guard isContinued, last < first || next.totals.lastSequence == last else {
      throw historyChanged()
    }
    // Whoever renamed may have died before the name was durable, and records would go with it.
    try onFile(path) { () throws(SystemFault) in
      try fileSystem.synchronizeFolder(of: location.real)
    }
    scanner = next
    endsWithWatermark = lastIsWatermark
    self.unproven = unproven
    pager = nil
  }

  private func historyChanged() -> JournalError {
    .damaged(
      path: path,
      JournalDamage(
        offset: scanner.position.previous, sequence: scanner.lastSequence, flaw: .historyChanged))
  }

  private mutating func synchronize() throws(JournalError) {
    do throws(SystemFault) {
      try scanner.file.synchronizeData()
    } catch {
      // The system may have dropped what it could not write, and a second sync would succeed.
      throw poison(error)
    }
    durable = scanner.lastSequence
  }

  /// The error of a fault that ends all trust; never `diskFull`, which says that nothing changed.
  mutating func poison(_ fault: SystemFault) -> JournalError {
    condition = .poisoned
    return .io(path: path, operation: fault.operation, code: fault.code)
  }
}

extension JournalStore {
  private mutating func write(_ drafts: [JournalDraft]) throws(JournalError) -> [JournalRecord] {
    guard !drafts.isEmpty else { return [] }
    try check(drafts)
    let records = try writeBatch(drafts)
    endsWithWatermark = false
    return records
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

  /// Writes one batch behind the last frame and makes it durable.
  private mutating func writeBatch(_ drafts: [JournalDraft]) throws(JournalError)
    -> [JournalRecord]
  {
    var place = scanner.position
    let start = place.offset
    var writer = FrameWriter(seed: scanner.header.seed, chain: place.chain)
    var records: [JournalRecord] = []
    for (number, draft) in drafts.enumerated() {
      let remaining = UInt16(drafts.count - 1 - number)
      place.previous = place.offset
      writer.append(
        draft, sequence: place.sequence, durable: durable, remainingInBatch: remaining)
      records.append(
        JournalRecord(
          sequence: place.sequence, offset: place.offset, kind: draft.kind,
          remainingInBatch: remaining, payload: draft.payload))
      place.offset = start + UInt64(writer.bytes.count)
      place.sequence += 1
      place.chain = writer.chain
    }
    try put(writer.bytes, at: start)
    do throws(SystemFault) {
      try scanner.file.synchronizeData()
    } catch {
      throw poison(error)
    }
    scanner.pass(to: place)
    durable = scanner.lastSequence
    return records
  }

  private mutating func put(_ bytes: [UInt8], at offset: UInt64) throws(JournalError) {
    do throws(SystemFault) {
      try scanner.file.writeAll(bytes, at: offset)
    } catch {
      let refusal = error.error(at: path)
      do throws(SystemFault) {
        try scanner.file.truncate(to: offset)
      } catch {
        // Half a batch is left behind that this process cannot take back.
        throw poison(error)
      }
      throw refusal
    }
  }

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
      _ = try settle()
      guard !endsWithWatermark, scanner.position.previous != 0 else { return }
      let mark = JournalDraft(kind: RecordKind.watermark, payload: [])
      _ = try writeBatch([mark])
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
}
