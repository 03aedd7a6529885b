@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Histories that resemble a cause but do not prove it.
@Suite("Why claims no more than the journal proves")
struct WhyDoubtTests {
  /// Process 200 presumes the request of process 100 lost and is refused; then 100 names it again.
  private func overtaken(_ late: (inout WhyHistory, UInt64) -> Void) -> Explanation {
    var history = WhyHistory()
    history.add(1, .opened(200, at: 1))
    let lost = history.add(60, .sent(1, until: 66))
    let second = history.add(67, .failed(.lost, lost, retry: 67), .sent(1, by: 200, until: 73))
    history.add(68, .failed(.refusal("TOKEN_REUSED"), second + 1, retry: 75))
    late(&history, lost)
    return history.answer()
  }

  // MARK: 1. Late answers

  @Test("RPL-3 a request whose own process returns with the response is not lost")
  func lateAnswer() {
    let answer = overtaken { history, lost in history.end(69, .refusal("TOKEN_REUSED"), 1, lost) }
    #expect(answer.cause == .usedElsewhere)
    #expect(answer.certainty == .possible)
    #expect(!answer.has(.rotatedReplyLost))
    #expect(answer.has(.cameBack))
  }

  @Test("RPL-3 a request that was not sent after all is not lost")
  func lateNoConnection() {
    let answer = overtaken { history, lost in
      history.add(70, .ended(lost, .offline))
      history.refuse(75, "TOKEN_REUSED", by: 200)
    }
    #expect(answer.cause == .usedElsewhere)
    #expect(!answer.has(.rotatedReplyLost))
  }

  @Test("RPL-3 a process that returns without a response changes nothing")
  func lateNoReply() {
    let answer = overtaken { history, lost in
      history.add(70, .ended(lost, .lost))
      history.refuse(75, "TOKEN_REUSED", by: 200)
    }
    #expect(answer.cause == .suspendedInRefresh)
    #expect(answer.certainty == .likely)
    #expect(answer.has(.cameBack))
  }

  // MARK: Parts of a cause with another remedy

