@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Requests that another process presumed lost, and whose own process returned.
@Suite("Why reads records that are noted late")
struct WhyLateTests {
  /// Process 200 replaces process 100 at its deadline, and its own request is never sent.
  ///
  /// The response to the first one is noted while the second is open.
  private func late(
    _ failure: RequestFailure, _ second: RequestFailure = .offline,
    _ rest: (inout WhyHistory) -> Void = { _ in }
  ) -> Explanation {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 66))
    history.add(61, .opened(200, at: 61))
    let taken = history.add(67, .failed(.lost, lost, retry: 67), .sent(1, by: 200, until: 73))
    history.add(68, .ended(lost, failure))
    history.add(69, .failed(second, taken + 1, retry: 90))
    rest(&history)
    return history.answer()
  }

  private func exhaust(_ history: inout WhyHistory) {
    let request = history.add(90, .sent(1, by: 200, until: 96))
    history.add(
      91, .failed(RequestFailure(kind: .server, status: 503), request),
      .event(.sessionExpired(.init(reason: .attemptsExhausted))),
      .event(.logout(.init(reason: .policy))))
  }

  @Test("RPL-3 a response that is noted late proves that the server was reached")
  func stillReached() {
    let answer = late(.refusal("TOKEN_REVOKED"))
    #expect(answer.cause == .stillServerFailing)
    #expect(answer.headline == [.counted(1, "attempt")])
    #expect(answer.has(.answeredLate))
    #expect(!answer.has(.noServerReached))
    #expect(!answer.has(.nobodySignedOut))
    #expect(answer.certainty(of: .offline) == .possible)
    #expect(
      answer.findings.proven.contains {
        $0.what == .nextTry && $0.values == [.time(WhyHistory.time(90))]
      })
  }

  @Test("RPL-3 a late end without a response changes nothing")
  func stillOffline() {
    let answer = late(.lost)
    #expect(answer.cause == .stillOffline)
    #expect(answer.headline == [.counted(2, "attempt")])
    #expect(answer.certainty(of: .offline) == .likely)
    #expect(!answer.has(.answeredLate))
  }

  @Test("RPL-3 a refusal that is noted late is a refusal")
  func ruledOut() {
    for (code, isRuledOut) in [("TOKEN_REVOKED", false), (nil, true)] {
      let failure = code.map { RequestFailure.refusal($0) } ?? .lost
      let logout = late(failure) { $0.add(80, .event(.logout(.init(reason: .user)))) }
      #expect(logout.cause == .userLogout)
      #expect(logout.rulesOut(.noRefusalOfUser) == isRuledOut)
      let missing = late(failure) {
        $0.add(80, .opened(300, at: 80), .event(.sessionExpired(.init(reason: .secretsMissing))))
      }
      #expect(missing.cause == .secretsMissing)
      #expect(missing.rulesOut(.noRefusalOfUser) == isRuledOut)
    }
  }

  @Test("RPL-3 a request lost after a late refusal did not cause it")
  func refusedBefore() {
    let answer = late(.refusal("TOKEN_REUSED")) { history in
      history.attempt(90, .lost, by: 200)
      history.refuse(100, "TOKEN_REUSED", by: 200)
    }
    #expect(answer.cause == .usedElsewhere)
    #expect(answer.certainty == .possible)
    #expect(!answer.has(.rotatedReplyLost))
    #expect(!answer.rulesOut(.noRefusalBefore))
  }

  @Test("RPL-3 an earlier code that says used is decisive, whatever later codes say")
  func usedThenRevoked() {
    let answer = late(.refusal("TOKEN_REUSED")) { history in
      history.attempt(90, .lost, by: 200)
      history.refuse(100, "TOKEN_REVOKED", by: 200)
    }
    #expect(answer.cause == .usedElsewhere)
    #expect(!answer.has(.rotatedReplyLost))
    #expect(answer.findings.proven.count { $0.what == .serverSaid } == 2)
  }

  @Test("RPL-3 a request before a late response may have reached the server after it")
  func lostBetween() {
    let answer = late(.refusal("TOKEN_REUSED"), .lost) { $0.refuse(100, "TOKEN_REUSED", by: 200) }
    #expect(answer.cause == .usedElsewhere || answer.certainty == .possible)
    #expect(answer.certainty(of: .rotatedReplyLost) != .likely)
    #expect(!answer.rulesOut(.noRefusalBefore))
    #expect(answer.has(.otherCopyUsed))
  }

  @Test("RPL-3 late responses are counted, each in its class")
  func exhausted() {
    let server = RequestFailure(kind: .server, status: 503)
    let all = late(server, server, exhaust)
    #expect(all.cause == .serverFailing)
    #expect(all.headline == [.counted(3, "attempt")])
    #expect(all.has(.answeredLate))
    let mixed = late(RequestFailure(kind: .rateLimited, status: 429), server, exhaust)
    #expect(mixed.cause == .attemptsExhausted)
    #expect(mixed.headline == [.counted(3, "attempt")])
    #expect(mixed.rulesOut(.noRefusalOfUser))
  }

  @Test("RPL-3 a missing end of a request leaves the history of its token open")
  func strayEnd() {
    var history = WhyHistory()
    let numbers = (0..<40).map { history.attempt(60 + $0 * 20, .offline) }
    #expect(history.answer().cause == .stillOffline)
    history.add(1_000, .ended(numbers[20], .refusal("TOKEN_REVOKED")))
    history.add(1_001, .event(.logout(.init(reason: .user))))
    #expect(!history.answer().rulesOut(.noRefusalOfUser))
  }

  @Test("RPL-3 a final refusal that ended nothing still counts as one")
  func refusedForNothing() {
    var history = WhyHistory()
    let first = history.add(60, .sent(1, until: 66))
    history.add(61, .failed(.refusal("TOKEN_REUSED"), first))
    history.attempt(90, .lost)
    history.refuse(100, "TOKEN_REUSED")
    #expect(history.answer().cause == .usedElsewhere)
    #expect(!history.answer().rulesOut(.noRefusalBefore))
  }

  // MARK: Processes that return

  /// Process 200 replaces process 100 and is refused.
  private func taken(
    at seconds: Int64, opens: Bool = false, before: SessionRecord.Content? = nil,
    comesBack: Bool = false
  ) -> Explanation {
    var history = WhyHistory()
    if !opens { history.add(5, .opened(200, at: 5)) }
    let lost = history.add(600, .sent(1, until: 606))
    if let before { history.add(601, before) }
    let request: UInt64
    if opens {
      history.add(seconds, .opened(200, at: seconds), .failed(.lost, lost, retry: seconds))
      request = history.add(seconds, .sent(1, by: 200, until: seconds + 6))
    } else {
      request =
        history.add(
          seconds, .failed(.lost, lost, retry: seconds), .sent(1, by: 200, until: seconds + 6)) + 1
    }
    if comesBack { history.add(seconds + 1, .ended(lost, .lost)) }
    history.end(seconds + 2, .refusal("TOKEN_REUSED"), 1, request)
    return history.answer()
  }

  @Test("RPL-3 a clock that was set back does not prove an early replacement")
  func takenBack() {
    #expect(taken(at: 603).cause == .killedInRefresh)
    #expect(taken(at: 603).certainty == .likely)
    for comesBack in [false, true] {
      for seconds in [500, 595] as [Int64] {
        let answer = taken(at: seconds, comesBack: comesBack)
        #expect(answer.cause == .suspendedInRefresh)
        #expect(answer.certainty == .possible)
        #expect(answer.certainty(of: .suspended) == .possible)
        #expect(answer.has(.killedBySystem) == !comesBack)
        #expect(answer.has(.overtakenBefore))
        #expect(!answer.has(.overtakenAfterDeadline))
      }
    }
  }

  @Test("RPL-3 a clock that was set in between proves nothing about a deadline")
  func setBetween() {
    // The clock that never jumps shows that more than an hour passed.
    let uptime = SessionNote.Opened(process: 300, boot: "first", uptime: 4_610_000)
    for (seconds, word) in [(603, .goneBeforeDeadline), (607, .overtakenAfterDeadline)]
      as [(Int64, FindingWord)]
    {
      let answer = taken(at: seconds, before: .note(.opened(uptime)))
      #expect(answer.has(.clockSetBack))
      #expect(!answer.has(word))
      #expect(answer.certainty == .possible)
    }
  }

  @Test("RPL-3 a process that returns was not gone")
  func cameBack() {
    let gone = taken(at: 602, opens: true)
    #expect(gone.cause == .killedInRefresh)
    #expect(gone.has(.goneBeforeDeadline))
    for seconds in [602, 700] as [Int64] {
      let back = taken(at: seconds, opens: true, comesBack: true)
      #expect(back.cause == .lostReply)
      #expect(back.certainty == .likely)
      #expect(back.has(.cameBack))
      #expect(!back.has(.goneBeforeDeadline))
      #expect(!back.has(.killedBySystem))
    }
  }

  @Test("RPL-3 a process that may have ended or restarted need not have been suspended")
  func begunAnew() {
    #expect(taken(at: 607).cause == .suspendedInRefresh)
    #expect(taken(at: 607).certainty == .likely)
    for record: SessionRecord.Content in [.opened(100, at: 601), .note(.closed)] {
      let answer = taken(at: 607, before: record)
      #expect(answer.cause == .suspendedInRefresh)
      #expect(answer.certainty == .possible)
      #expect(answer.certainty(of: .suspended) == .possible)
      #expect(answer.certainty(of: .closedByUser) == .possible)
      #expect(answer.certainty(of: .rotatedReplyLost) == .likely)
    }
    let anew = taken(at: 603, opens: true, before: .opened(100, at: 601))
    #expect(anew.certainty == .possible)
    #expect(!anew.has(.goneBeforeDeadline))
  }
}

