@_spi(Internals) import SessionCore
import SessionJournal

/// A journal that was set aside, or is about to be: what can still be read of it.
///
/// - Requirement: RES-6
struct QuarantinedJournal: Sendable {
  /// Where it lies.
  let path: String
  /// What the new journal says of it.
  let link: SessionNote.Continued
  /// The state that its whole prefix folds to.
  private(set) var state = SessionState.unauthenticated
  /// The tokens up to this one were ended, by an event that can be read.
  private(set) var ended = Generation.none
  /// Whether an event can be read behind what is lost.
  private(set) var hasLaterEvents = false

  /// Reads what can be read; nothing is changed, and nothing is taken for told that a gap hides.
  ///
  /// Throws where the file cannot be read at all; `nil` where it is a journal that can be used.
  static func read(_ path: String, _ options: Journal.Options)
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

/// What is learnt record by record.
private struct Reading {
  private var fold = PayloadFold()
  private(set) var cause: SessionNote.ContinuationCause?
  private(set) var ended = Generation.none
  private(set) var hasLaterEvents = false
  /// The newest token, where no gap may hide a newer one.
  private var newest: Generation? = Generation.none

  /// The last record before one that cannot be folded.
  var lastSequence: UInt64 { fold.sequence }

  /// The state of the whole prefix, as far as it folds.
  var state: SessionState {
    do throws(CodecError) {
      return try fold.fold().state
    } catch {
      // Checked when it was taken in; were it not readable, nothing would be known.
      return .unauthenticated
    }
  }

  mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
    guard RecordKind.isOfSession(frame.kind) else { return }
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

  /// Passes what is lost: tokens may have come in it.
  mutating func cross() { newest = nil }

  /// So much is not looked at that anything may have ended.
  mutating func loseTrack() { ended = Generation(.max) }

  mutating func watch(_ frame: JournalFrame, _ payload: RawSpan) {
    guard RecordKind.isOfSession(frame.kind) else { return }
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
      // Whatever came before it is over, and it is not.
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
  /// Why a journal cannot be used; `nil` where the error says nothing of the kind.
  init?(_ error: JournalError) {
    switch error {
    case .empty, .notAJournal: self = .notAJournal
    case .headerDamaged, .damaged: self = .damaged
    case .newerFormat, .unknownFeatures: self = .newerVersion
    default: return nil
    }
  }
}
