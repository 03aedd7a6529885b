@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// A journal that a command reads from its beginning as often as it needs, in bounded memory.
struct JournalFile: Sendable {
  /// The path that is opened.
  var path: String { didSet { knownStatus = nil } }
  /// The file's name in messages, in quotes if it has spaces.
  private(set) var name: String
  /// Whether the journal was given through standard input, whichever file it is read from.
  var isStandardInput = false
  /// What ends the command that reads the journal.
  var interruption = Interruption()
  /// How names in it are shown.
  var redactor = Redactor.none
  /// Whether it was found in a folder, and not named by the user.
  var isFound = false
  /// The status of the file at the path when it was looked for; `nil` if it is not known.
  var knownStatus: FileStatus?
  /// What it was converted from, if the user gave an export or a compressed file.
  var original: ConvertedFile?

  /// Returns another file that is read in the same way.
  func with(path: String) -> JournalFile {
    var file = self
    (file.path, file.name) = (path, path.quotedWhereNeeded)
    return file
  }

  /// The system's files; reads fail once the command must end.
  var files: WatchedFiles { WatchedFiles(interruption) }

  /// The path as the user gave it.
  var givenPath: String { original?.path ?? path }

  /// The file's name in JSON: the path as it was given, or `-` for standard input.
  var rawName: String { isStandardInput ? "-" : givenPath }

  /// The result of a pass over the journal.
  struct Pass {
    /// Why the pass ended before the end of the file; `nil` if the file ends cleanly or the body
    /// ended the pass.
    let fault: JournalFault?
    let header: JournalHeader
    let totals: JournalTotals
    /// Zeros after the last batch that a writer reserved for its next batches, in bytes.
    let room: UInt64
    /// How much of the file was read, in bytes: its size when the pass began.
    let end: UInt64
    /// Whether a writer has appended to the file since.
    let isGrowing: Bool
    /// What is lost and what is readable after the good prefix.
    ///
    /// It is there only if every frame was visited and the file does not end cleanly.
    var survey: JournalSurvey?
  }

  /// Passes on each record in order.
  ///
  /// The pass ends if `body` returns false, a record cannot be decoded, or the good prefix ends. If
  /// the body ends the pass, what follows is not read.
  ///
  /// With `requiresSession` it throws if the first record shows that the file is a change log.
  func visit(requiresSession: Bool = false, _ body: (JournalEntry) -> Bool) throws(ToolError)
    -> Pass
  {
    let reader = try open()
    var decoder = self.decoder(for: reader.header)
    return try visitPayloads(of: reader, requiresSession: requiresSession) {
      (frame, payload) throws(CodecError) in
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      return body(JournalEntry(record, of: frame))
    }
  }

  /// Passes on each record's frame and payload in order.
  ///
  /// The pass ends if `body` returns false or throws, or the good prefix ends. With
  /// `requiresSession` it throws if the first record shows that the file is a change log.
  func visitPayloads(
    requiresSession: Bool = false, _ body: (JournalFrame, RawSpan) throws(CodecError) -> Bool
  ) throws(ToolError) -> Pass {
    try visitPayloads(of: try open(), requiresSession: requiresSession, body)
  }

  /// Returns a decoder of the records of the journal with this header.
  func decoder(for header: JournalHeader) -> RecordDecoder {
    RecordDecoder(redactor.redaction(for: header))
  }

