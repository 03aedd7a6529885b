@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@Suite("SessionFold")
struct FoldTests {
  private func record(_ sequence: UInt64, _ content: SessionRecord.Content) -> SessionRecord {
    SessionRecord(
      sequence: sequence, time: Timestamp(milliseconds: Int64(sequence) * 100), content: content)
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
