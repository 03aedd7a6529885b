public import Foundation
@_spi(Internals) public import SessionCore
package import SessionJournal

// The records of a journal, for explanations and reports (RPL-8).
extension Session {
  /// Reads what the session's journal holds now: events, notes, a snapshot, and the places at which
  /// records are lost.
  ///
  /// It reads the file without a lock, on a thread of its own. So other operations do not wait for
  /// it. All records that were acknowledged before the call are in the result. It also works after
  /// the session was closed. If another journal has taken the place of this one, it reads that one.
  ///
  /// Damage is no error: the history has what can be read, and `SessionHistory.damage`.
  ///
  /// All records are in memory at once, about one kilobyte each.
  ///
  /// Throws `storage` if the file cannot be read, or if not even its header can be verified.
  /// - Requirement: RPL-8
  public func history() async throws(SessionError) -> SessionHistory {
    try await Self.history(of: configuration)
  }

  /// Reads what the journal of a configuration holds, also if its session cannot be opened.
  ///
  /// It changes nothing and creates nothing. ``history()`` says what the result has.
  ///
  /// Throws `storage` if the file is missing or cannot be read, or if not even its header can be
  /// verified. Throws `refused` if the directory is no file URL with an absolute path.
  /// - Requirement: RPL-8
  public static func history(of configuration: SessionConfiguration)
    async throws(SessionError) -> SessionHistory
  {
    try configuration.checkDirectory()
    return try await read(configuration.journal, configuration)
  }

  /// Reads what a journal holds that was moved aside, such as ``journalSetAside``.
  ///
  /// - Parameters:
  ///   - journal: a file URL of the journal.
  ///   - configuration: how files are read; its own journal is not read.
  ///
  /// Throws as ``history(of:)`` does.
  /// - Requirement: RPL-8, RES-6
  public static func history(at journal: URL, _ configuration: SessionConfiguration)
    async throws(SessionError) -> SessionHistory
  {
    guard journal.isFileURL else {
      // The URL itself may hold a password.
      throw .wrongAddress("the journal is not a file URL")
    }
    return try await read(journal.absoluteURL.path(percentEncoded: false), configuration)
  }

  private static func read(_ path: String, _ configuration: SessionConfiguration)
    async throws(SessionError) -> SessionHistory
  {
    let options = configuration.journalOptions
    // The session's own thread would delay its requests.
    return try await configuration.runtime().result { () throws(SessionError) in
      try SessionHistory(path: path, options)
    }
  }
}

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
private struct HistoryParts {
  private(set) var parts: [SessionHistory.Part] = []
  private var decoder = SessionDecoder()

  /// Takes a whole frame; one whose payload is not what its kind says is lost.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) -> Bool {
    do throws(CodecError) {
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      parts.append(
        .record(
          SessionHistory.Entry(
            record: record, remainingInBatch: frame.remainingInBatch, offset: frame.offset)))
    } catch {
      parts.append(
        .lost(
          SessionHistory.Damage(
            offset: frame.offset, bytes: UInt64(frame.size),
            sequences: frame.sequence...frame.sequence)))
    }
    return true
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
