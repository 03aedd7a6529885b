import Foundation
@_spi(Internals) import SessionCore
import SessionJournal

@testable import ReplayCommands
@testable import SessionExplain

/// A journal's records with their batches, and the answers about them.
struct WhyRun {
  var entries: [JournalEntry] = []

  init(_ entries: [JournalEntry]) {
    self.entries = entries
  }

  /// Records that were each written alone.
  init(_ records: [SessionRecord]) {
    entries = records.map { JournalEntry(record: $0, offset: 0, remainingInBatch: 0) }
  }

  init(bytes: [UInt8]) throws {
    var reader = try JournalReader(bytes: bytes)
    var found: [JournalEntry] = []
    try reader.visit { frame, payload in
      do {
        let record = try SessionCodec.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        found.append(
          JournalEntry(
            record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch))
      } catch {
        return false
      }
      return true
    }
    entries = found
  }

  init(_ cause: Cause) throws {
    let file = RecordedJournal.folder.appending(path: "\(cause.id).journal")
    try self.init(bytes: Array(Data(contentsOf: file)))
  }

  /// Every end, and the state of the session after the last record that can be folded.
  func explanations() -> (ends: [Explanation], open: Explanation) {
    var fold = EvidenceFold()
    var ends: [Explanation] = []
    for entry in entries {
      do {
        try fold.take(entry) { ends.append(Explainer.explain($0)) }
      } catch {
        break
      }
    }
    let open = fold.finish { ends.append(Explainer.explain($0)) }
    return (ends, Explainer.explain(open))
  }

  /// The answer of `why`: about the last end, the state of the session, or a record.
  func answer(at sequence: UInt64? = nil) -> Explanation {
    var search = WhySearch(target: sequence)
    for entry in entries {
      guard search.take(entry, { _ in }) else { break }
    }
    var found: Explanation?
    let open = search.finish(damagedAt: nil) { found = Explainer.explain($0) }
    return found ?? open.map { Explainer.explain($0) } ?? explanations().open
  }

  /// The same records with changed contents, without those that a change removes.
  func edited(_ change: (SessionRecord) -> SessionRecord?) -> WhyRun {
    WhyRun(
      entries.compactMap { entry in
        change(entry.record).map {
          JournalEntry(
            record: $0, offset: entry.offset, remainingInBatch: entry.remainingInBatch)
        }
      })
  }
}

extension SessionRecord {
  func with(_ content: Content) -> SessionRecord {
    SessionRecord(sequence: sequence, time: time, content: content)
  }

  /// The record with another failure, if it names one.
  func failing(_ change: (RequestFailure) -> RequestFailure) -> SessionRecord {
    switch content {
    case .event(.refreshFailed(let failed)):
      return with(
        .event(
          .refreshFailed(
            .init(
              generation: failed.generation, trigger: failed.trigger, attempt: failed.attempt,
              failure: change(failed.failure), retryAt: failed.retryAt, request: failed.request))))
    case .note(.requestEnded(let ended)):
      return with(
        .note(.requestEnded(.init(request: ended.request, failure: change(ended.failure)))))
    case .event, .note, .snapshot, .unknown:
      return self
    }
  }

  /// The record with another deadline, if it belongs to a request.
  func due(_ change: (Timestamp) -> Timestamp) -> SessionRecord {
    guard case .note(.requestSent(let sent)) = content else { return self }
    return with(
      .note(
        .requestSent(
          .init(
            kind: sent.kind, generation: sent.generation, trigger: sent.trigger,
            attempt: sent.attempt, process: sent.process, deadline: change(sent.deadline),
            identity: sent.identity))))
  }
}
