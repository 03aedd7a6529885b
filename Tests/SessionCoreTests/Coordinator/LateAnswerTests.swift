import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

/// The response to a request after another process took its place and announced its token.
@Suite("Decisions: responses that arrive after another process's token")
struct LateAnswerTests {
  private static let reused = RequestFailure(
    kind: .rejected, status: 401, serverCode: "TOKEN_REUSED")

  /// A refresh is sent; then another process takes its place.
  private func overtaken() throws -> (CoordinatorBench, RequestNumber, [SessionRecord.Content]) {
    var bench = CoordinatorBench.signedIn()
    let (_, effects) = bench.refresh()
    let number = try #require(effects.request)
    let lost = SessionEvent.RefreshFailed(
      generation: Generation(1), trigger: .manual, attempt: 1,
      failure: RequestFailure(kind: .noReply), retryAt: bench.now.time, request: 2)
    let theirs = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .retry, attempt: 2, process: 99,
      deadline: bench.now.time.advanced(by: 31_000))
    return (
      bench, number,
      [.event(.refreshFailed(lost)), .note(.requestSent(theirs)), .event(.refreshed(to: 2))]
    )
  }

  private func records(_ bench: CoordinatorBench, _ contents: [SessionRecord.Content])
    -> [SessionRecord]
  {
    zip(UInt64(bench.journal.count + 1)..., contents).map {
      SessionRecord(sequence: $0, time: bench.now.time, content: $1)
    }
  }

  @Test("RPL-6 a refusal after another process's token is journaled")
  func refusedLater() throws {
    var (bench, number, contents) = try overtaken()
    bench.tell(.observed(records(bench, contents), isHolderGone: false))
    let before = bench.journal.count
    bench.tell(.failed(number, Self.reused, jitter: 0))
    let end = SessionNote.RequestEnded(request: 2, failure: Self.reused)
    #expect(bench.journal.dropFirst(before).map(\.content) == [.note(.requestEnded(end))])
    #expect(bench.coordinator.state.kind == .authenticated)
    // It is journaled once.
    bench.tell(.failed(number, Self.reused, jitter: 0))
    #expect(bench.journal.count == before + 1)
  }

  @Test(
    "OUT-7 a response after another process's token is revoked only after a full logout",
    arguments: [LogoutScope.deviceAndServer, .thisDeviceOnly])
  func answeredAfterLogout(scope: LogoutScope) throws {
    var (bench, number, contents) = try overtaken()
    bench.tell(.observed(records(bench, contents), isHolderGone: false))
    bench.tell(.logout(bench.caller(), scope))
    bench.tell(.wiped(.done))
    let late = bench.tell(.answered(number, .token()))
    #expect(late.contains(.discard(number, revoking: scope == .deviceAndServer)))
  }

  @Test("RPL-6 a refusal is kept if its commit meets another process's token")
  func refusedInConflict() throws {
    var (bench, number, contents) = try overtaken()
    bench.commitEndings = [.conflicts(contents)]
    let before = bench.journal.count + contents.count
    bench.tell(.failed(number, Self.reused, jitter: 0))
    let end = SessionNote.RequestEnded(request: 2, failure: Self.reused)
    #expect(bench.journal.dropFirst(before).map(\.content) == [.note(.requestEnded(end))])
  }

  @Test("RPL-6 a refusal is kept if its commit meets a stored token")
  func refusedBeforeRecovery() throws {
    var (bench, number, _) = try overtaken()
    bench.commitEndings = [.superseded(.refreshed(to: 2))]
    bench.tell(.failed(number, Self.reused, jitter: 0))
    let end = SessionNote.RequestEnded(request: 2, failure: Self.reused)
    #expect(bench.journal.last?.content == .note(.requestEnded(end)))
    #expect(bench.names.contains("tokenRecovered"))
  }

  @Test("RPL-6 a token that arrives after another process's token is journaled as unused")
  func answeredLater() throws {
    var (bench, number, contents) = try overtaken()
    bench.tell(.observed(records(bench, contents), isHolderGone: false))
    let effects = bench.tell(.answered(number, .token(rotated: true)))
    #expect(bench.journal.last?.name == "answerUnused")
    #expect(effects.contains(.discard(number, revoking: false)))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("REF-3 after a late token, a refresh waits for the request that replaced the lost one")
  func tokenOfReplacedRequest() throws {
    var bench = CoordinatorBench.signedIn()
    func sent(by process: UInt32, attempt: UInt32) -> SessionRecord.Content {
      .note(
        .requestSent(
          SessionNote.RequestSent(
            kind: .refresh, generation: Generation(1), trigger: .retry, attempt: attempt,
            process: process, deadline: bench.now.time.advanced(by: 31_000))))
    }
    let lost = SessionNote.RequestEnded(request: 2, failure: RequestFailure(kind: .noReply))
    bench.tell(
      .observed(
        records(
          bench,
          [
            sent(by: 98, attempt: 1), .note(.requestEnded(lost)), sent(by: 99, attempt: 2),
            .event(.refreshed(to: 2, request: 2)),
          ]), isHolderGone: false))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    let (caller, effects) = bench.refresh()
    #expect(effects.sendCount == 0 && effects.reply(to: caller) == nil)
    let end = bench.tell(.observed(records(bench, [.note(.answerUnused(4))]), isHolderGone: false))
    #expect(end.sendCount == 1)
  }

  /// A switch of context is under way, in place of a request that was presumed lost.
  private func switching(isSent: Bool) throws -> (CoordinatorBench, Caller, RequestNumber) {
    var bench = CoordinatorBench.signedIn()
    let lost = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .retry, attempt: 1, process: 98,
      deadline: bench.now.time)
    let end = SessionNote.RequestEnded(request: 2, failure: RequestFailure(kind: .noReply))
    bench.commitEndings = [.conflicts([.note(.requestSent(lost)), .note(.requestEnded(end))])]
    let caller = bench.caller()
    let number = try #require(bench.tell(.switchContext(caller)).request)
    if isSent { bench.tell(.leaving(number)) }
    return (bench, caller, number)
  }

  @Test("CTX-2 REF-11 a switch that was not sent yet is decided again with a late token")
  func unsentSwitch() throws {
    var (bench, _, number) = try switching(isSent: false)
    bench.tell(
      .observed(records(bench, [.event(.refreshed(to: 2, request: 2))]), isHolderGone: false))
    bench.tell(.leaving(number))
    #expect(!bench.coordinator.mayLeave(number))
  }

  @Test("CTX-2 REF-3 the response to a switch is noted as unused after a late token")
  func answeredSwitch() throws {
    var (bench, caller, number) = try switching(isSent: true)
    bench.tell(
      .observed(records(bench, [.event(.refreshed(to: 2, request: 2))]), isHolderGone: false))
    let effects = bench.tell(.answered(number, .token()))
    #expect(effects.reply(to: caller) != nil)
    #expect(bench.names.contains("answerUnused"), "\(bench.names)")
    #expect(bench.coordinator.fold.intents.request == nil)
  }

  @Test("RPL-6 a request without a response is not named again")
  func nothingCame() throws {
    var (bench, number, contents) = try overtaken()
    bench.tell(.observed(records(bench, contents), isHolderGone: false))
    let before = bench.journal.count
    bench.tell(.failed(number, RequestFailure(kind: .noReply), jitter: 0))
    #expect(bench.journal.count == before)
  }

  @Test("REF-11 a response that arrives after the session's end is not journaled")
  func endedSince() throws {
    var (bench, number, contents) = try overtaken()
    bench.tell(.observed(records(bench, contents + [.event(.loggedOut())]), isHolderGone: false))
    let before = bench.journal.count
    bench.tell(.failed(number, Self.reused, jitter: 0))
    #expect(bench.journal.count == before)
  }
}

