internal import SessionCore
internal import SessionJournal

/// A journal that is read from its beginning, as often as a command needs, in bounded memory.
struct JournalFile: Sendable {
  /// What is opened.
  let path: String
  /// What it is called in messages; in quotes where it has spaces.
  let name: String

  /// What a pass over the journal came to.
  struct Pass {
    /// Why it ended before the end of the file; `nil` at a clean end, or where the body ended it.
    let fault: JournalFault?
    let header: JournalHeader
    let totals: JournalTotals
    /// Zeros behind the last batch that a writer left for its next ones, in bytes.
    let room: UInt64
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
          record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch))
    }
  }

  /// Hands over each record's frame and payload, until `body` says no or cannot read it, or the good
  /// prefix ends.
  func visitPayloads(
    _ body: (JournalFrame, RawSpan) throws(CodecError) -> Bool
  ) throws(ToolError) -> Pass {
    var fault: JournalFault?
    var isStopped = false
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
      if fault == nil, !isStopped { fault = JournalFault(try reader.ending()) }
    }
    return Pass(
      fault: fault, header: reader.header, totals: reader.totals, room: reader.room)
  }

  /// Hands over each frame whose checksums hold, decoded or not, and says what follows the last.
  func visitFrames(_ body: (JournalFrame, RawSpan) -> Void) throws(ToolError) -> Pass {
    var reader = try open()
    var ending = JournalEnding.clean
    var survey: JournalSurvey?
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        body(frame, payload)
        return true
      }
      ending = try reader.ending()
      if ending != .clean { survey = try reader.survey() }
    }
    return Pass(
      fault: JournalFault(ending), header: reader.header, totals: reader.totals,
      room: reader.room, survey: survey)
  }

  private func open() throws(ToolError) -> JournalReader {
    do throws(JournalError) {
      return try JournalReader(path: path)
    } catch {
      throw ToolError(error, in: self)
    }
  }

  private func onJournal(_ body: () throws(JournalError) -> Void) throws(ToolError) {
    do throws(JournalError) {
      try body()
    } catch {
      throw ToolError(error, in: self)
    }
  }
}
