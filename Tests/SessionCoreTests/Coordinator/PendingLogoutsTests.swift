import Testing

@_spi(Internals) @testable import SessionCore

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
