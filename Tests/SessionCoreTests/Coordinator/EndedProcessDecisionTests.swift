@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// Requests that may have ended the process that sent them.
@Suite("Decisions: requests that may have ended their process")
struct EndedProcessDecisionTests {
  private static let sent = SessionRecord.Content.note(
    .requestSent(
      SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .retry, attempt: 2, process: 99,
        deadline: .plainStart)))

  /// Opens after a request that ended its process, as `count` others had; the token has expired.
  private func opened(
    after count: UInt32, _ policy: SessionPolicy = .bench
  ) throws -> (bench: CoordinatorBench, effects: [SessionEffect]) {
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
