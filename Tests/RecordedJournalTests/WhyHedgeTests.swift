@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Sessions that have not ended, switches, restarts, and incomplete histories.
@Suite("Why claims less if records are missing")
struct WhyHedgeTests {
  // MARK: 10, 11. Not whole

  @Test("RPL-3 after unreadable bytes the session may have ended")
  func damaged() {
    var history = WhyHistory()
    history.attempt(60, .offline)
    #expect(history.answer().certainty == .proven)
    #expect(history.answer().rulesOut(.noEnd))
    let answer = history.damagedAnswer()
    #expect(answer.certainty == .possible)
    #expect(!answer.rulesOut(.noEnd))
    #expect(!answer.has(.nobodySignedOut))
    #expect(answer.findings.untold.contains { $0.what == .behindDamage })
  }

  @Test("RPL-3 if the journal continues another one, the earlier sign-in is unknown")
  func continued() {
    var history = WhyHistory.empty
    history.add(
      0, .opened(100, at: 0), .note(.continued(.init(journal: nil, sequence: 0, cause: .damaged))))
    let answer = history.answer()
    #expect(answer.cause == .neverSignedIn)
    #expect(answer.certainty == .possible)
    #expect(answer.findings.untold.contains { $0.what == .otherJournal })
    var missed = WhyHistory.empty
    missed.add(
      0, .opened(100, at: 0),
      .note(.storageFailed(.init(item: .token, operation: .find, cause: .ownerMissing))))
    #expect(missed.answer().cause == .neverSignedIn && missed.answer().certainty == .possible)
  }

  @Test("RPL-3 after a newer record, a gap or a recovered token, a lost reply is not ruled out")
  func gaps() {
    var newer = WhyHistory()
    newer.add(30, .unknown(.init(kind: 0x96, payload: [1])))
    newer.refuse(60, "TOKEN_REUSED")
    #expect(!newer.answer().rulesOut(.everyRequestAnswered))
    #expect(newer.answer().has(.lostUnseen))

    var gap = WhyHistory()
    gap.add(30, .note(.tokenRecovered(Generation(9))), .succeeded(9, at: 30, 0))
    gap.refuse(60, "TOKEN_REUSED", of: 9)
    #expect(!gap.answer().rulesOut(.everyRequestAnswered))
    #expect(gap.answer().has(.lostUnseen))

    var whole = WhyHistory()
    whole.refuse(60, "TOKEN_REUSED")
    #expect(whole.answer().rulesOut(.everyRequestAnswered))
    #expect(!whole.answer().has(.lostUnseen))
  }

  // MARK: 12. Still signed in

  @Test(
    "RPL-3 offline is likely only if a request could not be sent",
    arguments: [
      (.offline, .likely), (.lost, .possible), (RequestFailure(kind: .noReply, status: 408), nil),
      (RequestFailure(kind: .noRefreshToken), nil),
      (RequestFailure(kind: .noReply, status: 200), nil),
    ] as [(RequestFailure, Certainty?)])
  func offline(_ failure: RequestFailure, _ certainty: Certainty?) {
    var history = WhyHistory()
    history.attempt(60, failure)
    let answer = history.answer()
    #expect(answer.cause == .stillOffline)
    #expect(answer.certainty(of: .offline) == certainty)
  }