/// `why` names processes by the identity of an opening if the notes have one.
///
/// Without one it claims no more than process numbers allow.
@Suite("Why names openings, not process numbers")
struct WhyOpeningTests {
  private func identity(_ opening: Identifier, in namespace: Identifier = "n", start: UInt64 = 7)
    -> ProcessIdentity
  { ProcessIdentity(opening: opening, boot: "first", namespace: namespace, start: start) }

  private func opened(_ identity: ProcessIdentity, at seconds: Int64) -> SessionRecord.Content {
    .note(
      .opened(
        .init(process: 1, boot: "first", uptime: 10_000 + seconds * 1_000, identity: identity)))
  }

  private func sent(_ identity: ProcessIdentity, until seconds: Int64) -> SessionRecord.Content {
    .note(
      .requestSent(
        .init(
          kind: .refresh, generation: Generation(1), trigger: .manual, attempt: 1, process: 1,
          deadline: WhyHistory.time(seconds), identity: identity)))
  }

  /// Ada signed in through `first`; then both have the journal open.
  private func shared(_ first: ProcessIdentity, _ second: ProcessIdentity) -> WhyHistory {
    var history = WhyHistory.empty
    history.add(0, opened(first, at: 0))
    history.add(0, .login(1, at: 0))
    history.add(10, opened(second, at: 10))
    return history
  }