  private func visitPayloads(
    of opened: consuming JournalReader, requiresSession: Bool,
    _ body: (JournalFrame, RawSpan) throws(CodecError) -> Bool
  ) throws(ToolError) -> Pass {
    var isOther: Bool? = requiresSession ? nil : false
    var fault: JournalFault?
    var isStopped = false
    var isGrowing = false
    var reader = opened
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        if isOther == nil { isOther = OtherLog(kind: frame.kind, payload: payload) != nil }
        do throws(CodecError) {
          isStopped = isOther == true ? true : !(try body(frame, payload))
          return !isStopped
        } catch {
          let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
          fault = .undecodable(place, error)
          return false
        }
      }
      guard fault == nil, !isStopped else { return }
      let ending = try reader.frozenEnding(isRead: true)
      fault = JournalFault(ending) ?? original?.fault
      isGrowing = try reader.isGrowing(after: ending)
    }
    guard isOther != true else { throw try isNoSession() }
    return Pass(
      fault: fault, header: reader.header, totals: reader.totals, room: reader.room,
      end: reader.frozenEnd ?? 0, isGrowing: isGrowing)
  }

  /// Passes on each frame whose checksums are valid, decoded or not, and reports what follows the
  /// last one.
  ///
  /// If the body ends the pass, what follows is not read.
  func visitFrames(_ body: (JournalFrame, RawSpan) -> Bool) throws(ToolError) -> Pass {
    var reader = try open()
    var ending = JournalEnding.clean
    var isGrowing = false
    var survey: JournalSurvey?
    var isStopped = false
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        isStopped = !body(frame, payload)
        return !isStopped
      }
      guard !isStopped else { return }
      ending = try reader.frozenEnding(isRead: true)
      isGrowing = try reader.isGrowing(after: ending)
      if ending != .clean { survey = try reader.survey() }
    }
    return Pass(
      fault: JournalFault(ending) ?? (isStopped ? nil : original?.fault), header: reader.header,
      totals: reader.totals,
      room: reader.room, end: reader.frozenEnd ?? 0, isGrowing: isGrowing, survey: survey)
  }

  /// Opens the file at its present size: what a writer appends from now on is not read.
  func open() throws(ToolError) -> JournalReader {
    do throws(JournalError) {
      return try JournalReader(
        path: path, fileSystem: files, isFrozen: true, status: knownStatus)
    } catch {
      throw ToolError(error, in: self)
    }
  }

  func onJournal(_ body: () throws(JournalError) -> Void) throws(ToolError) {
    do throws(JournalError) {
      try body()
    } catch {
      throw ToolError(error, in: self)
    }
  }
}

/// A record and its place in the file.
struct JournalEntry {
  let record: SessionRecord
  let offset: UInt64
  /// How many records of its batch follow it.
  let remainingInBatch: UInt16
  /// The size of its payload, in bytes.
  var size: UInt32 = 0

  var place: JournalPlace { JournalPlace(sequence: record.sequence, offset: offset) }
}

extension JournalEntry {
  /// Creates the entry of a record and the frame that it was decoded from.
  init(_ record: SessionRecord, of frame: JournalFrame) {
    self.init(
      record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch,
      size: frame.payloadLength)
  }
}

extension WhySearch {
  /// Takes the record of an entry; returns whether the search needs another one.
  mutating func take(_ entry: JournalEntry, _ body: (Evidence) -> Void) -> Bool {
    take(entry.record, endsBatch: entry.remainingInBatch == 0, offset: entry.offset, body)
  }
}

extension EvidenceFold {
  /// Folds the record of an entry.
  mutating func take(_ entry: JournalEntry, _ body: (Evidence) -> Void) throws(SessionFold.Failure)
  {
    try take(entry.record, endsBatch: entry.remainingInBatch == 0, body)
  }
}

// Why a selected record is not there; `option` is the option that selects it.
extension JournalFile {
  /// The error if `wanted` comes after the record `last`, which is 0 for a journal without records.
  func beyondTheEnd(_ wanted: UInt64, last: UInt64, option: String) -> ToolError {
    .usage(
      .beyondTheEnd,
      "\(name) has no record @\(wanted); "
        + (last == 0 ? "it has no records." : "the last record is @\(last)."),
      next: last == 0 ? "\(option) @0" : "\(option) @-1")
  }

  /// The error if there are fewer records than `number`.
  func beyondTheStart(_ number: UInt64, option: String) throws(ToolError) -> ToolError {
    var records: UInt64 = 0
    let fault = try visit { _ in
      records += 1
      return true
    }.fault
    if let fault, fault.code == .damaged {
      return fault.error(
        name,
        consequence:
          "No state is shown: \(count(records, "good record")) can be read, and @-\(number) "
          + "is none of them.")
    }
    return .usage(
      .beyondTheStart,
      "\(name) has no record @-\(number); "
        + (records == 0 ? "it has no records." : "it has \(count(records, "record"))."),
      next: records == 0 ? "\(option) @0" : "\(option) @-\(records)")
  }

