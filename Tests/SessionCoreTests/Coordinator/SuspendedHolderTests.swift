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
        kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1,
        process: process, deadline: bench.now.time.advanced(by: lasts)))
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
    #expect(
      told.reply(to: caller) == .failed(.request(RequestFailure(kind: .noReply))))
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
      retry = bench.tell(.failed(try #require(sent.request), Self.rejected, jitter: 0))
        .uptime(of: .refresh)
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
      deadline: bench.now.time.advanced(by: 31_000),
      identity: ProcessIdentity(opening: "theirs"))
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
