import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit

@testable import ReplayCommands
@testable import SessionExplain

/// A small history that is built record by record; times are seconds after its beginning.
struct WhyHistory {
  private var entries: [JournalEntry] = []
  private var next: UInt64 = 1

  /// A history in which process 100 has opened the journal and a user has signed in with `tok#1`.
  init(isRefreshable: Bool = true) {
    add(0, .opened(100, at: 0))
    add(0, .login(1, at: 0, isRefreshable: isRefreshable))
  }

  /// A history without any record.
  static var empty: WhyHistory {
    var history = WhyHistory()
    (history.entries, history.next) = ([], 1)
    return history
  }

  var run: WhyRun { WhyRun(entries) }

  /// The answer of `why`.
  func answer(at sequence: UInt64? = nil) -> Explanation { run.answer(at: sequence) }

  /// The same if acknowledged bytes after the last record may be unreadable.
  func damagedAnswer() -> Explanation {
    var fold = EvidenceFold()
    var ends: [Evidence] = []
    for entry in entries { do { try fold.take(entry) { ends.append($0) } } catch { break } }
    return Explainer.explain(fold.finish(damagedAt: 999) { ends.append($0) })
  }

  /// Adds one batch and returns the sequence of its first record.
  @discardableResult
  mutating func add(_ seconds: Int64, _ contents: SessionRecord.Content...) -> UInt64 {
    add(seconds, contents)
  }

  @discardableResult
  mutating func add(_ seconds: Int64, _ contents: [SessionRecord.Content]) -> UInt64 {
    let first = next
    for (index, content) in contents.enumerated() {
      let record = SessionRecord(sequence: next, time: Self.time(seconds), content: content)
      entries.append(
        JournalEntry(
          record: record, offset: 0, remainingInBatch: UInt16(contents.count - 1 - index)))
      next += 1
    }
    return first
  }

  /// A request that is sent and fails a second later; returns its sequence.
  @discardableResult
  mutating func attempt(
    _ seconds: Int64, _ failure: RequestFailure, of generation: UInt64 = 1, by process: UInt32 = 100
  ) -> UInt64 {
    let request = add(seconds, .sent(generation, by: process, until: seconds + 6))
    add(seconds + 1, .failed(failure, of: generation, request, retry: seconds + 10))
    return request
  }

  /// A request that the server refuses permanently, and the end of the session with it.
  mutating func refuse(
    _ seconds: Int64, _ code: String?, of generation: UInt64 = 1, by process: UInt32 = 100
  ) {
    let request = add(seconds, .sent(generation, by: process, until: seconds + 6))
    end(
      seconds + 1, RequestFailure(kind: .rejected, status: 401, serverCode: code), generation,
      request)
  }

  /// The end of the session by the response to a request.
  mutating func end(
    _ seconds: Int64, _ failure: RequestFailure, _ generation: UInt64, _ request: UInt64
  ) {
    add(
      seconds, .failed(failure, of: generation, request),
      .event(.sessionExpired(.init(reason: .refreshRejected))),
      .event(.logout(.init(reason: .policy))))
  }

  /// Replaces all records by a snapshot.
  mutating func compact() throws {
    var fold = SessionFold()
    for entry in entries { try fold.apply(entry.record) }
    let time = entries.last?.record.time ?? Self.time(0)
    let snapshot = SessionRecord(sequence: fold.sequence, time: time, content: .snapshot(fold))
    entries = [JournalEntry(record: snapshot, offset: 64, remainingInBatch: 0)]
  }

  // MARK: Records

  static func time(_ seconds: Int64) -> Timestamp {
    Timestamp(milliseconds: 1_767_225_600_000 + seconds * 1_000)
  }

  static func token(_ generation: UInt64, at seconds: Int64, isRefreshable: Bool = true)
    -> TokenMetadata
  { .issued(generation, at: time(seconds), isRefreshable: isRefreshable) }
}

