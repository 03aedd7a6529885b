@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: a refresh token that needs the user's presence")
struct PresenceDecisionTests {
  static let lifetime = CoordinatorBench.lifetime

  private func opened() throws -> CoordinatorBench {
    var bench = try CoordinatorBench(journal: [.event(OpenDecisionTests.login)])
    bench.tell(.opened(.session(1)))
    return bench
  }

  @Test("STO-2 a scheduled refresh with a withheld token is no attempt and sets no timer")
  func scheduled() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime - 30_000)
    bench.commitEndings = [.presenceNeeded]
    let effects = bench.tell(.fired(.refresh))
    #expect(effects.isEmpty && bench.names == ["login"])
    #expect(bench.coordinator.activity == .idle)
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime))
    bench.advance(by: Self.lifetime)
    #expect(bench.coordinator.state.kind == .authenticated, "nobody is logged out by that")
    // The app reports that the user may have confirmed their presence.
    bench.commitEndings = [.presenceNeeded]
    #expect(bench.tell(.fired(.restore)).isEmpty && bench.names == ["login"])
    #expect(bench.tell(.fired(.restore)).sendCount == 1)
    #expect(bench.names == ["login", "requestSent"])
    #expect(bench.tell(.fired(.restore)).isEmpty, "it is on the wire")
  }

  @Test("STO-2 a manual refresh fails with needsPresence until the user confirms")
  func asked() throws {
    var bench = try opened()
    for _ in 0..<2 {
      let caller = bench.caller()
      bench.commitEndings = [.presenceNeeded]
      let effects = bench.tell(.refresh(caller, .manual, .always))
      #expect(effects == [.resume(caller, .failed(.needsPresence))])
    }
    #expect(bench.names == ["login"])
    #expect(bench.tell(.fired(.restore)).isEmpty, "a good token is not refreshed unasked")
    #expect(bench.tell(.refresh(bench.caller(), .manual, .always)).sendCount == 1)
  }

  @Test(
    "STO-2 REF-2 with an expired token, calls, switches and foreground fail; unlocking refreshes"
  )
  func expired() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime + 1)
    bench.commitEndings = [.presenceNeeded, .presenceNeeded, .presenceNeeded]
    var caller = bench.caller()
    #expect(
      bench.tell(.refresh(caller, .command, .ifExpired))
        == [.resume(caller, .failed(.needsPresence))])
    caller = bench.caller()
    #expect(bench.tell(.switchContext(caller)) == [.resume(caller, .failed(.needsPresence))])
    caller = bench.caller()
    #expect(bench.tell(.foreground(caller)) == [.resume(caller, .failed(.needsPresence))])
    #expect(bench.names == ["login"] && bench.commitEndings.isEmpty)
    caller = bench.caller()
    let effects = bench.tell(.unlock(caller))
    #expect(effects.contains(.resume(caller, .current)) && effects.sendCount == 1)
  }

  @Test("STO-2 a switch with a good token does not need the user")
  func switches() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime - 30_000)
    bench.commitEndings = [.presenceNeeded]
    bench.tell(.fired(.refresh))
    #expect(bench.tell(.switchContext(bench.caller())).sendCount == 1)
  }

  @Test("STO-2 OUT-1 a logout ends the wait, and no refresh follows later")
  func loggedOut() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime + 1)
    bench.commitEndings = [.presenceNeeded]
    bench.tell(.refresh(bench.caller(), .command, .ifExpired))
    bench.tell(.logout(bench.caller()))
    #expect(bench.coordinator.state.kind == .unauthenticated)
    #expect(bench.tell(.fired(.restore)).sendCount == 0)
  }

  @Test("STO-2 REF-14 unlocking does not shorten the pause that a server requested meanwhile")
  func unlockInPause() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime - 30_000)
    bench.commitEndings = [.presenceNeeded]
    bench.tell(.fired(.refresh))
    let sent = bench.tell(.refresh(bench.caller(), .manual, .always))
    let number = try #require(sent.request)
    let busy = RequestFailure(kind: .rateLimited, status: 429, retryAfter: .seconds(90))
    let failed = bench.tell(.failed(number, busy, jitter: 0))
    #expect(failed.uptime(of: .refresh) == bench.now.uptime + 90_000)
    #expect(bench.tell(.unlock(bench.caller())).sendCount == 0)
    bench.advance(by: 90_000)
    #expect(bench.tell(.fired(.refresh)).sendCount == 1)
  }
}
