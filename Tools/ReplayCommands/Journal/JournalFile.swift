@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// A journal that is read from its beginning, as often as a command needs, in bounded memory.
struct JournalFile: Sendable {
  /// What is opened.
  let path: String
  /// What it is called in messages; in quotes where it has spaces.
  let name: String
  /// Whether it came through standard input, wherever it is read from.
  var isStandardInput = false
  /// What ends the command that reads it.
  var interruption = Interruption()

  /// The system's files, of which no more is read when the command is to end.
  var files: WatchedFiles { WatchedFiles(interruption) }

  /// What it is called in JSON: the path as it was given, `-` for standard input.
  var rawName: String { isStandardInput ? "-" : path }

  /// What a pass over the journal came to.
  struct Pass {
    /// Why it ended before the end of the file; `nil` at a clean end, or where the body ended it.
    let fault: JournalFault?
    let header: JournalHeader
    let totals: JournalTotals
    /// Zeros behind the last batch that a writer left for its next ones, in bytes.
    let room: UInt64
    /// How much of the file was looked at, in bytes: what stood in it at the beginning.
    let end: UInt64
    /// Whether somebody has written to it since.
    let isGrowing: Bool
    /// What is lost and what is readable behind the good prefix; only where every frame was visited
    /// and the file does not end cleanly.
    var survey: JournalSurvey?
  }

  /// Hands over each record until `body` says no, or a record cannot be decoded, or the good
  /// prefix ends.
  ///
  /// Where the body ends the pass, what follows is not looked at.
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

  /// Hands over each record's frame and payload, until `body` says no or cannot read it, or the good
  /// prefix ends.
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

  /// Hands over each frame whose checksums hold, decoded or not, and says what follows the last.
  ///
  /// Where the body ends the pass, what follows is not looked at.
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

  /// Opens the file as it is now: what a writer appends from here on is not looked at.
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
