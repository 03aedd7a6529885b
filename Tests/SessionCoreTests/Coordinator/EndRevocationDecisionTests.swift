@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

/// Which ends result in a revocation, and what is wiped then (OUT-6).
@Suite("Decisions: ends that leave tokens at the server")
struct EndRevocationDecisionTests {
  private static func policy(_ end: SessionPolicy.End) -> SessionPolicy {
    var policy = SessionPolicy.bench
    (policy.ending.onRejection, policy.ending.onExhaustion) = (end, .end(end))
    (policy.ending.inactivityLimit, policy.refresh.attempts) = (.seconds(600), 1)
    return policy
  }

  /// The wiped items, as words.
  private static func wipes(_ effects: [SessionEffect]) -> [String] {
    effects.compactMap { if case .wipe(let wipe) = $0 { wipe.line } else { nil } }
  }

  private static func fail(_ bench: inout CoordinatorBench, _ failure: RequestFailure)
    -> [SessionEffect]
  {
    let (_, sent) = bench.refresh()
    return bench.tell(.failed(sent.request ?? RequestNumber(0), failure, jitter: 0))
  }

  /// An end, the failure that causes it, and whether a revocation follows.
  struct Row: Sendable, CustomStringConvertible {
    let kind: RequestFailure.Kind
    let isTold: Bool
    var description: String { "\(kind)" }
  }

  @Test(
    "OUT-6 a failed refresh ends the session with a revocation unless the refresh token was refused",
    arguments: [
      Row(kind: .userInactive, isTold: true), Row(kind: .userDeleted, isTold: true),
      Row(kind: .server, isTold: true), Row(kind: .rejected, isTold: false),
      Row(kind: .otherUser, isTold: false),
    ], [SessionPolicy.End.keep, .clear])
  func refreshes(row: Row, end: SessionPolicy.End) {
    var bench = CoordinatorBench.signedIn(Self.policy(end))
    let effects = Self.fail(&bench, RequestFailure(kind: row.kind))
    #expect(bench.names.contains("revocationPending") == row.isTold)
    let isExpired = bench.coordinator.state.kind == .expired
    #expect(isExpired == (row.kind != .userDeleted && (end == .keep || row.kind == .userInactive)))
    guard row.isTold else {
      #expect(Self.wipes(effects) == [isExpired ? "the token" : "the session"])
      return
    }
    let kept = ", keeping what revoking tok#1 needs"
    #expect(Self.wipes(effects) == [(isExpired ? "the token" : "everything") + kept])
    #expect(bench.tell(.wiped(.done)) == [.revoke(Generation(1))])
    bench.tell(.revoked(Generation(1), .revoked, status: 0))
    #expect(bench.coordinator.fold.intents.revocations.isEmpty)
  }

  @Test("OUT-6 POL-5 LOG-6 an unused session and an inactive account end with a revocation")
  func inactivity() {
    var bench = CoordinatorBench.signedIn(Self.policy(.keep))
    bench.advance(by: 600_000)
    bench.tell(.fired(.inactivity))
    bench.tell(.useRead(.min))
    #expect(bench.names == ["login", "sessionExpired", "revocationPending"])
    var other = CoordinatorBench.signedIn(Self.policy(.keep))
    other.tell(.profileRead("ada", RequestFailure(kind: .userInactive, status: 403)))
    #expect(other.names == ["login", "sessionExpired", "revocationPending"])
  }

  @Test("OUT-6 a token that expired without a refresh token needs no revocation")
  func expired() {
    var bench = CoordinatorBench.signedIn(Self.policy(.keep), isRefreshable: false)
    bench.advance(by: CoordinatorBench.lifetime)
    bench.tell(.fired(.expiry))
    #expect(bench.names == ["login", "sessionExpired"])
  }

  @Test("OUT-6 after a crash before the wipe, opening keeps the token, wipes and revokes")
  func reopened() throws {
    let pending = SessionRecord.Content.note(.revocationPending(Generation(1)))
    for (end, wiped) in [
      (SessionRecord.Content.event(.expired(.inactivity)), "the token"),
      (.event(.loggedOut()), "everything"),
    ] {
      var bench = try CoordinatorBench(journal: [.event(.login(as: "ada")), end, pending])
      let effects = bench.tell(.opened(.session(1)))
      #expect(Self.wipes(effects) == [wiped + ", keeping what revoking tok#1 needs"])
      #expect(effects.contains(.revoke(Generation(1))))
    }
  }

