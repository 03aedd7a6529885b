@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Two processes with one token, one of them suspended during its request: the
/// classic spurious logout of an app with an extension (REF-3).
@Suite("Decisions: a process suspended in a request")
struct SuspendedHolderTests {
  private static let rejected = RequestFailure(kind: .rejected, status: 401)

  private static func sent(by process: UInt32, _ bench: CoordinatorBench, lasts: Int64 = 31_000)
    -> SessionNote
  {
    .requestSent(
      SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: process,
        deadline: bench.now.time.advanced(by: lasts)))
  }

  /// Ada is signed in, and the process 99 has sent a refresh.
  private func waiting() -> (CoordinatorBench, Caller) {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([.note(Self.sent(by: 99, bench))])]
    let (caller, effects) = bench.refresh()
    #expect(effects.sendCount == 0)
    return (bench, caller)
  }

  /// The same, and its lease is over: this process sends its own request.
  private func overtaking() throws -> (CoordinatorBench, Caller, RequestNumber) {
    var (bench, caller) = waiting()
    let sent = bench.pollJournal(for: 31_100)
    #expect(bench.names.suffix(2) == ["refreshFailed", "requestSent"])
    return (bench, caller, try #require(sent.request))
  }

  @Test("REF-3 a refusal after a suspension ends nothing while another's request is open")
  func refusedBesideAnother() throws {
    var bench = CoordinatorBench.signedIn()
    let (caller, effects) = bench.refresh()
    let ours = try #require(effects.request)
    let request = UInt64(bench.journal.count)
    bench.advance(by: 3_600_000)
    let lost = SessionEvent.RefreshFailed(
      generation: Generation(1), trigger: .manual, attempt: 1,
      failure: RequestFailure(kind: .noReply), retryAt: bench.now.time, request: request)
    bench.commitEndings = [
      .conflicts([.event(.refreshFailed(lost)), .note(Self.sent(by: 99, bench))])
    ]
    let told = bench.tell(.failed(ours, Self.rejected, jitter: 0))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.names.last == "requestEnded")
    #expect(told.reply(to: caller) == nil)
    #expect(told.uptime(of: .lease) != nil)
    let record = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
      content: .event(.refreshed(to: 2)))
    bench.tell(.fired(.lease))
    let looked = bench.tell(.observed([record], isHolderGone: false))
    #expect(looked.reply(to: caller) == .refreshed)
    #expect(looked.contains(.reloadToken(Generation(2))))
  }

  @Test("REF-3 a second refusal ends the session after the other process has failed too")
  func refusedTwice() throws {
    var bench = CoordinatorBench.signedIn()
    let (caller, effects) = bench.refresh()
    let request = UInt64(bench.journal.count)
    let lost = SessionEvent.RefreshFailed(
      generation: Generation(1), trigger: .manual, attempt: 1,
      failure: RequestFailure(kind: .noReply), retryAt: bench.now.time, request: request)
    let theirs = request + 2
    bench.commitEndings = [
      .conflicts([.event(.refreshFailed(lost)), .note(Self.sent(by: 99, bench))])
    ]
    bench.tell(.failed(try #require(effects.request), Self.rejected, jitter: 0))
    let unreachable = SessionEvent.RefreshFailed(
      generation: Generation(1), trigger: .manual, attempt: 2,
      failure: RequestFailure(kind: .noConnection), retryAt: bench.now.time, request: theirs)
    let record = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time,
      content: .event(.refreshFailed(unreachable)))
    bench.tell(.fired(.lease))
    let again = bench.tell(.observed([record], isHolderGone: false))
    // The bench's journal lacks what the coordinator observed: the next commit reads it.
    #expect(again.sendCount == 1)
    let ended = bench.tell(.failed(try #require(again.request), Self.rejected, jitter: 0))
    #expect(ended.reply(to: caller) == .failed(.ended(.unauthenticated, by: Self.rejected)))
  }

  @Test("REF-3 an overtaken process may hold the good token: a refusal ends nothing for the grace")
  func doubted() throws {
    var (bench, caller, number) = try overtaking()
    let told = bench.tell(.failed(number, Self.rejected, jitter: 0))
    #expect(bench.coordinator.state.kind == .authenticated)
    #expect(bench.names.last == "refreshFailed")
    #expect(told.reply(to: caller) == .failed(.request(RequestFailure(kind: .noReply))))
    let retry = try #require(told.uptime(of: .refresh))
    #expect(retry > bench.now.uptime)
    #expect(retry <= bench.now.uptime + bench.coordinator.policy.peerRequestGrace)
  }

  @Test("REF-3 if the suspended process resumes with a new token, all processes use it")
  func wokenWithToken() throws {
    var (bench, _, number) = try overtaking()
    bench.tell(.failed(number, Self.rejected, jitter: 0))
    bench.commitEndings = [.conflicts([.event(.refreshed(to: 2))])]
    let (next, effects) = bench.refresh()
    #expect(effects.reply(to: next) == .refreshed)
    #expect(bench.coordinator.state.token?.generation == Generation(2))
  }

  @Test("REF-3 if the suspended process stays away, refusals beyond the grace end the session")
  func neverWoken() throws {
    var (bench, _, number) = try overtaking()
    let first = bench.tell(.failed(number, Self.rejected, jitter: 0))
    var retry = first.uptime(of: .refresh)
    var attempts = 0
    while bench.coordinator.state.kind == .authenticated, attempts < 100 {
      bench.advance(by: try #require(retry) - bench.now.uptime)
      let sent = bench.tell(.fired(.refresh))
      retry = bench.tell(.failed(try #require(sent.request), Self.rejected, jitter: 0)).uptime(
        of: .refresh)
      attempts += 1
    }
    #expect((1..<20).contains(attempts))
    #expect(bench.names.suffix(2) == ["sessionExpired", "logout"])
  }

  @Test("REF-3 a refusal ends the session if the other process is certainly gone")
  func gone() throws {
    var (bench, caller) = waiting()
    bench.tell(.fired(.lease))
    let sent = bench.tell(.observed([], isHolderGone: true))
    let number = try #require(sent.request)
    let ended = bench.tell(.failed(number, Self.rejected, jitter: 0))
    #expect(ended.reply(to: caller) == .failed(.ended(.unauthenticated, by: Self.rejected)))
  }

  @Test("REF-9 a process with an equal number is another one, and its late response is awaited")
  func equalNumber() throws {
    var bench = CoordinatorBench()
    var facts = StoredItemsReport.nothing
    (facts.process, facts.identity) = (1, ProcessIdentity(opening: "mine"))
    bench.tell(.opened(facts))
    let login = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered(try #require(login.request), .login("ada")))
    let other = SessionNote.RequestSent(
      kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 1,
      deadline: bench.now.time.advanced(by: 31_000), identity: ProcessIdentity(opening: "theirs"))
    bench.commitEndings = [.conflicts([.note(.requestSent(other))])]
    bench.refresh()
    let sent = bench.pollJournal(for: 31_100)
    let number = try #require(sent.request)
    let own = bench.journal.last.flatMap { record -> SessionNote.RequestSent? in
      guard case .note(.requestSent(let sent)) = record.content else { return nil }
      return sent
    }
    #expect(own?.identity?.opening == "mine")
    // The refusal may follow from the other's request: it ends nothing yet.
    bench.tell(.failed(number, Self.rejected, jitter: 0))
    #expect(bench.coordinator.state.kind == .authenticated)
  }

  @Test("REF-3 REF-8 the wait for another's request does not depend on the civil clock")
  func jumps() throws {
    for jump: Int64 in [-36_000_000, 36_000_000] {
      var (bench, _) = waiting()
      bench.jump(by: jump)
      bench.pollJournal(for: 30_900)
      #expect(bench.names == ["login", "requestSent"])
      #expect(bench.pollJournal(for: 200).sendCount == 1)
    }
  }
}

/// Requests that may have ended the process that sent them.
@Suite("Decisions: requests that may have ended their process")
struct EndedProcessDecisionTests {
  private static let sent = SessionRecord.Content.note(
    .requestSent(
      SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .retry, attempt: 2, process: 99,
        deadline: .plainStart)))

  /// Opens after a request that ended its process, as `count` others had; the token has expired.
  private func opened(after count: UInt32, _ policy: SessionPolicy = .bench) throws -> (
    bench: CoordinatorBench, effects: [SessionEffect]
  ) {
    var bench = try CoordinatorBench(
      policy,
      journal: [
        .event(.login(as: "ada")), .event(.refreshFailed(.noReply, of: 1, request: 2)), Self.sent,
      ])
    bench.advance(by: 7_200_000)
    var facts = StoredItemsReport.session(1)
    (facts.isHolderGone, facts.endedProcesses) = (true, count)
    let effects = bench.tell(.opened(facts))
    return (bench, effects)
  }

  private var patient: SessionPolicy {
    var policy = SessionPolicy.bench
    policy.refresh.longestRetryDelay = .seconds(150)
    return policy
  }

  @Test(
    "REF-7 a request whose process ended twice waits longer each time, up to the limit",
    arguments: [(0, 2_000), (1, 60_000), (2, 120_000), (3, 150_000), (9, 150_000)]
      as [(UInt32, Int64)])
  func waitsLonger(count: UInt32, pause: Int64) throws {
    let (bench, effects) = try opened(after: count, patient)
    #expect(effects.sendCount == 0)
    #expect(effects.uptime(of: .refresh) == bench.now.uptime + pause)
  }

  @Test("REF-7 in that pause only a manual refresh sends a request, not a call or the foreground")
  func pause() throws {
    var (bench, _) = try opened(after: 1)
    let call = bench.caller()
    #expect(
      bench.tell(.refresh(call, .manual, .ifExpired)).reply(to: call)
        == .failed(.request(RequestFailure(kind: .noReply))))
    let foreground = bench.caller()
    #expect(
      bench.tell(.refresh(foreground, .foreground, .ifExpired)).reply(to: foreground)
        == .failed(.request(RequestFailure(kind: .noReply))))
    let byHand = bench.caller()
    #expect(bench.tell(.refresh(byHand, .manual, .always)).sendCount == 1)
  }

  @Test("REF-14 after one ended process, a call sends a request at once")
  func once() throws {
    var (bench, _) = try opened(after: 0)
    let call = bench.caller()
    #expect(bench.tell(.refresh(call, .manual, .ifExpired)).sendCount == 1)
  }

  // MARK: The count

  private func count(_ batches: [[SessionRecord.Content]]) -> UInt32 {
    var ended = EndedProcesses()
    for batch in batches {
      for (index, content) in batch.enumerated() {
        ended.take(content, isLast: index == batch.count - 1)
      }
    }
    return ended.count
  }

  @Test("REF-7 requests that openings find open are counted, and a response resets the count")
  func counted() {
    let opening = SessionRecord.Content.note(.opened(.init(process: 1, boot: nil, uptime: 0)))
    let lost = SessionRecord.Content.event(.refreshFailed(.noReply, of: 1, request: 2))
    let found = [opening, lost]
    #expect(count([found]) == 1)
    #expect(count([found, [Self.sent], found]) == 2)
    // Another process opened the journal, and the request's own process noted that no reply came.
    #expect(count([found, [opening], [lost]]) == 0)
    #expect(count([found, found, [.event(.refreshFailed(.server, of: 1))]]) == 0)
    #expect(count([found, [.event(.refreshed(to: 2))], found]) == 1)
    #expect(count([[opening, .event(.refreshFailed(.noRefreshToken, of: 1, request: 2))]]) == 0)
  }
}
