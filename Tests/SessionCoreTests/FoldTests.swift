@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("SessionFold")
struct FoldTests {
  private func record(_ sequence: UInt64, _ content: SessionRecord.Content) -> SessionRecord {
    SessionRecord(
      sequence: sequence, time: Timestamp(milliseconds: Int64(sequence) * 100), content: content)
  }

  /// A mostly legal history: each record is close to what the fold accepts.
  private func history(_ generator: inout SplitMix, count: UInt64) -> [SessionRecord] {
    var newest: UInt64 = 0
    return (1...count).map { sequence in
      if generator.chance(2, in: 5) { return record(sequence, note(&generator, newest, sequence)) }
      newest += generator.chance(1, in: 6) ? 0 : 1
      return record(sequence, .event(event(&generator, newest, sequence)))
    }
  }

  private func note(_ generator: inout SplitMix, _ newest: UInt64, _ sequence: UInt64)
    -> SessionRecord.Content
  {
    let generation = Generation(newest)
    let request = sequence - min(sequence, UInt64.random(in: 1...3, using: &generator))
    switch generator.next() % 6 {
    case 0: return .unknown(.init(kind: 0xEE, payload: []))
    case 1: return .unknown(.init(kind: 0x0E, payload: []))
    case 2:
      return .note(
        .requestSent(
          .init(
            kind: .refresh, generation: generation, trigger: .manual, attempt: 1, process: 1,
            deadline: Timestamp(milliseconds: 0))))
    case 3:
      return .note(.requestEnded(.init(request: request, failure: .init(kind: .noReply))))
    case 4: return .note(.revocationPending(generation))
    default:
      return .note(
        .revocationSettled(.init(generation: generation, outcome: generator.code(), status: 200)))
    }
  }

  private func event(_ generator: inout SplitMix, _ newest: UInt64, _ sequence: UInt64)
    -> SessionEvent
  {
    let token = SampleRecords.token(newest)
    let users: [Identifier] = ["u-1", "u-1", "u-2"]
    switch generator.next() % 8 {
    case 0, 1:
      return .login(
        .init(user: generator.pick(users, or: "u"), method: .password, token: token))
    case 2, 3:
      return .refreshSucceeded(
        .init(token: token, trigger: .schedule, attempt: 1, isRotated: true, request: 0))
    case 4:
      return .refreshFailed(
        .init(
          generation: Generation(newest - min(newest, 1)), trigger: .schedule, attempt: 1,
          failure: generator.failure(), retryAt: nil, request: sequence - 1))
    case 5:
      return .contextSwitched(
        .init(
          context: SampleRecords.head, token: generator.chance(1, in: 2) ? token : nil,
          trigger: .user, request: 0))
    case 6: return .sessionExpired(.init(reason: generator.code()))
    default: return .logout(.init(reason: .user))
    }
  }

  /// Folds, skips rejected records, and checks that they changed nothing.
  private func fold(_ records: [SessionRecord], from start: SessionFold = SessionFold())
    -> (fold: SessionFold, rejected: Int)
  {
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
      var generator = SplitMix(seed: seed)
      let records = history(&generator, count: 30)
      let whole = fold(records)
      let cut = Int.random(in: 0...30, using: &generator)
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
      let stale = SessionRejection(
        state: .unauthenticated, event: .login, reason: .staleGeneration)
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
    func failed(_ request: UInt64) -> SessionRecord.Content {
      .event(
        .refreshFailed(
          .init(
            generation: Generation(1), trigger: .schedule, attempt: 1, failure: failure,
            retryAt: nil, request: request)))
    }
    func switched(_ token: TokenMetadata?, request: UInt64 = 2) -> SessionRecord.Content {
      .event(
        .contextSwitched(
          .init(context: SampleRecords.head, token: token, trigger: .user, request: request)))
    }
    func refreshed(_ request: UInt64) -> SessionRecord.Content {
      .event(
        .refreshSucceeded(
          .init(
            token: SampleRecords.token(2), trigger: .schedule, attempt: 1, isRotated: true,
            request: request)))
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
    .event(
      .login(.init(user: user, method: .password, token: SampleRecords.token(generation))))
  }
}
