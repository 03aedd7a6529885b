@_spi(Internals) import SessionCore
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// What notes about the secret store say about an answer and about a session that is open.
@Suite("Why reads the notes of the secret store")
struct WhyStorageTests {
  private func note(
    _ operation: StorageOperation, _ cause: StorageCause, _ number: Int64 = 0,
    of item: SecretItem = .token
  ) -> SessionRecord.Content {
    .note(.storageFailed(.init(item: item, operation: operation, cause: cause, number: number)))
  }

  private func recovered(_ operation: StorageOperation) -> SessionRecord.Content {
    .note(.storageRecovered(.init(item: .token, operation: operation)))
  }

  /// A process is killed during a refresh; the next one is refused.
  private func killed(_ notes: (inout WhyHistory) -> Void) -> Explanation {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 366))
    notes(&history)
    history.add(70, .opened(101, at: 70), .failed(.lost, lost, retry: 70))
    history.refuse(90, "TOKEN_REUSED", by: 101)
    return history.answer()
  }

  // MARK: An answer that was not stored

  @Test("RPL-3 STO-5 a token that could not be written had arrived, though the process was killed")
  func unwritten() {
    let answer = killed { $0.add(61, note(.write, .noRoom, 28)) }
    #expect(answer.cause == .answerNotStored && answer.certainty == .likely)
    #expect(answer.certainty(of: .answerArrived) == .likely)
    #expect(answer.has(.rotatedAnswerDropped) && !answer.has(.rotatedReplyLost))
    #expect(answer.findings.advice.first?.what == .checkStore)
    #expect(
      !answer.findings.advice.contains { $0.what == .makeStorable || $0.what == .crashReports })
  }

  @Test("RPL-6 another process may have written, so the arrival is only possible")
  func unwrittenByAnother() {
    let answer = killed {
      $0.add(60, .opened(300, at: 60))
      $0.add(61, note(.write, .noRoom, 28))
    }
    #expect(answer.cause == .answerNotStored && answer.certainty == .possible)
    #expect(answer.certainty(of: .answerArrived) == .possible)
  }

  @Test("RPL-6 a write that succeeded again, or another operation, tells of no answer")
  func written() {
    let again = killed {
      $0.add(61, note(.write, .noRoom, 28))
      $0.add(62, recovered(.write))
    }
    #expect(again.cause == .killedInRefresh && !again.has(.answerArrived))
    let read = killed { $0.add(61, note(.read, .failed, 5)) }
    #expect(read.cause == .killedInRefresh)
    let user = killed { $0.add(61, note(.write, .noRoom, 28, of: .user)) }
    #expect(user.cause == .killedInRefresh)
  }

  // MARK: A store that does not work

  @Test(
    "RPL-3 STO-5 a store that does not work is named, by its cause, its number and the system",
    arguments: [
      (.failed, -34_018, nil, .stillStoreFailing, .proven, .checkEntitlement),
      (.failed, 5, .linux, .stillStoreFailing, .proven, .checkStore),
      (.noRoom, 28, .iOS, .stillStoreFailing, .proven, .checkStore),
      (.refused, 13, .linux, .stillAccessRefused, .proven, .checkStore),
      (.failed, 13, .linux, .stillAccessRefused, .proven, .checkStore),
      (.unavailable, 0, .linux, .stillAccessRefused, .likely, .checkStore),
      (.unavailable, 0, .iOS, .stillSecretsLocked, .proven, .firstUnlock),
      (.unavailable, 0, nil, .stillSecretsLocked, .proven, .firstUnlock),
      (.missing, 0, .linux, .stillSignedIn, .proven, nil),
    ] as [(StorageCause, Int64, Platform?, Cause, Certainty, AdviceWord?)])
  func broken(
    _ cause: StorageCause, _ number: Int64, _ platform: Platform?, _ expected: Cause,
    _ certainty: Certainty, _ advice: AdviceWord?
  ) {
    var history = WhyHistory()
    history.add(100, opened(on: platform, at: 100), note(.read, cause, number))
    let answer = history.answer()
    #expect(answer.cause == expected && answer.certainty == certainty)
    #expect(answer.findings.advice.first?.what == advice)
    #expect(answer.has(.storeFailed))
    history.add(110, recovered(.read))
    #expect(history.answer().cause == .stillSignedIn)
  }

  @Test("RPL-6 a failure before the last opening or the newest token may be over")
  func over() {
    var opened = WhyHistory()
    opened.add(50, note(.read, .failed, -34_018))
    #expect(opened.answer().cause == .stillStoreFailing)
    opened.add(60, .opened(101, at: 60))
    #expect(opened.answer().cause == .stillSignedIn)
    var renewed = WhyHistory()
    renewed.add(50, note(.write, .noRoom, 28))
    let request = renewed.add(60, .sent(1, until: 66))
    renewed.add(61, .succeeded(2, at: 61, request))
    #expect(renewed.answer().cause == .stillSignedIn)
    let refused = renewed.attempt(70, RequestFailure(kind: .server, status: 503), of: 2)
    #expect(renewed.answer(at: refused + 1).cause == .refreshFailed)
    #expect(renewed.answer().cause == .stillServerFailing)
  }

  @Test("RPL-6 what a killed process could not store may still not be stored")
  func openAfterKill() {
    var history = WhyHistory()
    let lost = history.add(60, .sent(1, until: 366))
    history.add(61, note(.write, .noRoom, 28))
    #expect(history.answer().cause == .stillStoreFailing)
    history.add(70, .opened(101, at: 70), .failed(.lost, lost, retry: 70))
    let answer = history.answer()
    #expect(answer.cause == .stillStoreFailing && answer.certainty == .possible)
    #expect(answer.has(.answerArrived) && !answer.has(.offline))
  }

  // MARK: Words for the system

  @Test(
    "RPL-3 advice fits the system that wrote the journal",
    arguments: [(Platform.linux, "SIGTERM"), (.iOS, "SessionLifecycle")])
  func system(_ platform: Platform, _ word: String) throws {
    let answer = try WhyRun(.killedInRefresh).edited { record in
      guard case .note(.opened(let opened)) = record.content else { return record }
      return record.with(
        .note(
          .opened(
            .init(
              process: opened.process, boot: opened.boot, uptime: opened.uptime,
              identity: ProcessIdentity(opening: "o", boot: opened.boot, namespace: nil, start: 0),
              platform: platform))))
    }.answer()
    #expect(answer.cause == .killedInRefresh)
    let text = WhyText(zone: .utc).text(answer)
    #expect(text.contains(word))
    #expect(text.contains("SessionLifecycle") == (platform == .iOS))
  }

  @Test("RPL-3 the refresh threshold is advised only if the server limited the rate")
  func threshold() throws {
    let run = try WhyRun(.refreshingTooOften)
    #expect(run.answer().findings.advice.contains { $0.what == .shorterThreshold })
    let answer = run.edited { record in
      record.failing { _ in RequestFailure(kind: .server, status: 503) }
    }.answer()
    #expect(answer.cause == .serverFailing && answer.has(.thresholdTooLong))
    #expect(!answer.findings.advice.contains { $0.what == .shorterThreshold })
  }

  @Test("RPL-3 a token of unstated life has no lifetime in words")
  func unstatedLife() {
    let token = TokenMetadata(
      generation: Generation(1), issuedAt: WhyHistory.time(0),
      expiresAt: WhyHistory.time(0).advanced(by: TokenMetadata.unknownLifetime),
      isRefreshable: false)
    var history = WhyHistory.empty
    history.add(0, .opened(100, at: 0))
    history.add(0, .event(.login(.init(user: "u1", method: .password, token: token, context: nil))))
    let answer = history.answer()
    #expect(answer.cause == .stillSignedIn && !answer.has(.tokenLives))
    #expect(WhyText(zone: .utc).text(answer).contains("tok#1 of unstated life, not refreshable"))
  }

  private func opened(on platform: Platform?, at seconds: Int64) -> SessionRecord.Content {
    .note(
      .opened(
        .init(
          process: 101, boot: "first", uptime: 10_000 + seconds * 1_000,
          identity: ProcessIdentity(opening: "o", boot: "first", namespace: "n", start: 7),
          platform: platform)))
  }
}
