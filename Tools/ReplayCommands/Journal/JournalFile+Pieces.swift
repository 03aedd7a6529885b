@_spi(Internals) internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
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
  ///
  /// A record for which `skips` returns `true` is checked, but it is not passed on if it is good.
  func visitPieces(
    surveysDamageOnly: Bool = false, requiresSession: Bool = false,
    skips: (JournalFrame) -> Bool = { _ in false }, _ body: (JournalPiece) -> Bool
  ) throws(ToolError) -> Pass {
    var reader = try open()
    return try visitPieces(
      of: &reader, surveysDamageOnly: surveysDamageOnly, requiresSession: requiresSession,
      skips: skips, body)
  }

  /// Passes on the same from the reader's place on.
  func visitPieces(
    of reader: inout JournalReader, surveysDamageOnly: Bool, requiresSession: Bool = false,
    skips: (JournalFrame) -> Bool = { _ in false }, _ body: (JournalPiece) -> Bool
  ) throws(ToolError) -> Pass {
    var decoder = self.decoder(for: reader.header)
    return try visitPayloads(
      of: &reader, surveysDamageOnly: surveysDamageOnly, requiresSession: requiresSession,
      orDamage: body
    ) { (frame, payload, isBehind) throws(CodecError) in
      guard !skips(frame) else {
        try SessionCodec.check(sequence: frame.sequence, kind: frame.kind, payload: payload)
        return true
      }
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      return body(.record(JournalEntry(record, of: frame), isBehind: isBehind))
    }
  }

  /// Passes on the payload of each record, also of those after damage, until a body returns false.
  ///
  /// If `body` throws, its record is passed on to `damage` as one that cannot be decoded.
  func visitPayloads(
    of reader: inout JournalReader, surveysDamageOnly: Bool, requiresSession: Bool,
    orDamage damage: (JournalPiece) -> Bool,
    _ body: (JournalFrame, RawSpan, _ isBehind: Bool) throws(CodecError) -> Bool
  ) throws(ToolError) -> Pass {
    var visit = PieceVisit(isOther: requiresSession ? nil : false)
    var isGrowing = false
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        visit.take(frame, payload, isBehind: false, body, orDamage: damage)
      }
      guard !visit.isStopped else { return }
      let ending = try reader.frozenEnding(isRead: true)
      isGrowing = try reader.isGrowing(after: ending)
      guard let fault = JournalFault(ending) else {
        visit.first = visit.first ?? original?.fault
        return
      }
      visit.first = visit.first ?? fault
      guard !surveysDamageOnly || fault.code == .damaged else { return }
      let survey = try reader.survey()
      for part in survey.parts where !visit.isStopped {
        switch part {
        case .lost(let range): visit.isStopped = !damage(.lost(range))
        case .readable(let run):
          try reader.visit(run) { frame, payload in
            visit.take(frame, payload, isBehind: true, body, orDamage: damage)
          }
        }
      }
    }
    guard visit.isOther != true else { throw try isNoSession() }
    return Pass(
      fault: visit.first, header: reader.header, totals: reader.totals, room: reader.room,
      end: reader.frozenEnd ?? 0, isGrowing: isGrowing)
  }
}

extension JournalFile {
  /// Reads all frames, and moves the reader to the place from which `why` of the last end must read.
  ///
  /// Returns `nil` and moves the reader to the beginning in these cases:
  ///
  /// - There are few sessions.
  /// - A record is damaged, cannot be folded, or is of a newer version.
  /// - `goesOn` returned `false`; it is called after every 1,024 records.
  func lateSearch(
    in reader: inout JournalReader, spacing: UInt64, while goesOn: () -> Bool = { true }
  ) throws(ToolError) -> WhySearch? {
    var (start, decoder) = (LateStart(spacing: spacing), self.decoder(for: reader.header))
    var isTrusted = true
    var records: UInt32 = 0
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        isTrusted = start.take(
          sequence: frame.sequence, kind: frame.kind, payload: payload,
          endsBatch: frame.remainingInBatch == 0, at: frame.offset
        ) { () throws(CodecError) in
          try decoder.decode(sequence: frame.sequence, kind: frame.kind, payload: payload)
        }
        records &+= 1
        if records & 1023 == 0 { isTrusted = isTrusted && goesOn() }
        return isTrusted
      }
    }
    guard isTrusted, let place = start.place else {
      reader.seekToBeginning()
      return nil
    }
    reader.seek(toFrameAt: place.offset, after: place.sequence)
    return WhySearch(continuing: place, redaction: decoder.redaction)
  }
}

/// The state of a pass over payloads.
///
/// It is a value and not some captured variables, whose accesses are checked for each record.
private struct PieceVisit {
  /// The first fault in the order of the file.
  var first: JournalFault?
  var isStopped = false
  /// Whether the file is a change log; `nil` until the first record says so.
  var isOther: Bool?

  init(isOther: Bool?) { self.isOther = isOther }

  /// Passes on a payload; returns whether the pass goes on.
  @inline(__always)
  mutating func take(
    _ frame: JournalFrame, _ payload: RawSpan, isBehind: Bool,
    _ body: (JournalFrame, RawSpan, _ isBehind: Bool) throws(CodecError) -> Bool,
    orDamage damage: (JournalPiece) -> Bool
  ) -> Bool {
    if isOther == nil { isOther = OtherLog(kind: frame.kind, payload: payload) != nil }
    guard isOther == false else {
      isStopped = true
      return false
    }
    do throws(CodecError) {
      isStopped = !(try body(frame, payload, isBehind || first != nil))
    } catch {
      let place = JournalPlace(sequence: frame.sequence, offset: frame.offset)
      first = first ?? .undecodable(place, error)
      isStopped = !damage(.unreadable(place, bytes: UInt64(frame.size)))
    }
    return !isStopped
  }
}
