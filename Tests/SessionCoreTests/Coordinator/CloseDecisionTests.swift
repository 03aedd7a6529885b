@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Closing with a response that is not stored: it may hold the only token that the server accepts.
@Suite("Decisions: closing with a response that is not stored")
struct CloseDecisionTests {
  /// A refresh was answered, and the response could not be stored.
  private func stuck() -> CoordinatorBench {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    bench.commitEndings = [.fails]
    let told = bench.tell(.answered(sent.request ?? RequestNumber(0), .token(rotated: true)))
    #expect(told.reply(to: caller) == .failed(.unsettled))
    return bench
  }

  @Test("REF-11 closing stores the waiting response and then closes")
  func stores() {
    var bench = stuck()
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(bench.names == ["login", "requestSent", "refreshSucceeded", "closed"])
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("REF-11 closing tries again after one more failure")
  func storesAtLast() {
    var bench = stuck()
    bench.commitEndings = [.fails]
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(bench.names.suffix(2) == ["refreshSucceeded", "closed"])
  }

  @Test(
    "REF-11 if the response cannot be stored, every closer fails and the journal names the loss")
  func drops() {
    var bench = stuck()
    bench.commitEndings = [.fails, .fails]
    let closer = bench.caller()
    let effects = bench.tell(.close(closer))
    #expect(effects.reply(to: closer) == .failed(.dropped))
    // Subscribers learn the failure before the session is closed.
    let published = effects.flatMap { effect -> [SessionEvent.Kind] in
      if case .publish(let events) = effect { events.map(\.event.kind) } else { [] }
    }
    #expect(published == [.refreshFailed])
    #expect(bench.names == ["login", "requestSent", "answerDropped", "refreshFailed", "closed"])
    #expect(
      bench.journal[2].content
        == .note(.answerDropped(SessionNote.AnswerDropped(request: 2, cause: .failed))))
    guard case .refreshFailed(let failed) = bench.events[1] else { return }
    #expect(failed.failure.kind == .noReply && failed.request == 2)
    let again = bench.caller()
    #expect(bench.tell(.close(again)).reply(to: again) == .closed)
  }

  @Test("REF-11 closing without the response does not end a request of another process")
  func keepsOthersRequest() {
    var bench = stuck()
    let lost = SessionEvent.refreshFailed(
      SessionEvent.RefreshFailed(
        generation: Generation(1), trigger: .manual, attempt: 1,
        failure: RequestFailure(kind: .noReply), retryAt: nil, request: 2))
    bench.commitEndings = [
      .conflicts([.event(lost), .note(OpenDecisionTests.sent(by: 99, deadlineIn: 31_000))]), .fails,
      .fails,
    ]
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .failed(.dropped))
    #expect(
      bench.names == [
        "login", "requestSent", "refreshFailed", "requestSent", "answerDropped", "closed",
      ])
    #expect(bench.coordinator.fold.intents.request?.sequence == 4)
  }

  @Test("REF-11 if nothing can be written, the session closes and the closer receives the error")
  func nothingWritable() {
    var bench = stuck()
    bench.commitEndings = [.fails, .fails, .fails, .fails]
    let (closer, other) = (bench.caller(), bench.caller())
    #expect(bench.tell(.close(closer)).reply(to: closer) == .failed(.dropped))
    #expect(bench.tell(.close(other)).reply(to: other) == .closed)
    #expect(bench.names == ["login", "requestSent"])
  }

  @Test("REF-11 if the stored token cannot be read either, the journal still names the loss")
  func dropsUnread() throws {
    let stuck = stuck()
    var coordinator = stuck.coordinator
    _ = coordinator.handle(.close(Caller(99)), at: stuck.now)
    let failure = SessionInput.commitFailed(isLasting: false, cause: .unavailable)
    _ = coordinator.handle(failure, at: stuck.now)
    let first = try #require(coordinator.handle(failure, at: stuck.now).commit)
    #expect(first.newest != nil)
    let second = try #require(coordinator.handle(failure, at: stuck.now).commit)
    #expect(second.newest == nil && second.contents == first.contents)
    let closed = coordinator.handle(.committed(firstSequence: 3), at: stuck.now)
    #expect(closed.reply(to: Caller(99)) == .failed(.dropped))
  }

  @Test("REF-11 if only the event cannot be journaled, nothing is lost and closing succeeds")
  func onlyEventMissing() throws {
    let bench = CoordinatorBench.signedIn()
    var coordinator = bench.coordinator
    _ = coordinator.handle(.refresh(Caller(98), .manual, .always), at: bench.now)
    let sent = coordinator.handle(.committed(firstSequence: 2), at: bench.now)
    let number = try #require(sent.request)
    _ = coordinator.handle(.leaving(number), at: bench.now)
    _ = coordinator.handle(.answered(number, .token(rotated: true)), at: bench.now)
    let failure = SessionInput.commitFailed(isLasting: false, cause: .noRoom, isStored: true)
    _ = coordinator.handle(failure, at: bench.now)
    _ = coordinator.handle(.close(Caller(99)), at: bench.now)
    // It tries twice more, and then closes without a note of a loss.
    _ = coordinator.handle(failure, at: bench.now)
    let closing = coordinator.handle(failure, at: bench.now)
    guard case .commit(let commit)? = closing.last else {
      Issue.record("\(closing)")
      return
    }
    #expect(commit.contents == [.note(.closed)])
    let closed = coordinator.handle(.committed(firstSequence: 3), at: bench.now)
    #expect(closed.reply(to: Caller(99)) == .closed)
  }

  @Test("REF-11 a token that an earlier attempt did store is announced before closing")
  func storedUnseen() {
    var bench = stuck()
    bench.commitEndings = [.fails, .fails, .superseded(.refreshed(to: 2))]
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .closed)
    #expect(bench.names.suffix(3) == ["tokenRecovered", "refreshSucceeded", "closed"])
  }

  @Test("REF-11 a switch whose response cannot be stored is dropped and noted")
  func dropsSwitch() {
    var bench = CoordinatorBench.signedIn()
    let sent = bench.tell(.switchContext(bench.caller()))
    bench.commitEndings = [.fails, .fails, .fails]
    bench.tell(.answered(sent.request ?? RequestNumber(0), .context(.plainPrincipal)))
    let closer = bench.caller()
    #expect(bench.tell(.close(closer)).reply(to: closer) == .failed(.dropped))
    #expect(bench.names.suffix(3) == ["answerDropped", "requestEnded", "closed"])
  }
}

