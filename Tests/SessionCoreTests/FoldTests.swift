@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("SessionFold")
struct FoldTests {
  private func record(_ sequence: UInt64, _ content: SessionRecord.Content) -> SessionRecord {
    SessionRecord(
      sequence: sequence, time: Timestamp(milliseconds: Int64(sequence) * 100), content: content)
  }

  /// Records that are legal or almost legal after those before them.
  private func nearlyLegal(_ choices: Choices, count: UInt64) -> [SessionRecord] {
    var model = SessionModel()
    return (1...count).map { sequence in
      guard choices.chance(3, in: 5) else {
        let isIgnorable = choices.chance(3, in: 4)
        return record(
          sequence,
          choices.chance(1, in: 3)
            ? .unknown(choices.unknown(isIgnorable: isIgnorable))
            : .note(Generator<SessionNote>.note(choices)))
      }
      let event =
        choices.chance(1, in: 2)
        ? choices.legalEvent(after: model) : choices.nearEvent(after: model)
      model.take(event)
      return record(sequence, .event(event))
    }
  }

  /// Folds, skips rejected records, and checks that they changed nothing.
  private func fold(_ records: [SessionRecord], from start: SessionFold = SessionFold()) -> (
    fold: SessionFold, rejected: Int
  ) {
    var (fold, rejected) = (start, 0)
    for record in records {
      let before = fold
      do throws(SessionFold.Failure) {
        try fold.apply(record)
        #expect(fold.sequence == record.sequence)
      } catch {
        #expect(fold == before, "a rejection changed the fold: \(error)")
        rejected += 1
      }
    }
    return (fold, rejected)
  }

  @Test("STA-1 fold(a + b) = fold(fold(a), b), and a rejection changes nothing")
  func parts() {
    var rejected = 0
    var kinds: Set<String> = []
    for seed in 0..<400 as Range<UInt64> {
      let choices = Choices(seed: seed)
      let records = nearlyLegal(choices, count: 30)
      let whole = fold(records)
      let cut = choices.draw(in: 0...30)
      let first = fold(Array(records[..<cut]))
      let second = fold(Array(records[cut...]), from: first.fold)
      #expect(second.fold == whole.fold, "seed \(seed), cut \(cut)")
      rejected += whole.rejected
      kinds.insert(whole.fold.state.kind.description)
    }
    #expect(rejected > 400 && rejected < 11_000)
    #expect(kinds.count == SessionState.Kind.allCases.count)
  }

  @Test("STA-1 generations never repeat, even across a logout or an expiry")
  func generations() throws {
    var fold = SessionFold()
    try fold.apply(record(1, login("u-1", 3)))
    try fold.apply(record(2, .event(.logout(.init(reason: .user)))))
    #expect(fold.state == .unauthenticated)
    #expect(fold.generation == Generation(3))
    for number in [0, 2, 3] as [UInt64] {
      let stale = SessionRejection(state: .unauthenticated, event: .login, reason: .staleGeneration)
      #expect(throws: SessionFold.Failure.illegal(stale, sequence: 3)) {
        try fold.apply(record(3, login("u-1", number)))
      }
    }
    try fold.apply(record(3, login("u-1", 4)))
    try fold.apply(record(4, .event(.sessionExpired(.init(reason: .inactivity)))))
    #expect(throws: SessionFold.Failure.self) { try fold.apply(record(5, login("u-1", 4))) }
    try fold.apply(record(5, login("u-1", 5)))
    #expect(fold.generation == Generation(5))
    #expect(fold.eventSequence == 5)
  }

  @Test("JRN-3 unknown notes are skipped, and an unknown event stops the fold")
  func unknownKinds() throws {
    var fold = SessionFold()
    try fold.apply(record(1, .unknown(.init(kind: 0xEE, payload: [1]))))
    #expect(fold.sequence == 1)
    #expect(fold.eventSequence == 0)
    #expect(throws: SessionFold.Failure.unknownKind(9, sequence: 2)) {
      try fold.apply(record(2, .unknown(.init(kind: 9, payload: []))))
    }
    #expect(fold.sequence == 1)
  }

  @Test("REF-3 OUT-1 intents stay open until a record ends them")
  func intents() throws {
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 1,
      deadline: SampleRecords.time)
    var open = SessionFold()
    try open.apply(record(1, login("u-1", 1)))
    try open.apply(record(2, .note(.requestSent(sent))))
    #expect(open.intents.request?.sequence == 2)
    #expect(open.intents.request?.sent == sent)
    func remains(after content: SessionRecord.Content) throws -> Bool {
      var fold = open
      try fold.apply(record(3, content))
      return fold.intents.request != nil
    }
    let failure = RequestFailure(kind: .noReply)
    func failed(_ request: UInt64) -> SessionRecord.Content { .failed(failure, 1, request) }
    func switched(_ token: TokenMetadata?, request: UInt64 = 2) -> SessionRecord.Content {
      .switched(SampleRecords.head, token, request)
    }
    func refreshed(_ request: UInt64) -> SessionRecord.Content {
      .refreshed(SampleRecords.token(2), request)
    }
    #expect(try remains(after: .note(.requestEnded(.init(request: 1, failure: failure)))))
    #expect(try !remains(after: .note(.requestEnded(.init(request: 2, failure: failure)))))
    #expect(try remains(after: failed(0)))
    #expect(try !remains(after: failed(2)))
    #expect(try remains(after: switched(nil)))
    #expect(try !remains(after: switched(SampleRecords.token(2))))
    #expect(try !remains(after: refreshed(2)))
    // A token that answers an earlier request, which was presumed lost.
    #expect(try remains(after: switched(SampleRecords.token(2), request: 1)))
    #expect(try remains(after: refreshed(1)))
    #expect(try !remains(after: switched(SampleRecords.token(2), request: 0)))
    #expect(try !remains(after: refreshed(0)))
    #expect(try remains(after: .note(.answerUnused(1))))
    #expect(try !remains(after: .note(.answerUnused(2))))
    #expect(try !remains(after: .event(.sessionExpired(.init(reason: .inactivity)))))
    #expect(try !remains(after: .event(.logout(.init(reason: .user)))))
    #expect(try remains(after: .note(.closed)))

    try open.apply(record(3, .event(.logout(.init(reason: .user)))))
    for (sequence, number) in [(4, 1), (5, 2), (6, 1)] as [(UInt64, UInt64)] {
      try open.apply(record(sequence, .note(.revocationPending(Generation(number)))))
    }
    #expect(open.intents.revocations == [Generation(1), Generation(2)])
    try open.apply(record(7, settled(1, .failed)))
    #expect(open.intents.revocations == [Generation(1), Generation(2)])
    try open.apply(record(8, settled(1, .revoked)))
    #expect(open.intents.revocations == [Generation(2)])
  }

  private func settled(_ number: UInt64, _ outcome: RevocationOutcome) -> SessionRecord.Content {
    .note(.revocationSettled(.init(generation: Generation(number), outcome: outcome, status: 0)))
  }

  private func login(_ user: Identifier, _ generation: UInt64) -> SessionRecord.Content {
    .login(user, SampleRecords.token(generation))
  }
}