  /// The error if a selected time is before the first record, when nothing was recorded yet.
  func beforeTheFirst(_ zone: DisplayZone, option: String) throws(ToolError) -> ToolError {
    var first: SessionRecord?
    _ = try visit { entry in
      first = entry.record
      return false
    }
    if case .snapshot? = first?.content, let first {
      return isCompacted(through: first.sequence, option: option)
    }
    guard let first else {
      return .usage(.beyondTheStart, "\(name) has no records.", next: "\(option) @0")
    }
    return .usage(
      .beyondTheStart,
      "\(name) has no record at that time or before; the first one is of "
        + "\(zone.text(first.time)).",
      next: "\(option) @\(first.sequence)")
  }

  /// The error if a selected record was removed by a compaction.
  func isCompacted(through sequence: UInt64, option: String) -> ToolError {
    .usage(
      .compacted,
      "\(name) begins with a snapshot of the records up to @\(sequence); what they were, one by "
        + "one, is no longer in it.",
      next: "\(option) @\(sequence), or later")
  }
}

extension JournalFile {
  /// Returns what it is by the first readable record; `nil` for a session's, and without records.
  func otherLog() throws(ToolError) -> OtherLog? {
    var found: OtherLog??
    var reader = try open()
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        found = .some(OtherLog(kind: frame.kind, payload: payload))
        return false
      }
      // The first record may be damaged. A later one also shows what kind of file it is.
      guard found == nil, case .damaged = try reader.frozenEnding(),
        let run = try reader.survey().runs.first
      else { return }
      try reader.visit(run) { frame, payload in
        found = .some(OtherLog(kind: frame.kind, payload: payload))
        return false
      }
    }
    return found ?? nil
  }

  /// Rejects a file of another kind if the command is about a session.
  func requireSession() throws(ToolError) {
    if try otherLog() != nil { throw try isNoSession() }
  }

  /// Returns the files that hold sessions.
  ///
  /// If there are both, notes name the others. If none does, it throws.
  static func sessions(
    among files: [JournalFile], _ display: DisplayOptions, _ context: ToolContext
  ) throws(ToolError) -> [JournalFile] {
    var sessions: [JournalFile] = []
    var others: [JournalFile] = []
    for file in files {
      var other: OtherLog?
      do throws(ToolError) {
        other = try file.otherLog()
      } catch {
        // The command that reads the file reports what is wrong with it.
      }
      if other == nil { sessions.append(file) } else { others.append(file) }
    }
    if sessions.isEmpty, let first = others.first { throw try first.isNoSession() }
    if !display.isJSON {
      for file in others { context.errors.write(try file.leftOut()) }
    }
    return sessions
  }

  /// The note about a file of a folder that is no export.
  var isNoExport: String {
    "Note: \(name.printable) is no export and is left out.\n"
  }

  /// Whether a failure to read the file shows only that it is no export.
  ///
  /// Many programs write lines of JSON, this one too. So such a file in a folder is no damage.
  func isForeign(_ error: ToolError) -> Bool {
    guard isFound, givenPath.hasSuffix(".jsonl") else { return false }
    return error.name == .empty || error.name == .notAJournal
  }

  /// Returns the note about another file among journals of sessions.
  func leftOut() throws(ToolError) -> String {
    let what = (try otherLog()?.kind ?? .changes).text
    return "Note: \(name.printable) is \(what) and is left out: it holds no session.\n"
  }

  /// Returns the error of a command about a session that was given another file.
  func isNoSession() throws(ToolError) -> ToolError {
    let what =
      try otherLog()?.kind == .accounts
      ? "a list of accounts" : "a change log: what waits to be sent"
    return .usage(
      .changeLog, "\(name) is \(what), and no session.",
      next: isStandardInput
        ? "sessionreplay state -, on the same input"
        : "sessionreplay state \(name); timeline, follow and verify know it too")
  }
}
