@_spi(Internals) import SessionCore
package import SessionJournal

extension SessionRecord {
  /// Decodes a journal's record.
  init(_ raw: JournalRecord, path: String) throws(SessionError) {
    do {
      self = try SessionCodec.decode(
        sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
    } catch {
      throw .unusableJournal(path: path, sequence: raw.sequence, problem: error.description)
    }
  }
}

extension JournalDraft {
  /// Creates the draft of a session's record.
  init(_ content: SessionRecord.Content, at time: Timestamp) {
    let (kind, payload) = SessionCodec.encode(content, at: time)
    self.init(kind: kind, payload: payload)
  }
}

extension JournalFrame {
  /// Returns how many bytes of the file a payload of this length takes.
  package static func bytes(of payload: Int) -> UInt64 { UInt64(headerSize + padded(payload)) }
}

extension PayloadFold {
  /// Folds in a journal's record while the journal is read.
  ///
  /// Returns when it was written.
  mutating func apply(_ header: RecordHeader, _ payload: RawSpan, path: String)
    throws(SessionError) -> Timestamp
  {
    do throws(PayloadFold.Failure) {
      return try apply(sequence: header.sequence, kind: header.kind, payload: payload)
    } catch {
      throw .unusableJournal(path: path, sequence: header.sequence, problem: error.description)
    }
  }

  /// Returns the fold of all records that were read from the journal at `path`.
  func fold(path: String) throws(SessionError) -> SessionFold {
    do throws(CodecError) {
      return try fold()
    } catch {
      throw .unusableJournal(path: path, sequence: sequence, problem: error.description)
    }
  }
}

extension LastEnd {
  /// Takes in a journal's record while the journal is read, if it affects an end.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan) {
    guard LastEnd.reads(header.kind) else { return }
    do {
      take(try SessionCodec.decode(sequence: header.sequence, kind: header.kind, payload: payload))
    } catch {
      // The fold of the same record reports what is wrong with it.
    }
  }
}

extension PendingDataClearing {
  /// Takes in a journal's record while the journal is read, if it affects the clearing of data.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan) {
    guard PendingDataClearing.reads(header.kind) else { return }
    do {
      let bytes = payload.withUnsafeBytes { Array($0) }
      take(
        try SessionCodec.decode(sequence: header.sequence, kind: header.kind, payload: bytes)
          .content)
    } catch {
      // The fold of the same record reports what is wrong with it.
    }
  }
}

extension EndedProcesses {
  /// Takes in a journal's record while the journal is read.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan) {
    let isLast = header.remainingInBatch == 0
    // Most payloads need no decoding here.
    guard header.kind == SessionEvent.Kind.refreshFailed.rawValue else {
      return take(kind: header.kind, isLast: isLast)
    }
    do {
      let bytes = payload.withUnsafeBytes { Array($0) }
      take(
        try SessionCodec.decode(sequence: header.sequence, kind: header.kind, payload: bytes)
          .content,
        isLast: isLast)
    } catch {
      // The fold of the same record reports what is wrong with it.
    }
  }
}

/// The last opening that the journal notes.
struct LastOpening: Sendable {
  private var payload: [UInt8]?
  private var time = Timestamp(milliseconds: 0)

  /// Takes in a journal's record while the journal is read.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan, at time: Timestamp) {
    guard header.kind == SessionNote.Kind.opened.rawValue else { return }
    (self.payload, self.time) = (payload.withUnsafeBytes { Array($0) }, time)
  }

  /// Returns whether the civil clock was set since then, by the clock that never jumps in the same boot.
  func isClockSet(at now: ClockReading, boot: Identifier?) -> Bool {
    guard let payload, let boot else { return false }
    do throws(CodecError) {
      let kind = SessionNote.Kind.opened.rawValue
      let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
      guard case .note(.opened(let opened)) = record.content, opened.boot == boot,
        now.uptime >= opened.uptime
      else { return false }
      let drift = now.time.milliseconds(since: time)
        .subtractingSaturating(now.uptime.subtractingSaturating(opened.uptime))
      // Readers of the journal take less for the time that processes need.
      return drift.magnitude > 60_000
    } catch {
      // The fold of the same record reports what is wrong with it.
      return false
    }
  }
}

/// The last openings before the journal's present token: one of their processes stored it.
struct TokenStorers: Sendable {
  /// The payloads of the openings, oldest first.
  private var openings: [[UInt8]] = []
  /// The number of openings that are older than the token.
  private var olderCount = 0

  /// Takes in a journal's record while the journal is read.
  mutating func take(_ header: RecordHeader, _ payload: RawSpan) {
    switch header.kind {
    case SessionNote.Kind.opened.rawValue:
      if openings.count == 64 {
        openings.removeFirst()
        olderCount = max(0, olderCount - 1)
      }
      openings.append(payload.withUnsafeBytes { Array($0) })
    case SessionEvent.Kind.login.rawValue, SessionEvent.Kind.refreshSucceeded.rawValue,
      SessionEvent.Kind.contextSwitched.rawValue:
      olderCount = openings.count
    default: break
    }
  }

  /// Returns whether any of them is proven to be alive.
  func isAnyAlive(_ presence: OpeningPresence) -> Bool {
    openings.prefix(olderCount).contains { payload in
      do throws(CodecError) {
        let kind = SessionNote.Kind.opened.rawValue
        let record = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
        guard case .note(.opened(let opened)) = record.content, let identity = opened.identity
        else { return false }
        return presence.isAlive(identity, opened.process)
      } catch {
        // The fold of the same record reports what is wrong with it.
        return false
      }
    }
  }
}