/// The machine of late responses, transition by transition.
@Suite("The machine LateResponses")
struct LateResponsesTests {
  private let one = RequestNumber(1)
  private let two = RequestNumber(2)

  @Test("OUT-4 a request of which nothing is known has no fate")
  func unknown() {
    var machine = LateResponses()
    #expect(!machine.isSpared(one))
    let fate = machine.end(one)
    #expect(!fate.isAbandoned && !fate.isSpared && fate.intent == nil)
    #expect(machine == LateResponses())
  }

  @Test("OUT-4 abandoned: the tokens are revoked once, and the request is forgotten")
  func abandoned() {
    var machine = LateResponses()
    machine.abandon(one)
    #expect(!machine.end(two).isAbandoned)
    #expect(machine.end(one).isAbandoned)
    #expect(!machine.end(one).isAbandoned)
    #expect(machine == LateResponses())
  }

  @Test("RPL-6 superseded: the intent is known when the response arrives")
  func superseded() {
    var machine = LateResponses()
    machine.supersede(one, intent: 41)
    #expect(!machine.isSpared(one))
    #expect(machine.end(one).intent == 41)
    #expect(machine.end(one).intent == nil)
  }

  @Test("OUT-7 a logout of this device spares superseded requests, and no abandoned login")
  func spared() {
    var machine = LateResponses()
    machine.supersede(one, intent: 41)
    machine.abandon(two)
    machine.spareSuperseded()
    #expect(machine.isSpared(one) && !machine.isSpared(two))
    let fate = machine.end(one)
    #expect(fate.isSpared && fate.intent == 41)
    #expect(!machine.isSpared(one))
  }

  @Test("LOG-9 OUT-4 an adopted request is spared, however often its response arrives")
  func adopted() {
    var machine = LateResponses()
    machine.adopt(one)
    machine.abandon(one)
    #expect(machine.isSpared(one) && !machine.isSpared(two))
    let fate = machine.end(one)
    #expect(fate.isAbandoned && fate.isSpared)
    #expect(machine.isSpared(one) && machine.end(one).isSpared)
  }

  @Test("OUT-7 a request that was open at a logout of this device is spared once")
  func sparedOnce() {
    var machine = LateResponses()
    machine.spare(one)
    #expect(machine.end(one).isSpared)
    #expect(!machine.end(one).isSpared && !machine.isSpared(one))
  }
}
