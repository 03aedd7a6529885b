@_spi(Internals) import SessionCore
package import SessionJournal

extension SessionRecord {
  /// What a journal's record says of the session; `nil` for the journal's own frames.
  init?(_ raw: JournalRecord, path: String) throws(SessionError) {
    guard RecordKind.isOfSession(raw.kind) else { return nil }
    do {
      self = try SessionCodec.decode(
        sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
    } catch {
      throw .unusableJournal(path: path, sequence: raw.sequence, problem: error.description)
    }
  }
}

extension JournalDraft {
  /// The draft of a session's record.
  init(_ content: SessionRecord.Content, at time: Timestamp) {
    let (kind, payload) = SessionCodec.encode(content, at: time)
    self.init(kind: kind, payload: payload)
  }
}

extension RecordKind {
  /// Whether the payload is the session's: every record, and the snapshot.
  package static func isOfSession(_ kind: UInt8) -> Bool { kind == snapshot || !isReserved(kind) }
}

extension JournalFrame {
  /// How many bytes of the file a payload of this length takes.
  package static func bytes(of payload: Int) -> UInt64 { UInt64(headerSize + padded(payload)) }
}

extension PayloadFold {
  /// Takes in a journal's record while it is read; when it was written, or `nil` for the journal's
  /// own frames.
  mutating func apply(_ frame: JournalFrame, _ payload: RawSpan, path: String)
    throws(SessionError) -> Timestamp?
  {
    guard RecordKind.isOfSession(frame.kind) else { return nil }
    do throws(PayloadFold.Failure) {
      return try apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
    } catch {
      throw .unusableJournal(path: path, sequence: frame.sequence, problem: error.description)
    }
  }

  /// All that was taken in from the journal at `path`, folded.
  func fold(path: String) throws(SessionError) -> SessionFold {
    do throws(CodecError) {
      return try fold()
    } catch {
      throw .unusableJournal(path: path, sequence: sequence, problem: error.description)
    }
  }
}

extension SessionNote.TailCut {
  /// What a journal's recovery cut off; `nil` where it cut nothing.
  init?(_ ending: JournalEnding) {
    switch ending {
    case .clean, .damaged: return nil
    case .torn(let tail): self.init(bytes: tail.bytes, isUndetermined: false)
    case .undetermined(let tail): self.init(bytes: tail.bytes, isUndetermined: true)
    }
  }
}

extension LastEnd {
  /// Takes in a journal's record while it is read, if it says anything of an end.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    guard LastEnd.reads(frame.kind) else { return }
    do {
      take(try SessionCodec.decode(sequence: frame.sequence, kind: frame.kind, payload: payload))
    } catch {
      // The fold of the same record reports what is wrong with it.
    }
  }
}

extension PendingDataClearing {
  /// Takes in a journal's record while it is read, where it says anything of it.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    guard PendingDataClearing.reads(frame.kind) else { return }
    do {
      let bytes = payload.withUnsafeBytes { Array($0) }
      take(
        try SessionCodec.decode(sequence: frame.sequence, kind: frame.kind, payload: bytes).content)
    } catch {
      // Whoever folds the same record says what is wrong with it.
    }
  }
}

extension EndedProcesses {
  /// Takes in a journal's record while it is read.
  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    guard RecordKind.isOfSession(frame.kind) else { return }
    let isLast = frame.remainingInBatch == 0
    // Most of the payloads say nothing of it.
    guard frame.kind == SessionEvent.Kind.refreshFailed.rawValue else {
      return take(kind: frame.kind, isLast: isLast)
    }
    do {
      let bytes = payload.withUnsafeBytes { Array($0) }
      take(
        try SessionCodec.decode(sequence: frame.sequence, kind: frame.kind, payload: bytes).content,
        isLast: isLast)
    } catch {
      // The fold of the same record reports what is wrong with it.
    }
  }
}
