@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// A server with reuse detection revokes a family of tokens if it receives an older one again.
@Suite("Why considers every token of a sign-in")
struct WhyFamilyTests {
  /// Process 200 replaces process 100 and receives `tok#2`; then process 100 returns.
  private func overtaken(_ answer: RequestFailure?, then rest: (inout WhyHistory) -> Void)
    -> WhyHistory
  {
    var history = WhyHistory()
    history.add(5, .opened(200, at: 5))
    let first = history.add(60, .sent(1, until: 66))
    let second = history.add(67, .failed(.lost, first, retry: 67), .sent(1, by: 200, until: 73)) + 1
    history.add(68, .succeeded(2, at: 68, second))
    if let answer { history.add(70, .ended(first, answer)) }
    rest(&history)
    return history
  }

  @Test("RPL-6 a family that was revoked after an older token came again is explained so")
  func revokedFamily() {
    let answer = overtaken(.refusal("TOKEN_REUSED")) {
      $0.refuse(90, "TOKEN_REVOKED", of: 2, by: 200)
    }.answer()
    #expect(answer.cause.id == "family-revoked")
    #expect(answer.certainty == .likely)
    #expect(!answer.has(.signedOutElsewhere))
    #expect(!answer.has(.passwordChanged))
    #expect(!answer.has(.administrator))
    #expect(!answer.rulesOut(.oneProcess))
    #expect(!answer.rulesOut(.everyRequestAnswered))
    #expect(
      answer.findings.proven.contains { $0.values.contains(.word("rejected 401 TOKEN_REUSED")) })
    #expect(answer.has(.cameBack))
    #expect(answer.has(.overtakenAfterDeadline))
  }

  @Test(
    "RPL-6 the code of the last refusal decides the certainty",
    arguments: [
      ("TOKEN_REUSED", "family-revoked", Certainty.likely),
      ("INVALID_GRANT", "family-revoked", .possible), (nil, "family-revoked", .possible),
      ("TOKEN_NOT_FOUND", "family-revoked", .possible),
      ("TOKEN_EXPIRED", "refresh-token-expired", .proven),
      ("PASSWORD_CHANGED", "password-changed", .proven),
    ] as [(String?, String, Certainty)])
  func lastCode(_ code: String?, _ cause: String, _ certainty: Certainty) {
    let answer = overtaken(.refusal("TOKEN_REUSED")) { $0.refuse(90, code, of: 2, by: 200) }
      .answer()
    #expect(answer.cause.id == cause)
    #expect(answer.certainty == certainty)
  }

  @Test("RPL-6 a token that was refreshed after the reuse was not revoked by it")
  func refreshedAfterwards() {
    let answer = overtaken(.refusal("TOKEN_REUSED")) { history in
      let request = history.add(90, .sent(2, by: 200, until: 96))
      history.add(91, .succeeded(3, at: 91, request))
      history.refuse(120, "TOKEN_REVOKED", of: 3, by: 200)
    }.answer()
    #expect(answer.cause == .revokedElsewhere)
    #expect(!answer.rulesOut(.oneProcess))
  }

  @Test(
    "RPL-6 of two requests with one token, the one that was refused as reused came second",
    arguments: [("TOKEN_REUSED", "family-revoked"), ("TOKEN_REVOKED", "revoked-elsewhere")])
  func twins(_ code: String, _ cause: String) {
    var history = WhyHistory()
    history.add(5, .opened(200, at: 5))
    let first = history.add(60, .sent(1, until: 66))
    let second = history.add(67, .failed(.lost, first, retry: 67), .sent(1, by: 200, until: 73)) + 1
    // The second one is refused before the first one's process returns with the newer token.
    history.add(68, .failed(.refusal(code), second, retry: 75))
    history.add(70, .succeeded(2, at: 70, first))
    history.refuse(90, "TOKEN_REVOKED", of: 2)
    let answer = history.answer()
    #expect(answer.cause.id == cause)
    #expect(answer.certainty == (code == "TOKEN_REUSED" ? .likely : .proven))
  }

  @Test(
    "REF-21 RPL-6 a token that was sent again while its answer could not be stored was reused by the app",
    arguments: [
      ("TOKEN_REUSED", true, .likely), ("TOKEN_REVOKED", true, .possible), (nil, true, .possible),
      ("TOKEN_REUSED", false, .likely), ("TOKEN_REVOKED", false, .possible),
    ] as [(String?, Bool, Certainty)])
  func unstored(_ code: String?, _ isStoredLater: Bool, _ certainty: Certainty) {
    var history = WhyHistory()
    history.add(5, .opened(200, at: 5))
    let first = history.add(60, .sent(1, until: 66))
    let full = SessionNote.StorageFailed(
      item: .token, operation: .write, cause: .noRoom, number: 28)
    history.add(61, .note(.storageFailed(full)))
    let second = history.add(67, .failed(.lost, first, retry: 67), .sent(1, by: 200, until: 73)) + 1
    if isStoredLater {
      // The end of the second request may have had no room either.
      if let code { history.add(68, .failed(.refusal(code), second, retry: 75)) }
      history.add(70, .succeeded(2, at: 70, first))
      history.refuse(90, "TOKEN_REVOKED", of: 2)
    } else {
      history.end(68, .refusal(code), 1, second)
    }
    let answer = history.answer()
    #expect(answer.cause == .familyRevoked && answer.certainty == certainty)
    #expect(answer.has(.storeFailed) && answer.has(.answerArrived) && answer.has(.familyEnded))
    #expect(answer.has(.overtakenAfterDeadline) && !answer.has(.rotatedReplyLost))
    #expect(answer.findings.advice.contains { $0.what == .checkStore })
  }

  @Test("RPL-6 a lost reply to an older token may be why a family was revoked")
  func lostBeforeThat() {
    var history = WhyHistory()
    let first = history.attempt(60, .lost)
    var request = history.add(63, .sent(1, until: 69))
    for (generation, seconds) in [(2, 64), (3, 164)] as [(UInt64, Int64)] {
      history.add(seconds, .succeeded(generation, at: seconds, request))
      request = history.add(seconds + 90, .sent(generation, until: seconds + 96))
    }
    history.end(260, .refusal("TOKEN_REVOKED"), 3, request)
    let answer = history.answer()
    #expect(answer.cause == .revokedElsewhere)
    #expect(!answer.rulesOut(.everyRequestAnswered))
    #expect(
      answer.findings.inferred.contains { $0.what == .lateTwin && $0.values.first == .place(first) }
    )
  }

  @Test("RPL-6 another process that used an older token is not ruled out")
  func otherProcessBefore() {
    var history = WhyHistory()
    history.add(5, .opened(200, at: 5))
    let request = history.add(60, .sent(1, by: 200, until: 66))
    history.add(61, .succeeded(2, at: 61, request))
    history.refuse(90, "TOKEN_REVOKED", of: 2)
    #expect(!history.answer().rulesOut(.oneProcess))
    #expect(history.answer().rulesOut(.everyRequestAnswered))
  }

  @Test("RPL-6 the requests of an earlier sign-in do not matter for this one")
  func earlierSignIn() {
    var history = overtaken(.refusal("TOKEN_REUSED")) {
      $0.add(80, .event(.logout(.init(reason: .user))))
    }
    history.add(100, .login(3, at: 100))
    history.refuse(200, "TOKEN_REVOKED", of: 3)
    #expect(history.answer().cause == .revokedElsewhere)
    #expect(history.answer().rulesOut(.everyRequestAnswered))
    #expect(history.answer().rulesOut(.oneProcess))
  }

  @Test("RPL-6 nothing is ruled out for tokens whose records were compacted or lost")
  func unknownBefore() {
    var history = WhyHistory()
    history.add(50, .cut)
    let request = history.add(60, .sent(1, until: 66))
    history.add(61, .succeeded(2, at: 61, request))
    history.refuse(90, "TOKEN_REVOKED", of: 2)
    #expect(!history.answer().rulesOut(.everyRequestAnswered))
    #expect(!history.answer().rulesOut(.oneProcess))
  }

  @Test("RPL-6 of many older requests the most informative ones are kept")
  func many() {
    var history = WhyHistory()
    var request: UInt64 = 0
    var reused: UInt64 = 0
    for generation in 1...60 as ClosedRange<UInt64> {
      let seconds = Int64(generation) * 100
      let lost = history.attempt(seconds, .lost, of: generation)
      if generation == 59 { reused = lost }
      request = history.add(seconds + 5, .sent(generation, until: seconds + 11))
      history.add(seconds + 6, .succeeded(generation + 1, at: seconds + 6, request))
    }
    history.add(6_050, .ended(reused, .refusal("TOKEN_REUSED")))
    history.refuse(6_100, "TOKEN_REVOKED", of: 61)
    let answer = history.answer()
    #expect(answer.cause.id == "family-revoked")
    #expect(answer.chain.count < 40)
  }
}
