@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Decisions: another process's session whose token is missing")
struct LostSessionTests {
  /// A bench whose own sign-in is on the wire while a caller's switch finds that another process has
  /// signed Ada in.
  private func overtaken() -> (bench: CoordinatorBench, signer: Caller, switcher: Caller) {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let (signer, switcher) = (bench.caller(), bench.caller())
    bench.tell(.login(signer, .password))
    bench.lookEndings = [.finds([.event(.login(as: "ada"))])]
    bench.tell(.switchContext(switcher))
    return (bench, signer, switcher)
  }

  @Test("REF-3 RES-1 a session that ends after a second read of its items answers every caller")
  func endsAtRestore() {
    var (bench, signer, switcher) = overtaken()
    // It was found here, so this process looks in the right place.
    bench.tell(.reloaded(Generation(1), .found()))
    bench.tell(.reloaded(Generation(1), .unread))
    #expect(bench.tell(.fired(.restore)) == [.readSecrets])
    // One missing read does not prove that it is gone (RES-7).
    bench.tell(.secretsRead(.nothing))
    bench.advance(by: 1_000)
    bench.tell(.secretsRead(.nothing))
    bench.advance(by: 3_000)
    let effects = bench.tell(.secretsRead(.nothing))
    #expect(bench.names == ["login", "storageFailed", "sessionExpired", "logout"])
    for caller in [signer, switcher] {
      #expect(effects.reply(to: caller) == .failed(.ended(.unauthenticated, by: nil)))
    }
    #expect(effects.contains(.cancel(.refresh)))
    #expect(effects.contains(.wipe(.session)))
    // The sign-in ended with the session: its late response is revoked.
    let answered = bench.tell(.answered(RequestNumber(1), .login("ada")))
    #expect(answered == [.discard(RequestNumber(1), revoking: true)])
  }

  @Test("RES-1 a token of an unexpected generation is checked at once")
  func otherToken() {
    var (bench, _, switcher) = overtaken()
    #expect(bench.tell(.reloaded(Generation(1), .other)) == [.readSecrets])
    #expect(bench.coordinator.activity == .loading)
    let effects = bench.tell(.secretsRead(.session(0)))
    #expect(bench.names == ["login", "sessionExpired", "logout"])
    #expect(effects.reply(to: switcher) == .failed(.ended(.unauthenticated, by: nil)))
  }

  @Test("REF-7 a token newer than the announced one proves an event that a crash prevented")
  func newerToken() throws {
    let refreshed = SessionEvent.refreshed(to: 2)
    var bench = try CoordinatorBench(journal: [.event(.login(as: "ada"))])
    bench.tell(.opened(.session(1)))
    bench.commitEndings = [.conflicts([.event(refreshed)])]
    bench.refresh()
    #expect(bench.tell(.reloaded(Generation(2), .other)) == [.readSecrets])
    bench.tell(.secretsRead(.session(3, announcing: .refreshed(to: 3))))
    #expect(bench.coordinator.state.token?.generation == Generation(3))
    #expect(bench.names.suffix(2) == ["tokenRecovered", "refreshSucceeded"])
  }

  @Test("RES-1 a result about a token that is no longer current changes nothing")
  func late() {
    var (bench, _, _) = overtaken()
    let before = bench.coordinator
    for outcome in [.found(), .other, .unread] as [SessionInput.Reload] {
      #expect(bench.tell(.reloaded(Generation(7), outcome)).isEmpty)
      #expect(bench.coordinator == before)
    }
    #expect(bench.tell(.reloaded(Generation(1), .found())).isEmpty)
    #expect(
      bench.coordinator.state == before.state && bench.coordinator.activity == before.activity)
  }
}
