import SessionCore
import SessionJournal

extension SessionRecord {
  /// What a journal's record says of the session; `nil` for the journal's own frames.
  init?(_ raw: JournalRecord, path: String) throws(SessionError) {
    guard !RecordKind.isReserved(raw.kind) else { return nil }
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

extension SessionFold {
  /// Takes in a journal's record while it is read, without an array of it.
  mutating func apply(_ frame: JournalFrame, _ payload: RawSpan, path: String)
    throws(SessionError)
  {
    guard !RecordKind.isReserved(frame.kind) else { return }
    do {
      try apply(
        SessionCodec.decode(sequence: frame.sequence, kind: frame.kind, payload: payload))
    } catch let error as CodecError {
      throw .unusableJournal(path: path, sequence: frame.sequence, problem: error.description)
    } catch let error as SessionFold.Failure {
      throw .unusableJournal(path: path, sequence: frame.sequence, problem: error.description)
    } catch {
      throw .unusableJournal(path: path, sequence: frame.sequence, problem: "\(error)")
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
