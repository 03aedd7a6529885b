import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

/// A logout that revokes nothing.
@Suite("Decisions: a logout of this device only")
struct LocalLogoutDecisionTests {
  @Test("OUT-7 a local logout wipes everything and opens no revocation")
  func local() {
    var bench = CoordinatorBench.signedIn()
    let caller = bench.caller()
    let effects = bench.tell(.logout(caller, .thisDeviceOnly))
    #expect(effects.contains(.wipe(.everything(keepingRevocation: nil))))
    #expect(bench.names.last == "logout")
    #expect(
      bench.tell(.wiped(.done)) == [.resume(caller, .loggedOut(nil, status: 0, isWiped: true))])
    #expect(bench.coordinator.fold.intents.revocations.isEmpty)
  }

  @Test("OUT-7 it stays a local logout if another process appends first")
  func conflict() {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([.note(.clockSkew(90_000))])]
    bench.tell(.logout(bench.caller(), .thisDeviceOnly))
    #expect(bench.names.last == "logout" && !bench.names.contains("revocationPending"))
  }

  @Test(
    "OUT-7 OUT-4 the late response to a refresh is revoked after a full logout only",
    arguments: [LogoutScope.deviceAndServer, .thisDeviceOnly])
  func late(scope: LogoutScope) throws {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.refresh(bench.caller(), .manual, .always))
    let number = try #require(sent.request)
    bench.tell(.logout(bench.caller(), scope))
    bench.tell(.wiped(.done))
    let late = bench.tell(.answered(number, .token()))
    #expect(late.contains(.discard(number, revoking: scope == .deviceAndServer)))
  }

  @Test("OUT-7 the same applies if another process logged out", arguments: [false, true])
  func peer(revokes: Bool) throws {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.refresh(bench.caller(), .manual, .always))
    let number = try #require(sent.request)
    let generation = try #require(bench.coordinator.state.token?.generation)
    let left = SessionRecord.Content.event(.logout(SessionEvent.Logout(reason: .user)))
    let contents = [left] + (revokes ? [.note(.revocationPending(generation))] : [])
    let records = zip(UInt64(bench.journal.count + 1)..., contents).map {
      SessionRecord(sequence: $0, time: bench.now.time, content: $1)
    }
    bench.tell(.observed(records, isHolderGone: false))
    let late = bench.tell(.answered(number, .token()))
    #expect(late.contains(.discard(number, revoking: revokes)))
  }

  @Test(
    "OUT-7 the same applies if that logout was appended before the response was journaled",
    arguments: [false, true])
  func unjournaled(revokes: Bool) throws {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.refresh(bench.caller(), .manual, .always))
    let number = try #require(sent.request)
    let generation = try #require(bench.coordinator.state.token?.generation)
    let left = SessionRecord.Content.event(.logout(SessionEvent.Logout(reason: .user)))
    bench.commitEndings = [
      .conflicts([left] + (revokes ? [.note(.revocationPending(generation))] : []))
    ]
    let effects = bench.tell(.answered(number, .token()))
    #expect(effects.contains(.discard(number, revoking: revokes)))
    #expect(!effects.contains(.discard(number, revoking: !revokes)))
  }

  @Test(
    "OUT-7 the same applies if the response cannot be journaled, and another process logs out",
    arguments: [false, true])
  func stuck(revokes: Bool) throws {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.refresh(bench.caller(), .manual, .always))
    let number = try #require(sent.request)
    let generation = try #require(bench.coordinator.state.token?.generation)
    bench.commitEndings = [.fails]
    bench.tell(.answered(number, .token()))
    let left = SessionRecord.Content.event(.logout(SessionEvent.Logout(reason: .user)))
    let contents = [left] + (revokes ? [.note(.revocationPending(generation))] : [])
    let records = zip(UInt64(bench.journal.count + 1)..., contents).map {
      SessionRecord(sequence: $0, time: bench.now.time, content: $1)
    }
    let effects = bench.tell(.observed(records, isHolderGone: false))
    #expect(effects.contains(.discard(number, revoking: revokes)))
    #expect(!effects.contains(.discard(number, revoking: !revokes)))
  }
}

/// The machine of pending logouts, transition by transition.
@Suite("The machine PendingLogouts")
struct PendingLogoutsTests {
  private let caller = Caller(1)
  private let other = Caller(2)
  private let token = Generation(7)
  private let wipe = SessionEffect.Wipe.everything(keepingRevocation: Generation(7))

  private func end(isWiped: Bool, of caller: Caller) -> [SessionEffect] {
    [.resume(caller, .loggedOut(.revoked, status: 0, isWiped: isWiped))]
  }

  @Test("OUT-1 none: no result moves anything")
  func none() {
    var machine = PendingLogouts()
    #expect(!machine.isWiping && !machine.waits(for: token))
    #expect(machine.endWipe() == nil)
    let next = machine.wiped(completely: true)
    #expect(next.revoke == nil && next.effects.isEmpty)
    #expect(machine.end(token, .revoked, status: 0).isEmpty)
    #expect(machine.close().isEmpty)
  }

  @Test("OUT-1 wiping: the items are wiped, the token is revoked, the caller is resumed")
  func order() {
    var machine = PendingLogouts()
    #expect(machine.begin(for: caller, revoking: token, wipe) == [.wipe(wipe)])
    #expect(machine.isWiping && machine.waits(for: token))
    // The revocation cannot end before it began.
    #expect(machine.end(token, .revoked, status: 0).isEmpty)
    #expect(machine.endWipe() == wipe)
    #expect(!machine.isWiping)
    let next = machine.wiped(completely: false)
    #expect(next.revoke == token && next.effects.isEmpty)
    #expect(machine.end(token, .revoked, status: 0) == end(isWiped: false, of: caller))
    #expect(!machine.waits(for: token))
    #expect(machine.end(token, .revoked, status: 0).isEmpty)
  }