/// Contents of records by seconds of a ``WhyHistory``.
extension SessionRecord.Content {
  static func opened(_ process: UInt32, at seconds: Int64, boot: Identifier? = "first") -> Self {
    .opened(by: process, boot: boot, uptime: 10_000 + seconds * 1_000)
  }

  static func login(_ generation: UInt64, at seconds: Int64, isRefreshable: Bool = true) -> Self {
    .login("u1", WhyHistory.token(generation, at: seconds, isRefreshable: isRefreshable))
  }

  static func sent(
    _ generation: UInt64, by process: UInt32 = 100, until seconds: Int64,
    kind: RequestKind = .refresh
  ) -> Self { .sent(generation, by: process, until: WhyHistory.time(seconds), .manual, kind: kind) }

  static func failed(
    _ failure: RequestFailure, of generation: UInt64 = 1, _ request: UInt64, retry: Int64? = nil
  ) -> Self { .failed(failure, generation, request, retryAt: retry.map(WhyHistory.time), .manual) }

  static func succeeded(_ generation: UInt64, at seconds: Int64, _ request: UInt64) -> Self {
    .refreshed(WhyHistory.token(generation, at: seconds), request, .manual)
  }

  static func reauthenticated(_ generation: UInt64, at seconds: Int64) -> Self {
    .refreshed(WhyHistory.token(generation, at: seconds), 0, .reauthentication)
  }

  static func ended(_ request: UInt64, _ failure: RequestFailure) -> Self {
    .note(.requestEnded(.init(request: request, failure: failure)))
  }

  /// A tail that was cut and may have been acknowledged.
  static let cut = Self.note(.tailCut(.init(bytes: 21, isUndetermined: true)))
}

extension RequestFailure {
  static let lost = RequestFailure(kind: .noReply)
  static let offline = RequestFailure(kind: .noConnection)

  static func refusal(_ code: String?) -> RequestFailure {
    RequestFailure(kind: .rejected, status: 401, serverCode: code)
  }
}

extension Explanation {
  func has(_ word: FindingWord) -> Bool {
    rulesOut(word)
      || (findings.proven + findings.inferred + findings.alsoSeen).contains { $0.what == word }
  }

  func rulesOut(_ word: FindingWord) -> Bool { findings.ruledOut.contains { $0.what == word } }

  func certainty(of word: FindingWord) -> Certainty? {
    findings.inferred.first { $0.what == word }?.certainty
  }
}

/// A journal's records with their batches, and the answers about them.
struct WhyRun {
  var entries: [JournalEntry] = []

  init(_ entries: [JournalEntry]) { self.entries = entries }

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
      } catch { return false }
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
      do { try fold.take(entry) { ends.append(Explainer.explain($0)) } } catch { break }
    }
    let open = fold.finish { ends.append(Explainer.explain($0)) }
    return (ends, Explainer.explain(open))
  }

  /// The answer of `why`: about the last end, the state of the session, or a record.
  func answer(at sequence: UInt64? = nil) -> Explanation {
    var search = WhySearch(target: sequence)
    for entry in entries { guard search.take(entry, { _ in }) else { break } }
    var found: Explanation?
    let open = search.finish(damagedAt: nil) { found = Explainer.explain($0) }
    return found ?? open.map { Explainer.explain($0) } ?? explanations().open
  }

  /// The same records with changed contents, without those that a change removes.
  func edited(_ change: (SessionRecord) -> SessionRecord?) -> WhyRun {
    WhyRun(
      entries.compactMap { entry in
        change(entry.record).map {
          JournalEntry(record: $0, offset: entry.offset, remainingInBatch: entry.remainingInBatch)
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
        .failed(
          change(failed.failure), failed.generation.number, failed.request, retryAt: failed.retryAt,
          failed.trigger, attempt: failed.attempt))
    case .note(.requestEnded(let ended)):
      return with(
        .note(.requestEnded(.init(request: ended.request, failure: change(ended.failure)))))
    case .event, .note, .snapshot, .unknown: return self
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
