@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// A part of a file that a pass over the whole file meets, good or not.
enum JournalPiece {
  case record(JournalEntry, isBehind: Bool)
  /// A record with a valid checksum whose payload is not what its kind requires.
  case unreadable(JournalPlace, bytes: UInt64)
  /// A range that cannot be read at all.
  case lost(LostRange)
}

extension JournalFile {
  /// Passes on the good prefix, and then what can be read after it, until `body` returns false.
  ///
  /// The pass holds the first fault in the order of the file. With `surveysDamageOnly`, nothing
  /// that follows an unfinished or undetermined commit is passed on. With `requiresSession` it throws
  /// if the first readable record shows that the file is a change log.
  func visitPieces(
    surveysDamageOnly: Bool = false, requiresSession: Bool = false, _ body: (JournalPiece) -> Bool
  ) throws(ToolError) -> Pass {
    var reader = try open()
    return try visitPieces(
      of: &reader, surveysDamageOnly: surveysDamageOnly, requiresSession: requiresSession, body)
  }

  /// Passes on the same from the reader's place on.
  func visitPieces(
    of reader: inout JournalReader, surveysDamageOnly: Bool, requiresSession: Bool = false,
    _ body: (JournalPiece) -> Bool
  ) throws(ToolError) -> Pass {
    var decoder = self.decoder(for: reader.header)
    var first: JournalFault?
    var isStopped = false
    var isOther: Bool? = requiresSession ? nil : false
    func take(_ frame: JournalFrame, _ payload: RawSpan, isBehind: Bool) -> Bool {
      if isOther == nil { isOther = ChangeCodec.owns(kind: frame.kind, payload: payload) }
      guard isOther == false else {
        isStopped = true
        return false
      }
      do throws(CodecError) {
        let record = try decoder.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        let entry = JournalEntry(
          record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch,
          size: frame.payloadLength)
        isStopped = !body(.record(entry, isBehind: isBehind || first != nil))
      } catch {
        let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
        first = first ?? .undecodable(place, error)
        isStopped = !body(.unreadable(place, bytes: UInt64(frame.size)))
      }
      return !isStopped
    }
    var isGrowing = false
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in take(frame, payload, isBehind: false) }
      guard !isStopped else { return }
      let ending = try reader.frozenEnding()
      isGrowing = try reader.isGrowing(after: ending)
      guard let fault = JournalFault(ending) else {
        first = first ?? original?.fault
        return
      }
      first = first ?? fault
      guard !surveysDamageOnly || fault.code == .damaged else { return }
      let survey = try reader.survey()
      for part in survey.parts where !isStopped {
        switch part {
        case .lost(let range): isStopped = !body(.lost(range))
        case .readable(let run):
          try reader.visit(run) { frame, payload in take(frame, payload, isBehind: true) }
        }
      }
    }
    guard isOther != true else { throw isNoSession }
    return Pass(
      fault: first, header: reader.header, totals: reader.totals, room: reader.room,
      end: reader.frozenEnd ?? 0, isGrowing: isGrowing)
  }
}
