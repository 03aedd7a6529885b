@_spi(Internals) import SessionCore
import SessionJournal

/// What can still be read of a journal that was quarantined or is about to be.
///
/// - Requirement: RES-6
struct QuarantinedJournal: Sendable {
  // Repair in place was rejected: the journal's identifier would name two histories. So was a new
  // journal that begins with the readable state. After the damage the user may have logged out and
  // another one logged in, and the stored token would be taken for the first user's.

  /// The path of the file.
  let path: String
  /// The note with which the new journal refers to this one.
  let link: SessionNote.Continued
  /// The state to which its complete prefix folds.
  private(set) var state = SessionState.unauthenticated
  /// The last generation whose session was ended by an event that can be read.
  private(set) var ended = Generation.none
  /// Whether an event after the lost part can be read.
  private(set) var hasLaterEvents = false

  /// Reads what can be read and changes nothing.
  ///
  /// A gap proves nothing about the records that it hides.
  ///
  /// Returns `nil` if the journal can be used. Throws if the file cannot be read at all.
  static func read(_ path: String, _ options: JournalOptions)
    throws(SessionError) -> QuarantinedJournal?
  {
    do throws(JournalError) {
      var reader = try JournalReader(path: path, fileSystem: options.fileSystem)
      var reading = Reading()
      try reader.visit { frame, payload in
        reading.take(frame, payload)
        return true
      }
      let last = reading.lastSequence
      let survey = try reader.survey()
      guard let cause = reading.cause ?? survey.cause else { return nil }
      for run in survey.runs {
        reading.cross()
        try reader.visit(run) { frame, payload in
          reading.watch(frame, payload)
          return true
        }
      }
      if survey.rest != nil { reading.loseTrack() }
      let link = SessionNote.Continued(
        journal: Identifier(reader.identifier.description), sequence: last, cause: cause)
      return QuarantinedJournal(path: path, link: link, reading)
    } catch {
      guard let cause = SessionNote.ContinuationCause(error) else { throw .journal(error) }
      return QuarantinedJournal(
        path: path, link: SessionNote.Continued(journal: nil, sequence: 0, cause: cause),
        Reading())
    }
  }

  private init(path: String, link: SessionNote.Continued, _ reading: Reading) {
    (self.path, self.link) = (path, link)
    state = reading.state
    (ended, hasLaterEvents) = (reading.ended, reading.hasLaterEvents)
  }
}

/// Collects the findings, one record at a time.
private struct Reading {
  private var fold = PayloadFold()
  private(set) var cause: SessionNote.ContinuationCause?
  private(set) var ended = Generation.none
  private(set) var hasLaterEvents = false
  /// The newest generation; `nil` if a gap may hide a newer one.
  private var newest: Generation? = Generation.none

  /// The sequence of the last record before the first one that cannot be folded.
  var lastSequence: UInt64 { fold.sequence }

  /// The state of the prefix, as far as it can be folded.
  var state: SessionState {
    do throws(CodecError) {
      return try fold.fold().state
    } catch {
      // The payload was checked when it was read. If it still cannot be folded, nothing is known.
      return .unauthenticated
    }
  }

  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    if cause == nil {
      do throws(PayloadFold.Failure) {
        try fold.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
      } catch {
        cause = error.isOfNewerVersion ? .newerVersion : .damaged
        cross()
      }
    }
    watch(frame, payload)
  }

  /// Passes a gap.
  ///
  /// The gap may hide newer tokens.
  mutating func cross() { newest = nil }

  /// Treats every session as ended, because too much was not examined.
  mutating func loseTrack() { ended = Generation(.max) }

  mutating func watch(_ frame: JournalFrame, _ payload: RawSpan) {
    let content: SessionRecord.Content
    do throws(CodecError) {
      content = try SessionCodec.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload
      ).content
    } catch {
      return cross()
    }
    switch content {
    case .event(let event): watch(event)
    case .snapshot(let fold):
      newest = fold.generation
      if fold.state.kind != .authenticated { ended = fold.generation }
    case .unknown(let unknown): if !unknown.isIgnorable { cross() }
    case .note: break
    }
  }

  private mutating func watch(_ event: SessionEvent) {
    if newest == nil { hasLaterEvents = true }
    if let token = event.announcedToken?.generation { newest = token }
    switch event {
    case .login(let login):
      // Every session before this login is over, but this one is not.
      let before = login.token.generation.number
      ended = Generation(before == 0 ? 0 : before - 1)
    case .sessionExpired, .logout:
      ended = newest ?? Generation(.max)
    case .refreshSucceeded, .refreshFailed, .contextSwitched:
      break
    }
  }
}

extension PayloadFold.Failure {
  fileprivate var isOfNewerVersion: Bool {
    if case .refused(.unknownKind) = self { true } else { false }
  }
}

extension JournalSurvey {
  fileprivate var cause: SessionNote.ContinuationCause? {
    if case .damaged = ending { .damaged } else { nil }
  }
}

extension SessionNote.ContinuationCause {
  /// Creates the reason why a journal cannot be used; `nil` if the error does not say so.
  init?(_ error: JournalError) {
    switch error {
    case .empty, .notAJournal: self = .notAJournal
    case .headerDamaged, .damaged: self = .damaged
    case .newerFormat, .unknownFeatures: self = .newerVersion
    default: return nil
    }
  }
}