extension [SessionEffect] {
  fileprivate var commit: SessionCommit? {
    for case .commit(let commit) in self { return commit }
    return nil
  }
}

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
    "STO-2 REF-2 with an expired token, calls, switches and foreground fail; unlocking refreshes")
  func expired() throws {
    var bench = try opened()
    bench.advance(by: Self.lifetime + 1)
    bench.commitEndings = [.presenceNeeded, .presenceNeeded, .presenceNeeded]
    var caller = bench.caller()
    #expect(
      bench.tell(.refresh(caller, .command, .ifExpired)) == [
        .resume(caller, .failed(.needsPresence))
      ])
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

/// The journal says that a user is logged in, and the stored items cannot be read yet.
@Suite("Decisions: before the stored items are read")
struct UnreadItemsDecisionTests {
  private func locked() throws -> CoordinatorBench {
    var policy = SessionPolicy.bench
    policy.limits.profileCheck = .afterLoginAndLaunch
    var bench = try CoordinatorBench(policy, journal: [.event(.login(as: "ada"))])
    var stored = StoredItemsReport()
    stored.isLocked = true
    bench.tell(.opened(stored))
    #expect(bench.coordinator.activity == .loading)
    return bench
  }

  @Test("CTX-1 RES-3 a switch is refused at once, since no token is known")
  func switching() throws {
    var bench = try locked()
    let caller = bench.caller()
    #expect(bench.tell(.switchContext(caller)).reply(to: caller) == .failed(.locked))
    #expect(bench.tell(.secretsRead(.session(1))).sendCount == 0)
  }

  @Test("LOG-6 RES-3 the profile is requested only after the items are read")
  func profile() throws {
    var bench = try locked()
    // Another process has refreshed, so the journal names a good token.
    let refreshed = SessionRecord(
      sequence: 2, time: bench.now.time, content: .event(.refreshed(to: 2)))
    let request = SessionEffect.askProfile("ada", Generation(2))
    #expect(!bench.tell(.observed([refreshed], isHolderGone: false)).contains(request))
    #expect(bench.coordinator.isTokenGood(at: bench.now.uptime))
    #expect(bench.tell(.secretsRead(.session(2))).contains(request))
  }
}
