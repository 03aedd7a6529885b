@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// Clocks, starts of the system, cut tails and batches: histories in which absence proves nothing.
@Suite("Why claims nothing that no record covers")
struct WhyGapTests {
  // MARK: Clocks

  @Test("RPL-3 openings before the token's end do not prove the clock after them")
  func clockCovers() throws {
    for (last, isRuledOut) in [(10, false), (3_550, false), (3_650, true)] as [(Int64, Bool)] {
      var history = WhyHistory(isRefreshable: false)
      let opening = history.add(last, .opened(100, at: last))
      history.add(3_700, .event(.sessionExpired(.init(reason: .tokenExpired))))
      let answer = history.answer()
      #expect(answer.cause == .tokenExpired)
      #expect(answer.rulesOut(.clockAgrees) == isRuledOut)
      #expect(
        answer.findings.untold.contains(Untold(.clockSince, [.place(opening)])) == !isRuledOut)
    }
  }

  @Test("RPL-3 the finding that openings agree names the first and the last record")
  func clockRange() throws {
    var history = WhyHistory()
    history.add(30, .opened(101, at: 30))
    let last = history.add(40, .opened(102, at: 40))
    history.refuse(60, "TOKEN_REUSED", by: 102)
    let finding = try #require(history.answer().findings.ruledOut.first { $0.what == .clockAgrees })
    #expect(finding.searched == 1...last)
    #expect(finding.values == [.number(3), .place(1), .place(last), .span(0)])
  }

  @Test(
    "RPL-3 after a clock was set back, the token's remaining lifetime and idle time are not stated")
  func setBack() {
    for (uptime, isTold) in [(100, true), (5_100, false)] as [(Int64, Bool)] {
      var history = WhyHistory()
      history.add(100, .opened(101, at: uptime))
      history.refuse(160, "TOKEN_EXPIRED", by: 101)
      let answer = history.answer()
      #expect(answer.cause == .refreshTokenExpired)
      #expect(answer.rulesOut(.tokenHadLife) == isTold)
      #expect(answer.rulesOut(.tokenRefreshable) == !isTold)
      #expect(answer.has(.unusedTooLong) == isTold)
      #expect(answer.has(.unusedUntold) == !isTold)
    }
    // Before the token arrived, it does not affect the token.
    var before = WhyHistory()
    before.add(100, .opened(101, at: 5_100))
    let request = before.add(120, .sent(1, by: 101, until: 126))
    before.add(121, .succeeded(2, at: 121, request))
    before.refuse(160, "TOKEN_EXPIRED", of: 2, by: 101)
    #expect(before.answer().rulesOut(.tokenHadLife))
  }

  // MARK: Starts of the system

  @Test(
    "RPL-3 an opening without a system start does not prove a restart",
    arguments: [
      ("first", nil, .startUnnamed), (nil, "first", .startUnnamed), (nil, nil, .startUnnamed),
      ("first", "second", .startedAnew),
    ] as [(Identifier?, Identifier?, UntoldWord)])
  func starts(_ one: Identifier?, _ other: Identifier?, _ word: UntoldWord) {
    var history = WhyHistory(isRefreshable: false)
    history.add(10, .opened(101, at: 10, boot: one))
    history.add(20, .opened(102, at: 20, boot: other))
    history.add(3_700, .event(.sessionExpired(.init(reason: .tokenExpired))))
    let answer = history.answer()
    #expect(!answer.rulesOut(.clockAgrees))
    let told = answer.findings.untold.map(\.what).filter {
      $0 == .startUnnamed || $0 == .startedAnew
    }
    #expect(told == [word])
  }

  @Test("RPL-3 after an opening that names no start, other processes may still be active")
  func unnamedOthers() {
    for (boot, isAlone) in [("second", true), (nil, false)] as [(Identifier?, Bool)] {
      var history = WhyHistory()
      history.add(10, .opened(200, at: 10, boot: boot))
      let request = history.add(60, .sent(1, by: 200, until: 66))
      history.add(61, .failed(.lost, request, retry: 70))
      history.refuse(90, "TOKEN_REUSED", by: 200)
      #expect(history.answer().rulesOut(.noOpeningBetween) == isAlone)
      #expect(!history.answer().has(.systemRestarted))
    }
  }

  // MARK: Tails

  @Test("RPL-3 a cut tail may have contained the end of a session that still seems open")
  func cutInSession() {
    var history = WhyHistory()
    history.attempt(60, .offline)
    history.add(100, .opened(101, at: 100), .cut)
    let answer = history.answer()
    #expect(answer.cause == .stillOffline)
    #expect(answer.certainty == .possible)
    #expect(!answer.rulesOut(.noEnd))
    #expect(!answer.has(.nobodySignedOut))
    #expect(answer.findings.untold.contains { $0.what == .cutTail })
    history.add(110, .event(.sessionExpired(.init(reason: .secretsMissing))))
    #expect(!history.answer().rulesOut(.noLogoutByApp))
    #expect(history.answer().certainty == .proven)
    // It contained nothing about a later sign-in.
    history.add(120, .login(2, at: 120))
    #expect(history.answer(at: 8).certainty == .proven)
    history.add(130, .event(.sessionExpired(.init(reason: .secretsMissing))))
    #expect(history.answer().rulesOut(.noLogoutByApp))
  }

  @Test("RPL-3 a tail that was never acknowledged contains no record")
  func tornTail() {
    var history = WhyHistory()
    history.add(
      100, .opened(101, at: 100), .note(.tailCut(.init(bytes: 21, isUndetermined: false))))
    #expect(history.answer().cause == .stillSignedIn)
    #expect(history.answer().certainty == .proven)
  }

  // MARK: Batches

  @Test("RPL-3 a batch that a watermark ended has the state before the next record")
  func watermark() throws {
    var history = WhyHistory()
    let request = history.add(60, .sent(1, until: 66))
    history.add(
      61, .failed(.refusal("TOKEN_REVOKED"), request),
      .event(.sessionExpired(.init(reason: .refreshRejected))))
    var run = history.run
    let end = try #require(run.entries.last).record
    run.entries.removeLast()
    // The watermark took the place of the batch's last record.
    let logout = SessionRecord(
      sequence: end.sequence + 2, time: WhyHistory.time(90),
      content: .event(.logout(.init(reason: .user))))
    run.entries += [
      JournalEntry(record: end, offset: 0, remainingInBatch: 1),
      JournalEntry(record: logout, offset: 0, remainingInBatch: 0),
    ]
    #expect(run.answer().cause == .revokedElsewhere && run.answer().after == .expired)
    let asked = run.answer(at: logout.sequence)
    #expect(asked.cause == .userLogoutAfterExpiry && asked.root.first?.cause == .revokedElsewhere)
  }

  @Test("RPL-3 an end and a login in one batch: the end's decision is still explained")
  func endAndLogin() {
    var history = WhyHistory()
    let request = history.add(60, .sent(1, until: 66))
    let failed = history.add(
      61, .failed(.refusal("TOKEN_REUSED"), request),
      .event(.sessionExpired(.init(reason: .refreshRejected))),
      .event(.logout(.init(reason: .policy))), .login(2, at: 61), .note(.itemUnreadable(.user)))
    for sequence in failed...failed + 2 {
      let answer = history.answer(at: sequence)
      #expect(answer.cause == .usedElsewhere)
      #expect(!answer.has(.endedNothing))
    }
    #expect(history.answer(at: failed + 4).cause == .itemUnreadable)
  }

  @Test("RPL-3 the records that decided an end are kept in a batch of any length")
  func longBatch() {
    for place in [0, 5, 20, 39] {
      var history = WhyHistory()
      let request = history.add(60, .sent(1, until: 66))
      var batch = [SessionRecord.Content](repeating: .note(.closed), count: 40)
      batch.insert(.failed(.refusal("TOKEN_REUSED"), request), at: place)
      batch.append(.event(.sessionExpired(.init(reason: .refreshRejected))))
      let first = history.add(61, batch)
      #expect(history.answer().cause == .usedElsewhere)
      let answer = history.answer(at: first + UInt64(place))
      #expect(answer.cause == .usedElsewhere)
      #expect(!answer.has(.endedNothing))
    }
  }

  @Test("RPL-3 a token that could be refreshed did not certainly end without a refresh token")
  func refreshable() {
    for (isRefreshable, certainty) in [(true, .possible), (false, .proven)] as [(Bool, Certainty)] {
      var history = WhyHistory(isRefreshable: isRefreshable)
      history.add(3_700, .event(.sessionExpired(.init(reason: .tokenExpired))))
      let answer = history.answer()
      #expect(answer.cause == .tokenExpired)
      #expect(answer.certainty == certainty)
      #expect(answer.has(.lifeWasOver) == !isRefreshable)
      #expect(answer.has(.tokenOver) == isRefreshable)
    }
  }
}