  @Test("OUT-6 REF-7 if the stored token is newer than the one logged out, it is revoked")
  func successor() throws {
    let journal: [SessionRecord.Content] = [
      .event(.login(as: "ada")), .event(.loggedOut()), .note(.revocationPending(Generation(1))),
    ]
    var bench = try CoordinatorBench(journal: journal)
    let refreshed = SessionEvent.refreshSucceeded(
      SessionEvent.RefreshSucceeded(
        token: .plain(2, issuedAt: .plainStart, lifetime: .seconds(900)), trigger: .schedule,
        attempt: 1,
        isRotated: true, request: 0))
    let effects = bench.tell(.opened(.session(2, announcing: refreshed)))
    #expect(Self.wipes(effects) == ["everything, keeping what revoking tok#1 needs"])
    #expect(effects.contains(.revoke(Generation(1))))
    #expect(!bench.names.contains("revocationSettled"), "and nothing was given up")
    // A sign-in that was stored and not announced belongs to another session.
    var other = try CoordinatorBench(journal: journal)
    other.tell(.opened(.session(2, announcing: .login(as: "ada", token: 2))))
    #expect(other.coordinator.state.kind == .authenticated)
    // An announcement that cannot be read still says by its kind to which session the token belongs.
    for (kind, isRevoked) in [
      (SessionEvent.Kind.refreshSucceeded, true), (.login, false), (nil, false),
    ] as [(SessionEvent.Kind?, Bool)] {
      var bench = try CoordinatorBench(journal: journal)
      var facts = StoredItemsReport.session(2)
      (facts.announcement, facts.unreadAnnouncement) = (nil, kind)
      #expect(bench.tell(.opened(facts)).contains(.revoke(Generation(1))) == isRevoked)
      #expect(bench.coordinator.state == .unauthenticated)
    }
  }

  @Test("OUT-6 REF-7 which stored token is the successor of the last token of an ended session")
  func successors() throws {
    var ended = SessionFold()
    let journal: [SessionRecord.Content] = [.event(.login(as: "ada")), .event(.loggedOut())]
    for (sequence, content) in zip(UInt64(1)..., journal) {
      try ended.apply(SessionRecord(sequence: sequence, time: .plainStart, content: content))
    }
    let (one, two) = (Generation(1), Generation(2))
    #expect(ended.isSuccessor(two, announcedBy: .refreshSucceeded, of: one))
    #expect(ended.isSuccessor(two, announcedBy: .contextSwitched, of: one))
    #expect(!ended.isSuccessor(two, announcedBy: .login, of: one), "another user may have it")
    #expect(!ended.isSuccessor(two, announcedBy: nil, of: one), "it may be a later login's")
    #expect(!ended.isSuccessor(one, announcedBy: .refreshSucceeded, of: one), "it is that token")
    let third = Generation(3)
    #expect(!ended.isSuccessor(third, announcedBy: .refreshSucceeded, of: two), "not the last one")
    var active = SessionFold()
    try active.apply(SessionRecord(sequence: 1, time: .plainStart, content: journal[0]))
    #expect(!active.isSuccessor(two, announcedBy: .refreshSucceeded, of: one), "it goes on")
  }

  @Test("OUT-6 if another process ended the session and died, its token is wiped and revoked")
  func another() {
    var bench = CoordinatorBench.signedIn(Self.policy(.keep))
    bench.commitEndings = [
      .conflicts([.event(.expired(.inactivity)), .note(.revocationPending(Generation(1)))])
    ]
    let (_, effects) = bench.refresh()
    #expect(Self.wipes(effects) == ["the token, keeping what revoking tok#1 needs"])
    #expect(effects.uptime(of: .revocation) != nil)
    bench.tell(.wiped(.done))
    bench.advance(by: 31_000)
    #expect(bench.tell(.fired(.revocation)) == [.revoke(Generation(1))])
  }
}