  @Test("RPL-3 a process that died during a refresh is not offline")
  func killed() {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 366))
    history.add(61, .opened(101, at: 61), .failed(.lost, lost, retry: 61))
    let answer = history.answer()
    #expect(!answer.has(.offline))
    #expect(answer.has(.killedBySystem))
  }

  @Test("RPL-3 one old response does not hide that the server does not answer now")
  func offlineAfterOne() {
    var history = WhyHistory()
    history.attempt(60, RequestFailure(kind: .server, status: 503))
    for number in 0..<5 { history.attempt(100 + Int64(number) * 60, .offline) }
    let answer = history.answer()
    #expect(answer.cause == .stillServerFailing)
    #expect(answer.has(.lastUnansweredSo))
    #expect(answer.certainty(of: .offline) == .likely)
  }

  private static let busy = RequestFailure(kind: .server, status: 503)
  private static let bare = RequestFailure(kind: .unexpected, status: 400)
  private static let cut = RequestFailure(kind: .unreadable, status: 200)
  private static let wall = RequestFailure(kind: .intercepted, status: 403)

  @Test(
    "RPL-3 RPL-6 the newest failures that are alike decide whether waiting can help",
    arguments: [
      ([busy, bare, bare], .stillRefused), ([bare, bare, busy], .stillServerFailing),
      ([bare], .stillServerFailing), ([busy, bare], .stillServerFailing),
      ([bare, bare, .offline, .lost], .stillRefused), ([cut], .stillServerFailing),
      ([busy, RequestFailure(kind: .unexpected, status: 405)], .stillEndpointMissing),
      ([busy, cut], .stillServerFailing), ([cut, .offline, cut], .stillUnreadable),
      ([wall], .stillIntercepted), ([busy, wall, wall], .stillBlocked),
      ([wall, wall, busy], .stillServerFailing),
      ([RequestFailure(kind: .unexpected, status: 404)], .stillEndpointMissing),
      ([.offline, RequestFailure(kind: .unexpected, status: 404)], .stillEndpointMissing),
    ] as [([RequestFailure], Cause)])
  func standstill(_ failures: [RequestFailure], _ cause: Cause) {
    var history = WhyHistory()
    for (index, failure) in failures.enumerated() {
      history.attempt(60 + Int64(index) * 600, failure)
    }
    let answer = history.answer()
    #expect(answer.cause == cause)
    let isHopeless = cause != .stillServerFailing && cause != .stillIntercepted
    #expect(answer.findings.advice.contains { $0.what == .doNotWait } == isHopeless)
    #expect(
      answer.findings.advice.contains { $0.what == .waitForNextTry }
        == (cause == .stillServerFailing))
    let end = Value.time(WhyHistory.time(3_600))
    let mayLogin = isHopeless && failures.count > 1
    #expect(answer.findings.advice.contains { $0 == Advice(.loginAfterEnd, [end]) } == mayLogin)
  }

  @Test(
    "RPL-3 RPL-6 failures before a compaction count, and are not certainly like the last of them",
    arguments: [
      ([bare, bare], [], .stillRefused, .possible), ([bare], [], .stillServerFailing, .proven),
      ([busy, bare], [.offline], .stillRefused, .possible),
      ([bare], [bare], .stillRefused, .proven), ([busy], [bare], .stillServerFailing, .proven),
      ([bare, bare], [busy], .stillServerFailing, .proven),
      ([.offline, bare], [], .stillServerFailing, .proven),
      ([cut, cut], [.lost], .stillUnreadable, .possible),
      ([wall, wall], [], .stillBlocked, .possible),
      ([busy, wall], [], .stillServerFailing, .proven),
    ] as [([RequestFailure], [RequestFailure], Cause, Certainty)])
  func compactedRun(
    _ before: [RequestFailure], _ after: [RequestFailure], _ cause: Cause, _ certainty: Certainty
  ) throws {
    var history = WhyHistory()
    for (index, failure) in before.enumerated() {
      history.attempt(60 + Int64(index) * 600, failure)
    }
    try history.compact()
    for (index, failure) in after.enumerated() {
      history.attempt(1_860 + Int64(index) * 600, failure)
    }
    let answer = history.answer()
    #expect(answer.cause == cause && answer.certainty == certainty)
    #expect(
      answer.findings.advice.contains { $0.what == .loginAfterEnd }
        == (cause != .stillServerFailing))
  }

  @Test(
    "RPL-3 RPL-6 the age at a refusal is shown, and a common limit that it had just passed",
    arguments: [
      // Seconds from the login to the last refresh and to the refusal, and the limit.
      (86_000, 86_500, 86_400), (28_000, 31_000, 28_800), (0, 8 * 86_400, nil),
      (0, 7 * 86_400 + 3_600, 7 * 86_400), (87_000, 90_000, nil), (100, 300, nil),
    ] as [(Int64, Int64, Int64?)])
  func age(_ refreshed: Int64, _ refused: Int64, _ limit: Int64?) {
    var history = WhyHistory()
    let request = history.add(refreshed, .sent(1, until: refreshed + 6))
    history.add(refreshed, .succeeded(2, at: refreshed, request))
    history.refuse(refused - 1, "TOKEN_EXPIRED", of: 2)
    let answer = history.answer()
    let age = answer.findings.proven.first { $0.what == .sessionAge }
    #expect(age?.values == [.span(refused * 1_000)])
    let window = answer.findings.inferred.first { $0.what == .serverWindow }
    #expect(window?.values == limit.map { [.span($0 * 1_000)] })
  }

  @Test(
    "RPL-3 what a server does without a code for it is among the possible causes",
    arguments: [
      (RequestFailure.refusal(nil), [.passwordChanged, .administrator, .oldRowRemoved]),
      (.refusal("INVALID_GRANT"), [.sessionDisplaced, .otherSignIn, .userRemoved]),
      (.refusal("TOKEN_REUSED"), [.otherSignIn]),
      (.refusal("TOKEN_REVOKED"), [.sessionDisplaced, .otherSignIn, .passwordChanged]),
      (.refusal("TOKEN_NOT_FOUND"), [.oldRowRemoved, .sessionDisplaced, .userRemoved]),
      (RequestFailure(kind: .rejected, status: 403), [.refusedInFront, .userRemoved]),
    ] as [(RequestFailure, [FindingWord])])
  func withoutCode(_ failure: RequestFailure, _ words: [FindingWord]) {
    var history = WhyHistory()
    history.end(61, failure, 1, history.add(60, .sent(1, until: 66)))
    let answer = history.answer()
    for word in words { #expect(answer.certainty(of: word) == .possible, "\(word)") }
    #expect(answer.has(.refusedInFront) == (failure.status == 403))
  }

  @Test("RPL-3 a refresh that gets 500 again and again may be of a deleted user")
  func deletedUser() {
    for (status, isPossible) in [(500, true), (503, false)] as [(UInt16, Bool)] {
      var history = WhyHistory()
      for number in 0..<3 as Range<Int64> {
        history.attempt(60 + number * 60, RequestFailure(kind: .server, status: status))
      }
      #expect(history.answer().has(.userRemoved) == isPossible)
    }
  }

  @Test("RPL-3 a refusal that is in doubt is reported as such")
  func doubted() {
    var history = WhyHistory()
    history.attempt(60, .refusal("TOKEN_REUSED"))
    let answer = history.answer()
    #expect(answer.has(.refusalDoubted))
    #expect(!WhyText(zone: .utc).text(answer).contains("failed at the server"))
  }

  // MARK: 13, 14. Switches

  @Test("RPL-3 it is only possible that a lost switch changed the token")
  func lostSwitch() {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 366, kind: .switchContext))
    history.add(61, .opened(101, at: 61), .ended(lost, .lost))
    history.refuse(62, "TOKEN_REUSED", by: 101)
    let answer = history.answer()
    #expect(answer.cause == .lostReply)
    #expect(answer.certainty == .possible)
    #expect(answer.certainty(of: .rotatedReplyLost) == .possible)
  }

  @Test("RPL-3 a switch whose response of success ends early is lost, and did arrive")
  func cutSwitch() {
    var history = WhyHistory()
    let request = history.add(60, .sent(1, until: 66, kind: .switchContext))
    let cut = RequestFailure(kind: .noReply, status: 200)
    let ended = history.add(61, .ended(request, cut))
    let answer = history.answer(at: ended)
    #expect(answer.cause == .switchLost && answer.has(.replyCut) && !answer.has(.neverArrived))
    #expect(answer.certainty(of: .serverSwitched) == .likely)
  }

  @Test(
    "RPL-3 a switch that failed is not reported as refused",
    arguments: [
      .offline, RequestFailure(kind: .server, status: 502),
      RequestFailure(kind: .otherUser, status: 200),
    ] as [RequestFailure])
  func failedSwitch(_ failure: RequestFailure) {
    var history = WhyHistory()
    let request = history.add(60, .sent(1, until: 66, kind: .switchContext))
    let ended = history.add(61, .ended(request, failure))
    let answer = history.answer(at: ended)
    #expect(answer.cause == .switchRefused)
    #expect(!answer.has(.switchRefusedBy))
    #expect(!WhyText(zone: .utc).text(answer).contains("was refused"))
  }

  @Test("RPL-3 an unknown end of a request does not prove which process replaced it")
  func unknownEnd() {
    var history = WhyHistory()
    let ended = history.add(61, .ended(77, .offline))
    #expect(history.answer(at: ended).certainty == .possible)
    #expect(history.answer(at: ended).has(.requestFailedSo))
  }

  // MARK: 16–18. Processes

  @Test("RPL-3 each of two lost requests is a possible cause and is named")
  func twoLosses() {
    var history = WhyHistory()
    let first = history.attempt(60, .lost)
    let second = history.attempt(70, .lost)
    history.refuse(90, "TOKEN_REUSED")
    let answer = history.answer()
    #expect(answer.certainty == .possible)
    let named = answer.findings.inferred.filter { $0.what == .rotatedReplyLost }
    #expect(named.map { $0.values.last } == [.place(first), .place(second)])
    #expect(named.allSatisfy { $0.certainty == .possible })
  }

  @Test("RPL-3 equal process numbers do not prove one process")
  func sameNumber() {
    var one = WhyHistory()
    one.attempt(60, .offline)
    one.refuse(160, "TOKEN_REUSED")
    #expect(one.answer().rulesOut(.oneProcess))

    var two = WhyHistory()
    two.attempt(60, .offline)
    two.add(100, .opened(100, at: 100, boot: "second"))
    two.refuse(160, "TOKEN_REUSED")
    #expect(!two.answer().rulesOut(.oneProcess))

    var killed = WhyHistory()
    let lost = killed.add(60, .sent(1, until: 366))
    killed.add(100, .opened(100, at: 100), .failed(.lost, lost, retry: 100))
    killed.refuse(160, "TOKEN_REUSED")
    #expect(killed.answer().has(.killedBySystem))
    #expect(!killed.answer().rulesOut(.noOpeningBetween))
  }

  @Test("RPL-3 a restart is recognized if the request's end was noted after its first opening")
  func restartLocked() {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 66))
    history.add(300, .opened(100, at: 300, boot: "second"))
    let taken = history.add(400, .failed(.lost, lost, retry: 400), .sent(1, until: 406))
    history.end(401, .refusal("TOKEN_REUSED"), 1, taken + 1)
    let answer = history.answer()
    #expect(answer.cause == .killedInRefresh)
    #expect(answer.has(.systemRestarted))
  }

  // MARK: 20–22. Clocks and counts

  @Test("RPL-3 a token's remaining lifetime is at most its whole lifetime")
  func clockBack() {
    var history = WhyHistory()
    history.refuse(-7_200, "TOKEN_REUSED")
    #expect(!history.answer().rulesOut(.tokenHadLife))
  }

  @Test("RPL-3 clocks that drift slowly do not agree")
  func drip() {
    var history = WhyHistory()
    for number in 1...6 {
      let time = Int64(number) * 100
      // Each opening is 50 s later by the clock that never jumps.
      history.add(time, .opened(100, at: time - Int64(number) * 50))
    }
    history.refuse(700, "TOKEN_REUSED")
    #expect(!history.answer().rulesOut(.clockAgrees))
  }

  @Test("RPL-3 an early end of a token, or an idle time with a set clock, is only possible")
  func clockEnds() {
    var early = WhyHistory(isRefreshable: false)
    early.add(900, .event(.sessionExpired(.init(reason: .tokenExpired))))
    #expect(early.answer().cause == .tokenExpired)
    #expect(early.answer().certainty == .possible)
    #expect(!early.answer().has(.lifeWasOver))
    #expect(early.answer().has(.lifeNotOver))

    for (jump, certainty) in [(0, .proven), (3_000_000, .possible)] as [(Int64, Certainty)] {
      var idle = WhyHistory()
      idle.add(4_000_000, .opened(101, at: 4_000_000 - jump))
      idle.add(4_000_001, .event(.sessionExpired(.init(reason: .inactivity))))
      #expect(idle.answer().cause == .inactive)
      #expect(idle.answer().certainty == certainty)
    }
  }

  @Test("RPL-3 the skew of the server's clock is noted if it changes, and stays valid")
  func skewBefore() {
    var history = WhyHistory(isRefreshable: false)
    history.add(1, .note(.clockSkew(10_800_000)))
    history.add(10, .event(.logout(.init(reason: .user))))
    history.add(20, .login(2, at: 20, isRefreshable: false))
    history.add(40, .opened(101, at: 40))
    history.add(3_700, .event(.sessionExpired(.init(reason: .tokenExpired))))
    #expect(!history.answer().rulesOut(.clockAgrees))
    #expect(history.answer().has(.serverClockBehind))
  }

  @Test("RPL-3 half of the responses do not prove a rate limit")
  func halfLimited() {
    var history = WhyHistory()
    for status in [429, 429, 500] as [UInt16] {
      history.attempt(
        60 + Int64(status),
        RequestFailure(kind: status == 429 ? .rateLimited : .server, status: status))
    }
    let request = history.add(900, .sent(1, until: 906))
    history.add(
      901, .failed(RequestFailure(kind: .server, status: 500), request),
      .event(.sessionExpired(.init(reason: .attemptsExhausted))))
    #expect(history.answer().cause == .attemptsExhausted)
  }

  @Test("RPL-3 every place in an answer is filled", arguments: Cause.all)
  func places(_ cause: Cause) throws {
    let run = try WhyRun(cause)
    for entry in run.entries {
      let text = WhyText(zone: .utc, isFull: true).text(run.answer(at: entry.record.sequence))
      #expect(!text.contains("{}"))
      #expect(!text.contains("  and "))
    }
  }
}
