@_spi(Internals) import SessionCore

@testable import ReplayCommands
@testable import SessionExplain

/// A small history that is built record by record; times are seconds after its beginning.
struct WhyHistory {
  private var entries: [JournalEntry] = []
  private var next: UInt64 = 1

  /// A history in which process 100 has opened the journal and a user has signed in with `tok#1`.
  init(isRefreshable: Bool = true) {
    add(0, Self.opened(100, at: 0))
    add(0, Self.login(1, at: 0, isRefreshable: isRefreshable))
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
    for entry in entries {
      do {
        try fold.take(entry) { ends.append($0) }
      } catch {
        break
      }
    }
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
    let request = add(seconds, Self.sent(generation, by: process, until: seconds + 6))
    add(seconds + 1, Self.failed(failure, of: generation, request, retry: seconds + 10))
    return request
  }

  /// A request that the server refuses permanently, and the end of the session with it.
  mutating func refuse(
    _ seconds: Int64, _ code: String?, of generation: UInt64 = 1, by process: UInt32 = 100
  ) {
    let request = add(seconds, Self.sent(generation, by: process, until: seconds + 6))
    end(
      seconds + 1, RequestFailure(kind: .rejected, status: 401, serverCode: code), generation,
      request)
  }

  /// The end of the session by the response to a request.
  mutating func end(
    _ seconds: Int64, _ failure: RequestFailure, _ generation: UInt64, _ request: UInt64
  ) {
    add(
      seconds, Self.failed(failure, of: generation, request),
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

  static func opened(
    _ process: UInt32, at seconds: Int64, boot: Identifier? = "first"
  ) -> SessionRecord.Content {
    .note(.opened(.init(process: process, boot: boot, uptime: 10_000 + seconds * 1_000)))
  }

  static func token(
    _ generation: UInt64, at seconds: Int64, isRefreshable: Bool = true
  ) -> TokenMetadata {
    TokenMetadata(
      generation: Generation(generation), issuedAt: time(seconds), expiresAt: time(seconds + 3_600),
      id: nil, isRefreshable: isRefreshable)
  }

  static func login(
    _ generation: UInt64, at seconds: Int64, isRefreshable: Bool = true
  ) -> SessionRecord.Content {
    .event(
      .login(
        .init(
          user: "u1", method: .password,
          token: token(generation, at: seconds, isRefreshable: isRefreshable), context: nil)))
  }

  static func sent(
    _ generation: UInt64, by process: UInt32 = 100, until seconds: Int64,
    kind: RequestKind = .refresh
  ) -> SessionRecord.Content {
    .note(
      .requestSent(
        .init(
          kind: kind, generation: Generation(generation), trigger: .manual, attempt: 1,
          process: process, deadline: time(seconds))))
  }

  static func failed(
    _ failure: RequestFailure, of generation: UInt64 = 1, _ request: UInt64, retry: Int64? = nil
  ) -> SessionRecord.Content {
    .event(
      .refreshFailed(
        .init(
          generation: Generation(generation), trigger: .manual, attempt: 1, failure: failure,
          retryAt: retry.map(time), request: request)))
  }

  static func succeeded(_ generation: UInt64, at seconds: Int64, _ request: UInt64)
    -> SessionRecord.Content
  {
    .event(
      .refreshSucceeded(
        .init(
          token: token(generation, at: seconds), trigger: .manual, attempt: 1, isRotated: true,
          request: request)))
  }

  /// A tail that was cut and may have been acknowledged.
  static let cut = SessionRecord.Content.note(.tailCut(.init(bytes: 21, isUndetermined: true)))

  static func ended(_ request: UInt64, _ failure: RequestFailure) -> SessionRecord.Content {
    .note(.requestEnded(.init(request: request, failure: failure)))
  }
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
    (proven + inferred + ruledOut + alsoSeen).contains { $0.what == word }
  }

  func rulesOut(_ word: FindingWord) -> Bool { ruledOut.contains { $0.what == word } }

  func certainty(of word: FindingWord) -> Certainty? {
    inferred.first { $0.what == word }?.certainty
  }
}
