@_spi(Internals) package import SessionCore
package import SessionJournal

// What a log holds, read without a session (RPL-8).
extension SessionHistory {
  /// Reads the journal at a path.
  package init(path: String, _ options: JournalOptions = JournalOptions()) throws(SessionError) {
    do throws(JournalError) {
      self = try Self.read(path, options)
    } catch {
      // A compaction or a repair may have come in between.
      guard case .damaged = error else { throw .journal(error) }
      do throws(JournalError) {
        self = try Self.read(path, options)
      } catch {
        throw .journal(error)
      }
    }
    try refuseOtherLog(path)
  }

  /// Creates the history of a log that is no file.
  init(of log: JournalIdentifier, firstSequence: UInt64, parts: HistoryParts, path: String)
    throws(SessionError)
  {
    self.init(
      origin: Origin(
        journal: Identifier(log.description), salt: 0, format: 0, maximumRecordSize: 0,
        firstSequence: firstSequence, beginsWithSnapshot: firstSequence > 1,
        lastSequence: parts.lastSequence),
      parts: parts.parts, ending: .clean)
    try refuseOtherLog(path)
  }

  /// Throws if the records are those of another kind of log.
  private func refuseOtherLog(_ path: String) throws(SessionError) {
    for case .record(let entry) in parts {
      guard case .unknown(let unknown) = entry.record.content,
        // No other snapshot is of an unknown kind.
        OtherLogRecords.kinds.contains(unknown.kind) || unknown.kind == SessionRecord.snapshotKind
      else { continue }
      throw .unusableJournal(
        path: path, sequence: entry.record.sequence, problem: SessionError.otherLogProblem)
    }
  }

  /// How often and how long a read waits for a commit that cannot be read: 200 ms together.
  private static let maximumLooks = 10
  private static let pauseBetweenLooks: UInt64 = 20_000_000

  private static func read(_ path: String, _ options: JournalOptions) throws(JournalError)
    -> SessionHistory
  {
    var reader = try JournalReader(path: path, fileSystem: options.fileSystem, isFrozen: true)
    var parts = HistoryParts()
    try reader.visit { frame, payload in parts.take(frame, payload) }
    var ending = try reader.frozenEnding()
    var looks = 0
    while case .undetermined = ending, looks < maximumLooks {
      // A writer may be at work: a commit is not written in one moment.
      options.fileSystem.pause(nanoseconds: pauseBetweenLooks)
      try reader.visit { frame, payload in parts.take(frame, payload) }
      ending = try reader.frozenEnding()
      looks += 1
    }
    let totals = reader.totals
    if case .damaged = ending {
      let survey = try reader.survey()
      for part in survey.parts {
        switch part {
        case .lost(let range): parts.lose(range.offsets, range.sequences)
        case .readable(let run):
          try reader.visit(run) { frame, payload in parts.take(frame, payload) }
        }
      }
      if let rest = survey.rest { parts.lose(rest.offsets, nil) }
    }
    let header = reader.header
    return SessionHistory(
      origin: Origin(
        journal: Identifier(header.identifier.description), salt: header.salt,
        format: header.formatVersion, maximumRecordSize: header.maximumRecordSize,
        firstSequence: header.firstSequence, beginsWithSnapshot: header.beginsWithSnapshot,
        lastSequence: totals.lastSequence),
      parts: parts.parts, ending: Ending(ending))
  }
}

/// The parts of a history, while a journal is read.
struct HistoryParts {
  private(set) var parts: [SessionHistory.Part] = []
  private(set) var lastSequence: UInt64 = 0
  private var decoder = SessionDecoder()

  /// Takes a whole frame; one whose payload is not what its kind says is lost.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) -> Bool {
    take(frame.record, payload, offset: frame.offset, bytes: UInt64(frame.size))
    return true
  }

  /// Takes a record of a log that is no file.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan) {
    take(header, payload, offset: 0, bytes: UInt64(payload.byteCount))
  }

  private mutating func take(
    _ header: RecordHeader, _ payload: RawSpan, offset: UInt64, bytes: UInt64
  ) {
    lastSequence = header.sequence
    do throws(CodecError) {
      let record = try decoder.decode(
        sequence: header.sequence, kind: header.kind, payload: payload)
      parts.append(
        .record(
          SessionHistory.Entry(
            record: record, remainingInBatch: header.remainingInBatch, offset: offset)))
    } catch {
      parts.append(
        .lost(
          SessionHistory.Damage(
            offset: offset, bytes: bytes, sequences: header.sequence...header.sequence)))
    }
  }

  mutating func lose(_ offsets: Range<UInt64>, _ sequences: ClosedRange<UInt64>?) {
    parts.append(
      .lost(
        SessionHistory.Damage(
          offset: offsets.lowerBound, bytes: offsets.upperBound - offsets.lowerBound,
          sequences: sequences)))
  }
}

extension SessionHistory.Ending {
  fileprivate init(_ ending: JournalEnding) {
    switch ending {
    case .clean: self = .clean
    case .torn: self = .torn
    case .undetermined(let tail):
      self = .undetermined(
        SessionHistory.Damage(offset: tail.offset, bytes: tail.bytes, sequences: nil))
    case .damaged: self = .damaged
    }
  }
}
