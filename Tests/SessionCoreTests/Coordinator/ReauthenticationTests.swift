import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: the signed-in user logs in again")
struct ReauthenticationTests {
  private let caller = Caller(900)

  /// A bench whose user is asked to log in again, and the number of that request.
  private func asked() throws -> (bench: CoordinatorBench, login: RequestNumber) {
    var bench = CoordinatorBench.signedIn()
    let login = try #require(bench.tell(.reauthenticate(caller, .interactive)).request)
    return (bench, login)
  }

  @Test("LOG-16 the session goes on with the new token, and its state stays authenticated")
  func renewed() throws {
    var (bench, login) = try asked()
    #expect(bench.coordinator.activity == .authenticating)
    let before = bench.names.count
    let effects = bench.tell(.answered(login, .login("ada")))
    #expect(effects.reply(to: caller) == .signedIn)
    #expect(bench.names[before...] == ["refreshSucceeded"])
    guard case .refreshSucceeded(let event)? = bench.journal.last?.event else {
      Issue.record("no refresh was journaled")
      return
    }
    #expect(event.trigger == .reauthentication && event.request == 0)
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("LOG-16 another context or other permissions append contextSwitched")
  func context() throws {
    var (bench, login) = try asked()
    let before = bench.names.count
    var facts = ResponseMetadata.login("ada")
    facts.context = .plainPrincipal
    bench.tell(.answered(login, facts))
    #expect(bench.names[before...] == ["refreshSucceeded", "contextSwitched"])
  }

  @Test(
    "LOG-16 a response of another user, or of none, is refused and revoked",
    arguments: ["bob", nil] as [Identifier?])
  func other(user: Identifier?) throws {
    var (bench, login) = try asked()
    var facts = ResponseMetadata.login("ada")
    facts.user = user
    let (before, state) = (bench.names, bench.coordinator.state)
    let effects = bench.tell(.answered(login, facts))
    let kind: RequestFailure.Kind = user == nil ? .unreadable : .otherUser
    #expect(effects.reply(to: caller) == .failed(.request(RequestFailure(kind: kind))))
    #expect(effects.contains(.discard(login, revoking: true)))
    #expect(bench.names == before && bench.coordinator.state == state)
  }

  @Test("LOG-16 the token is refreshed while the user is asked, and the response waits for that")
  func refreshMeanwhile() throws {
    var (bench, login) = try asked()
    let other = bench.caller()
    let refresh = try #require(bench.tell(.refresh(other, .manual, .always)).request)
    #expect(bench.tell(.answered(login, .login("ada"))).isEmpty)
    let effects = bench.tell(.answered(refresh, .login("ada")))
    #expect(effects.reply(to: other) == .refreshed)
    #expect(effects.reply(to: caller) == .signedIn)
    #expect(bench.coordinator.state.token?.generation == Generation(3))
  }

  @Test(
    "LOG-16 OUT-4 a logout meanwhile ends it, and its tokens are revoked", arguments: [true, false])
  func logout(isAnswered: Bool) throws {
    var (bench, login) = try asked()
    if isAnswered {
      bench.tell(.refresh(bench.caller(), .manual, .always))
      bench.tell(.answered(login, .login("ada")))
    }
    var effects = bench.tell(.logout(bench.caller()))
    #expect(effects.reply(to: caller) == .failed(.ended(.unauthenticated, by: nil)))
    if !isAnswered { effects = bench.tell(.answered(login, .login("ada"))) }
    #expect(effects.contains(.discard(login, revoking: true)))
    #expect(bench.coordinator.state.kind == .unauthenticated)
  }

  @Test(
    "LOG-16 REF-7 after another process's token, journaled or only stored, its own is the next one",
    arguments: [false, true])
  func peer(isOnlyStored: Bool) throws {
    var (bench, login) = try asked()
    let event = SessionEvent.refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: .plain(2, issuedAt: bench.now.time), trigger: .schedule, attempt: 1,
        isRotated: true, request: 0))
    bench.commitEndings = [isOnlyStored ? .superseded(event) : .conflicts([.event(event)])]
    let effects = bench.tell(.answered(login, .login("ada")))
    #expect(effects.reply(to: caller) == .signedIn)
    #expect(bench.coordinator.state.token?.generation == Generation(3))
  }

  @Test("LOG-16 it is refused without a user, for a registration, and beside another login")
  func refused() throws {
    var (bench, _) = try asked()
    let second = bench.caller()
    #expect(
      bench.tell(.reauthenticate(second, .password)) == [.resume(second, .failed(.busy))])
    #expect(bench.tell(.cancelled(caller)).reply(to: caller) == .failed(.cancelled))
    let third = bench.caller()
    let registered = bench.tell(.reauthenticate(third, .registration)).reply(to: third)
    let rejection = { SessionRejection(state: $0, event: $1, reason: $2) }
    #expect(
      registered == .failed(.rejected(rejection(.authenticated, .login, .differentUser))))
    bench.tell(.logout(bench.caller()))
    let last = bench.caller()
    let signedOut = bench.tell(.reauthenticate(last, .password)).reply(to: last)
    #expect(
      signedOut
        == .failed(.rejected(rejection(.unauthenticated, .refreshSucceeded, .notAuthenticated))))
  }

  @Test("LOG-16 REF-1 a refresh that came due meanwhile follows a refused login")
  func refusedMeanwhile() throws {
    var (bench, login) = try asked()
    let switching = try #require(bench.tell(.switchContext(bench.caller())).request)
    #expect(bench.tell(.answered(login, .login("bob"))).isEmpty)
    #expect(bench.tell(.answered(login, .login("ada"))).isEmpty, "a second one changes nothing")
    bench.advance(by: CoordinatorBench.lifetime - 60_000)
    bench.tell(.fired(.refresh))
    let ended = bench.tell(.failed(switching, RequestFailure(kind: .server), jitter: 0))
    #expect(ended.contains(.discard(login, revoking: true)) && ended.sendCount == 1)
  }

  @Test(
    "LOG-16 REF-7 a response that cannot be stored is kept and stored later, as that of a refresh")
  func unstored() throws {
    var (bench, login) = try asked()
    bench.commitEndings = [.fails]
    let effects = bench.tell(.answered(login, .login("ada")))
    #expect(effects.reply(to: caller) == .failed(.unsettled))
    bench.tell(.fired(.commit))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    #expect(bench.coordinator.activity == .idle)
  }

  @Test("LOG-16 a refresh that the server refuses after the login does not end the session")
  func refusedRefresh() throws {
    var (bench, login) = try asked()
    let other = bench.caller()
    let refresh = try #require(bench.tell(.refresh(other, .manual, .always)).request)
    bench.tell(.answered(login, .login("ada")))
    let refused = RequestFailure(kind: .rejected, status: 400, serverCode: "invalid_grant")
    let effects = bench.tell(.failed(refresh, refused, jitter: 0))
    #expect(effects.reply(to: other) == .refreshed && effects.reply(to: caller) == .signedIn)
    #expect(Array(bench.names.suffix(2)) == ["refreshFailed", "refreshSucceeded"])
  }

  @Test("LOG-16 REF-3 without a refresh token, the response waits for another process's refresh")
  func keepsRefreshToken() throws {
    var (bench, login) = try asked()
    let sent = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 77,
      deadline: bench.now.time.advanced(by: 20_000))
    bench.commitEndings = [.conflicts([.note(.requestSent(sent))])]
    var facts = ResponseMetadata.login("ada")
    facts.hasRefreshToken = false
    let effects = bench.tell(.answered(login, facts))
    #expect(effects.reply(to: caller) == nil && effects.uptime(of: .lease) != nil)
    var closing = bench
    let closer = closing.caller()
    let closed = closing.tell(.close(closer))
    #expect(closed.reply(to: closer) == .closed && closed.reply(to: caller) == .failed(.closed))
    #expect(closed.contains(.discard(login, revoking: true)))
    bench.tell(.fired(.lease))
    let after = bench.tell(.observed([], isHolderGone: true))
    #expect(after.reply(to: caller) == .signedIn)
  }

  @Test("LOG-16 REF-7 a response that another process has journaled is not stored a second time")
  func recovered() throws {
    var (bench, login) = try asked()
    bench.commitEndings = [.failsAfterStoring]
    #expect(bench.tell(.answered(login, .login("ada"))).reply(to: caller) == .failed(.unsettled))
    let token = SessionEvent.refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: .plain(2, issuedAt: bench.now.time), trigger: .reauthentication, attempt: 1,
        isRotated: true, request: 0))
    bench.commitEndings = [.conflicts([.event(token)])]
    bench.tell(.fired(.commit))
    #expect(bench.coordinator.state.token?.generation == Generation(2))
    let again = bench.caller()
    #expect(bench.tell(.reauthenticate(again, .password)).request != nil, "another one can begin")
  }

  @Test("LOG-16 a caller who stops waiting during a commit does not hinder the next one")
  func cancelledLate() throws {
    var (bench, login) = try asked()
    bench.commitEndings = [.fails]
    bench.tell(.answered(login, .login("ada")))
    bench.tell(.cancelled(caller))
    let next = bench.caller()
    #expect(bench.tell(.reauthenticate(next, .password)).reply(to: next) == .failed(.busy))
    bench.tell(.fired(.commit))
    let last = bench.caller()
    let number = try #require(bench.tell(.reauthenticate(last, .password)).request)
    #expect(bench.tell(.answered(number, .login("ada"))).reply(to: last) == .signedIn)
  }

  @Test(
    "LOG-16 RES-7 a login of a session whose token is stored elsewhere does not wait without end")
  func elsewhere() throws {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    bench.lookEndings = [.finds([.event(.login(as: "ada", token: 1))])]
    let login = try #require(bench.tell(.reauthenticate(caller, .interactive)).request)
    bench.tell(.reloaded(Generation(1), .other))
    bench.tell(.answered(login, .login("ada")))
    let effects = bench.tell(.secretsRead(.nothing))
    #expect(effects.reply(to: caller) == .failed(.locked))
    #expect(effects.contains(.discard(login, revoking: true)))
  }
}