  @Test("OUT-1 wiping: without a token, the caller is resumed after the wipe")
  func withoutToken() {
    var machine = PendingLogouts()
    _ = machine.begin(for: caller, revoking: nil, .everything(keepingRevocation: nil))
    let next = machine.wiped(completely: true)
    #expect(next.revoke == nil)
    #expect(next.effects == [.resume(caller, .loggedOut(nil, status: 0, isWiped: true))])
  }

  @Test("OUT-1 wiping: two logouts are wiped in order, and each ends with its own token")
  func two() {
    var machine = PendingLogouts()
    _ = machine.begin(for: caller, revoking: token, wipe)
    _ = machine.begin(for: other, revoking: Generation(8), .session(keepingRevocation: nil))
    // The first result ends both requests for a wipe.
    #expect(machine.endWipe() == .session(keepingRevocation: nil))
    #expect(machine.endWipe() == nil)
    #expect(machine.wiped(completely: true).revoke == token)
    #expect(machine.wiped(completely: true).revoke == Generation(8))
    #expect(machine.end(Generation(8), .revoked, status: 0) == end(isWiped: true, of: other))
    #expect(machine.end(token, .revoked, status: 0) == end(isWiped: true, of: caller))
  }

  @Test("OUT-1 revoking: a cancelled caller receives nothing, and its logout goes on")
  func cancelled() {
    var machine = PendingLogouts()
    _ = machine.begin(for: caller, revoking: token, wipe)
    machine.cancel(other)
    machine.cancel(caller)
    #expect(machine.wiped(completely: true).revoke == token)
    #expect(machine.end(token, .revoked, status: 0).isEmpty)
    #expect(!machine.waits(for: token))
  }

  @Test("OUT-1 close: the callers that wait are returned once")
  func closed() {
    var machine = PendingLogouts()
    _ = machine.begin(for: caller, revoking: token, wipe)
    _ = machine.begin(for: nil, revoking: nil, wipe)
    #expect(machine.close() == [caller])
    #expect(machine.close().isEmpty)
  }
}

/// The machine of revocations, transition by transition.
@Suite("The machine Revocations")
struct RevocationsTests {
  private static let policy = PolicyFigures(SessionPolicy())
  private static let now = ClockReading(time: Timestamp(milliseconds: 0), uptime: 1_000)
  private let one = Generation(1)
  private let two = Generation(2)
  private let three = Generation(3)

  /// Continues after a request; `pending` is what the journal says.
  private func proceed(_ machine: inout Revocations, pending: Generation...) -> [SessionEffect] {
    machine.proceed(pending: pending, policy: Self.policy, at: Self.now)
  }

  private func timer(attempt: UInt32) -> [SessionEffect] {
    let delay = Self.policy.revocationDelay(tries: attempt)
    return [.schedule(.revocation, uptime: Self.now.uptime + delay)]
  }

  @Test("OUT-1 idle: several tokens are sent one after the other")
  func oneAfterTheOther() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two], pending: [one, two]) == [.revoke(one)])
    #expect(machine.isSending(one) && !machine.isSending(two))
    machine.ended(one)
    #expect(proceed(&machine, pending: two) == [.revoke(two)])
    machine.ended(two)
    #expect(proceed(&machine).isEmpty)
  }

  @Test("OUT-1 sending: a logout is sent at once, and the queue waits for both")
  func logoutMeanwhile() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two], pending: [one, two]) == [.revoke(one)])
    #expect(machine.begin(three) == [.revoke(three)])
    machine.ended(one)
    #expect(proceed(&machine, pending: two, three).isEmpty)
    machine.ended(three)
    #expect(proceed(&machine, pending: two) == [.revoke(two)])
  }

  @Test("OUT-1 sending: a token that is being sent is not sent a second time")
  func notTwice() {
    var machine = Revocations()
    #expect(machine.begin(one) == [.revoke(one)])
    #expect(machine.begin(each: [one, two], pending: [one, two]).isEmpty)
    machine.ended(one)
    #expect(proceed(&machine, pending: one, two) == [.revoke(two)])
    machine.ended(two)
    #expect(proceed(&machine, pending: one) == timer(attempt: 0))
  }

  @Test("OUT-1 sending: a queued token that another process has revoked is left out")
  func revokedElsewhere() {
    var machine = Revocations()
    #expect(machine.begin(each: [one, two, three], pending: [one, two, three]) == [.revoke(one)])
    machine.ended(one)
    #expect(proceed(&machine, pending: three) == [.revoke(three)])
  }

  @Test("OUT-1 ended: attempts of what is pending have growing delays until one does not fail")
  func attempts() {
    var machine = Revocations()
    for attempt in 0..<4 as Range<UInt32> {
      _ = machine.begin(one)
      machine.ended(one)
      machine.journaled(one, .failed)
      #expect(proceed(&machine, pending: one) == timer(attempt: attempt))
    }
    #expect(timer(attempt: 0) != timer(attempt: 1))
    machine.journaled(two, .revoked)
    #expect(proceed(&machine, pending: one) == timer(attempt: 0))
  }

  @Test("OUT-5 a failure is reported until an outcome without a failure is journaled")
  func reported() {
    var machine = Revocations()
    #expect(!machine.hasReported(one))
    machine.journaled(one, .failed)
    #expect(machine.hasReported(one) && !machine.hasReported(two))
    machine.journaled(one, .alreadyInvalid)
    #expect(!machine.hasReported(one))
  }
}