  @Test(
    "RPL-3 STA-9 a login after failures to refresh: they are named, and a refresh token was there",
    arguments: [
      (RequestFailure(kind: .unexpected, status: 401, serverCode: "invalid_client"), true),
      (RequestFailure(kind: .intercepted, status: 403), false),
    ])
  func notRenewed(_ failure: RequestFailure, isCounted: Bool) {
    var history = WhyHistory()
    history.attempt(60, failure)
    history.attempt(90, failure)
    let end = history.add(
      4_000, .event(.sessionExpired(.init(reason: .tokenExpired))), .login(2, at: 4_000))
    let answer = history.answer(at: end)
    #expect(answer.cause == .tokenExpired && answer.certainty == .proven)
    #expect(answer.has(.refreshFailedSo) && answer.has(.countedFailures) == isCounted)
    #expect(
      !answer.has(.noneToRead)
        && !answer.findings.advice.contains { $0.what == .issueRefreshTokens })
    let summary = answer.summary()
    #expect(summary.contains("the attempts to renew it had failed"), "\(summary)")
    #expect(summary.contains("A new sign-in followed.") && !summary.contains("refresh token"))
    #expect(summary.contains("(code invalid_client)") == isCounted)
  }

  @Test("RPL-3 an attempt for which there was no refresh token is not told as an offline device")
  func nothingToSend() {
    var history = WhyHistory()
    history.attempt(60, RequestFailure(kind: .noRefreshToken))
    let answer = history.answer()
    #expect(answer.cause == .stillOffline && answer.has(.noneToRead))
    #expect(answer.summary().contains("found no token on the device"))
  }

  @Test("RPL-3 a reason of a newer version is named in the summary")
  func newerReason() {
    var history = WhyHistory()
    history.add(60, .event(.sessionExpired(.init(reason: ExpiryReason(rawValue: 200)))))
    let answer = history.answer()
    #expect(answer.cause == .unexplained)
    #expect(answer.summary().contains("(200)") && answer.summary().contains("newer version"))
  }

  // MARK: 2, 3. Codes

  @Test(
    "RPL-3 a code after a lost reply makes it likely only if the code says used",
    arguments: [
      ("TOKEN_REUSED", Cause.lostReply, Certainty.likely), ("INVALID_GRANT", .lostReply, .possible),
      ("invalid_grant", .lostReply, .possible), (nil, .lostReply, .possible),
      ("ACCOUNT_LOCKED", .refused, .proven), ("TOKEN_REVOKED", .revokedElsewhere, .proven),
    ] as [(String?, Cause, Certainty)])
  func codesAfterLoss(_ code: String?, _ cause: Cause, _ certainty: Certainty) {
    // A success that is empty or ends early is lost, too.
    for loss in [.lost, RequestFailure(kind: .noReply, status: 200)] {
      var history = WhyHistory()
      let lost = history.attempt(60, loss)
      history.refuse(90, code)
      let answer = history.answer()
      #expect(answer.cause == cause)
      #expect(answer.certainty == certainty)
      #expect(
        answer.certainty(of: .rotatedReplyLost) == (code == "TOKEN_REUSED" ? .likely : .possible))
      #expect(answer.findings.inferred.contains { $0.values.contains(.place(lost)) })
      #expect(answer.findings.advice.contains { $0.what == .serverGrace })
    }
  }

  @Test(
    "RPL-3 a code that only contains a known word is repeated and proves nothing",
    arguments: [
      "PASSWORD_EXPIRED", "UNKNOWN_ERROR", "USER_NOT_FOUND", "CLIENT_REVOKED", "ACCOUNT_LOCKED",
      "PASSWORD_REUSED",
    ])
  func strangeCodes(_ code: String) {
    var history = WhyHistory()
    history.refuse(60, code)
    let answer = history.answer()
    #expect(answer.cause == .refused)
    #expect(WhyText(zone: .utc).headline(answer).contains(code))
    #expect(answer.findings.advice.contains(Advice(.lookUpCode, [.word(code)])))
    #expect(!answer.findings.advice.contains { $0.what == .tellingCode })
    #expect(answer.findings.inferred.allSatisfy { $0.certainty == .possible })
  }

  @Test(
    "RPL-3 a code that is a known word determines the cause",
    arguments: RefusalWord.codes.flatMap { row in row.codes.map { ($0, row.says) } })
  func knownCodes(_ code: String, _ says: String) {
    let causes: [String: Cause] = [
      "used": .usedElsewhere, "revoked": .revokedElsewhere, "expired": .refreshTokenExpired,
      "unknown": .unknownToServer, "nothing": .refused,
    ]
    var history = WhyHistory()
    history.refuse(60, code)
    #expect(history.answer().cause == causes[says] ?? ServerReason(rawValue: says)?.cause)
  }

  // MARK: 4. Every request answered

  @Test(
    "RPL-3 a lost reply is ruled out only if every request was answered or not sent",
    arguments: [
      (.offline, true), (RequestFailure(kind: .secretsUnavailable), true),
      (RequestFailure(kind: .rateLimited, status: 429), true),
      (RequestFailure(kind: .server, status: 502), false),
      (RequestFailure(kind: .intercepted, status: 200), false),
      (RequestFailure(kind: .unreadable, status: 200), false),
      (RequestFailure(kind: .noReply, status: 408), false), (.lost, false),
      (RequestFailure(kind: .noReply, status: 200), false),
    ] as [(RequestFailure, Bool)])
  func ruledOutLostReply(_ failure: RequestFailure, _ isRuledOut: Bool) {
    var history = WhyHistory()
    history.attempt(60, failure)
    history.refuse(90, "TOKEN_REUSED")
    let answer = history.answer()
    #expect(answer.rulesOut(.everyRequestAnswered) == isRuledOut)
    let isUnread = failure.kind == .unreadable
    #expect((answer.cause == .answerNotRead) == isUnread)
    #expect((answer.cause == .lostReply) == (!isRuledOut && !isUnread))
    #expect(answer.has(.replyCut) == (failure.kind == .noReply && failure.status == 200))
    #expect(WhyText(zone: .utc).text(answer).contains("each has its answer") == false)
  }

  @Test(
    "RPL-3 RPL-6 a success that could not be read comes first, as surely as the code says",
    arguments: [
      ("TOKEN_REUSED", 200, Cause.answerNotRead, Certainty.likely),
      ("invalid_grant", 200, .answerNotRead, .possible), (nil, 201, .answerNotRead, .possible),
      (RequestFailure.codeNotKept, 200, .answerNotRead, .possible),
      ("TOKEN_REVOKED", 200, .revokedElsewhere, .proven),
      ("TOKEN_EXPIRED", 200, .refreshTokenExpired, .proven),
      ("invalid_grant", 400, .refused, .possible), ("invalid_grant", 502, .refused, .possible),
    ] as [(String?, UInt16, Cause, Certainty)])
  func unread(_ code: String?, _ status: UInt16, _ cause: Cause, _ certainty: Certainty) {
    var history = WhyHistory()
    history.attempt(60, RequestFailure(kind: .unreadable, status: status))
    history.refuse(90, code)
    let answer = history.answer()
    #expect(answer.cause == cause && answer.certainty == certainty)
    guard cause == .answerNotRead || cause == .refused else { return }
    #expect(answer.findings.inferred.first?.what == .rotatedAnswerUnusable)
    #expect(
      answer.findings.inferred.first?.certainty == (cause == .refused ? .possible : certainty))
  }

  // MARK: 5. No refresh token

  @Test("RPL-3 a refresh token that cannot be read does not mean that there never was one")
  func noRefreshToken() {
    var history = WhyHistory()
    history.attempt(60, RequestFailure(kind: .server, status: 503))
    let request = history.add(90, .sent(1, until: 96))
    history.end(91, RequestFailure(kind: .noRefreshToken), 1, request)
    let answer = history.answer()
    #expect(answer.cause == .noRefreshToken)
    #expect(answer.has(.noneToRead))
    #expect(!answer.has(.nothingSent))
    #expect(!answer.has(.notCarried))
    #expect(!answer.findings.advice.contains { $0.what == .issueRefreshTokens })
    #expect(answer.findings.advice.contains { $0.what == .lookAtItem })
  }

  // MARK: 6. After the record

  @Test("RPL-3 a later session's refresh is not a success of the refused one")
  func otherSession() {
    var history = WhyHistory()
    let first = history.attempt(60, .lost)
    history.refuse(66, "TOKEN_REVOKED")
    history.add(100, .login(2, at: 100))
    let request = history.add(160, .sent(2, until: 166))
    history.add(161, .succeeded(3, at: 161, request))
    let answer = history.answer(at: first + 1)
    #expect(answer.cause == .refreshFailed)
    #expect(!answer.has(.refreshedLater))
    #expect(answer.has(.endedNothing))
    #expect(answer.has(.endedBehind))
    #expect(!answer.has(.nobodyEnded))
  }

  @Test("RPL-3 a revocation that settles much later is found")
  func settledLate() {
    var history = WhyHistory()
    history.add(60, .event(.logout(.init(reason: .user))), .note(.revocationPending(Generation(1))))
    let failed = history.add(
      61, .note(.revocationSettled(.init(generation: Generation(1), outcome: .failed, status: 0))))
    history.add(70, .login(2, at: 70))
    for number in 0..<20 { history.attempt(100 + Int64(number) * 20, .offline, of: 2) }
    #expect(history.answer(at: failed).cause == .notRevoked)
    history.add(
      900,
      .note(.revocationSettled(.init(generation: Generation(1), outcome: .revoked, status: 200))))
    #expect(history.answer(at: failed).cause == .revocationDone)
    #expect(history.answer(at: failed).signedInAgain == failed + 1)
  }

  @Test(
    "RPL-3 OUT-5 a revocation that is given up says whether a server refused it",
    arguments: [0, 404])
  func givenUp(status: UInt16) {
    var history = WhyHistory()
    history.add(60, .event(.logout(.init(reason: .user))), .note(.revocationPending(Generation(1))))
    let left = history.add(
      61,
      .note(
        .revocationSettled(.init(generation: Generation(1), outcome: .abandoned, status: status))))
    let answer = history.answer(at: left)
    #expect(answer.has(status == 0 ? .revocationLeft : .revocationFailed))
    #expect(!answer.has(status == 0 ? .revocationFailed : .revocationLeft))
    #expect(answer.findings.advice.contains { $0.what == .endAtServer })
  }

  // MARK: 7, 8. The process that replaced a request

  @Test("RPL-3 a request replaced before its deadline is not reported as replaced after it")
  func takenEarly() {
    var history = WhyHistory()
    history.add(1, .opened(200, at: 1))
    let lost = history.add(60, .sent(1, until: 366))
    let taken = history.add(61, .failed(.lost, lost, retry: 61), .sent(1, by: 200, until: 367))
    history.add(62, .succeeded(2, at: 62, taken + 1))
    let answer = history.answer(at: taken)
    #expect(answer.cause == .takenOver)
    #expect(answer.has(.overtakenBefore))
    #expect(!answer.has(.overtakenAfterDeadline))
  }

  @Test("RPL-3 the process that presumed a request lost is known after any number of later ones")
  func takerIsKept() throws {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 66))
    history.add(100, .opened(111, at: 100), .failed(.lost, lost, retry: 100))
    for number in 0..<12 {
      let time = 200 + Int64(number) * 20
      history.add(time, .opened(112 + UInt32(number), at: time))
      history.attempt(time, .offline, by: 112 + UInt32(number))
    }
    history.refuse(900, "TOKEN_REUSED")
    let answer = history.answer()
    let finding = try #require(answer.findings.proven.first { $0.what == .replacedAtOpening })
    #expect(finding.values.contains(.process(111)))
    #expect(!WhyText(zone: .utc, isFull: true).text(answer).contains("process 0"))
  }

  @Test("RPL-3 a late end of a switch names the process that replaced it")
  func lateSwitch() throws {
    var history = WhyHistory()
    history.add(1, .opened(200, at: 1))
    let lost = history.add(60, .sent(1, until: 66, kind: .switchContext))
    let taken = history.add(67, .ended(lost, .lost), .sent(1, by: 200, until: 73))
    history.add(68, .succeeded(2, at: 68, taken + 1))
    let late = history.add(69, .ended(lost, .refusal("FORBIDDEN")))
    let answer = history.answer(at: late)
    #expect(answer.cause == .takenOver)
    let finding = try #require(answer.findings.proven.first { $0.what == .overtakenAfterDeadline })
    #expect(finding.values.contains(.process(200)))
  }

  // MARK: 9. Death of the process

  @Test("RPL-3 the openings before a request's end are known when it ends")
  func openingBetween() {
    var quiet = WhyHistory()
    quiet.attempt(60, .lost)
    quiet.refuse(90, "TOKEN_REUSED")
    #expect(quiet.answer().rulesOut(.noOpeningBetween))

    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 66))
    history.add(61, .opened(300, at: 61))
    history.add(62, .note(.closed), .opened(100, at: 62))
    history.add(66, .failed(.lost, lost, retry: 70))
    for number in 0..<12 {
      let time = 200 + Int64(number) * 20
      history.add(time, .opened(100, at: time))
      history.attempt(time, .offline)
    }
    history.refuse(900, "TOKEN_REUSED")
    #expect(!history.answer().rulesOut(.noOpeningBetween))
  }
}
