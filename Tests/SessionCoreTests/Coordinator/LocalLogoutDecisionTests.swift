@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

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
      bench.tell(.wiped(.done)) == [
        .resume(caller, .loggedOut(nil, status: 0, isWiped: true))
      ])
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
