@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// A journal that a command reads from its beginning as often as it needs, in bounded memory.
struct JournalFile: Sendable {
  /// The path that is opened.
  let path: String
  /// The file's name in messages, in quotes if it has spaces.
  let name: String
  /// Whether the journal was given through standard input, whichever file it is read from.
  var isStandardInput = false
  /// What ends the command that reads the journal.
  var interruption = Interruption()

  /// The system's files; reads fail once the command must end.
  var files: WatchedFiles { WatchedFiles(interruption) }

  /// The file's name in JSON: the path as it was given, or `-` for standard input.
  var rawName: String { isStandardInput ? "-" : path }

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
  func visit(_ body: (JournalEntry) -> Bool) throws(ToolError) -> Pass {
    var decoder = SessionDecoder()
    return try visitPayloads { (frame, payload) throws(CodecError) in
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      return body(
        JournalEntry(
          record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch,
          size: frame.payloadLength))
    }
  }

  /// Passes on each record's frame and payload in order.
  ///
  /// The pass ends if `body` returns false or throws, or the good prefix ends.
  func visitPayloads(
    _ body: (JournalFrame, RawSpan) throws(CodecError) -> Bool
  ) throws(ToolError) -> Pass {
    var fault: JournalFault?
    var isStopped = false
    var isGrowing = false
    var reader = try open()
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        do throws(CodecError) {
          isStopped = !(try body(frame, payload))
          return !isStopped
        } catch {
          let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
          fault = .undecodable(place, error)
          return false
        }
      }
      guard fault == nil, !isStopped else { return }
      let ending = try reader.frozenEnding()
      fault = JournalFault(ending)
      isGrowing = try reader.isGrowing(behind: ending)
    }
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
    try onJournal { () throws(JournalError) in
      var isStopped = false
      try reader.visit { frame, payload in
        isStopped = !body(frame, payload)
        return !isStopped
      }
      guard !isStopped else { return }
      ending = try reader.frozenEnding()
      isGrowing = try reader.isGrowing(behind: ending)
      if ending != .clean { survey = try reader.survey() }
    }
    return Pass(
      fault: JournalFault(ending), header: reader.header, totals: reader.totals,
      room: reader.room, end: reader.frozenEnd ?? 0, isGrowing: isGrowing, survey: survey)
  }

  /// Opens the file at its present size: what a writer appends from now on is not read.
  func open() throws(ToolError) -> JournalReader {
    do throws(JournalError) {
      return try JournalReader(path: path, fileSystem: files, isFrozen: true)
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