  /// A refresh by an opening that fails; then another that ends the session.
  private func refused(_ history: WhyHistory, by openings: [ProcessIdentity]) -> Explanation {
    var history = history
    for (place, opening) in openings.enumerated() {
      let time = Int64(60 + 100 * place)
      let request = history.add(time, sent(opening, until: time + 6))
      if place == openings.count - 1 {
        history.end(time + 1, .refusal("TOKEN_REUSED"), 1, request)
      } else {
        history.add(time + 1, .failed(.offline, request, retry: time + 10))
      }
    }
    return history.answer()
  }

  @Test("REF-9 RPL-2 requests of two openings with one process number are not one process's")
  func equalNumbers() {
    let (one, two) = (identity("a"), identity("b", in: "other"))
    let history = shared(one, two)
    #expect(refused(history, by: [one, one]).rulesOut(.oneProcess))
    #expect(!refused(history, by: [one, two]).rulesOut(.oneProcess))
  }

  @Test("REF-9 RPL-2 without identities two openings with one number may be two processes")
  func oldNumbers() {
    var history = WhyHistory.empty
    history.add(0, .opened(1, at: 0), .login(1, at: 0))
    var alone = history
    alone.refuse(60, "TOKEN_REUSED", by: 1)
    #expect(alone.answer().rulesOut(.oneProcess))
    history.add(10, .opened(1, at: 10))
    history.refuse(60, "TOKEN_REUSED", by: 1)
    #expect(!history.answer().rulesOut(.oneProcess))
  }

  @Test("REF-9 RPL-2 a request of another opening with the same number is not its sender's own")
  func takenInNamespace() {
    let (one, two) = (identity("a"), identity("b", in: "other"))
    var history = shared(one, two)
    let lost = history.add(60, sent(one, until: 1_000))
    let again = history.add(61, .failed(.lost, lost, retry: 61), sent(two, until: 1_001))
    history.end(62, .refusal("TOKEN_REUSED"), 1, again + 1)
    let answer = history.answer()
    #expect(answer.cause == .killedInRefresh)
    #expect(answer.has(.goneBeforeDeadline))
    #expect(!answer.has(.endUnnoted))
  }

  @Test("REF-9 RPL-2 two openings with one number have different names in the answer")
  func sentences() {
    let (one, two) = (identity("aaaaaaaa-1"), identity("bbbbbbbb-2", in: "other"))
    var history = shared(one, two)
    let lost = history.add(60, sent(one, until: 100))
    let again = history.add(120, .failed(.lost, lost, retry: 120), sent(two, until: 200))
    history.end(121, .refusal("TOKEN_REUSED"), 1, again + 1)
    let finding = history.answer().findings.proven.first { $0.what == .overtakenAfterDeadline }
    #expect(
      finding?.values == [
        .opening(1, "aaaaaaaa-1"), .place(lost), .opening(1, "bbbbbbbb-2"), .place(again + 1),
      ])
  }

  @Test("REF-9 a number that another process has by now rules out one process")
  func reusedNumber() {
    let (one, two) = (identity("a"), identity("b", start: 8))
    var trail = ProcessTrail()
    for (place, opening) in [one, two].enumerated() {
      let content = opened(opening, at: Int64(place))
      guard case .note(.opened(let note)) = content else { return }
      let record = SessionRecord(
        sequence: UInt64(place + 1), time: WhyHistory.time(Int64(place)), content: content)
      trail.open(note, Fact(record, batch: record.sequence))
    }
    #expect(trail.processCount == 1)
  }
}
