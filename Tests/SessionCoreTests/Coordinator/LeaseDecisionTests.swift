@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// How long a process that may have been stalled waits for another process's request, and which
/// checks precede the first byte of a request.
@Suite("Decisions: leases, and the checks before a request is sent")
struct LeaseDecisionTests {
  /// Ada is signed in, and process 99 has sent a refresh whose lease is 31 seconds.
  private func waiting() -> (CoordinatorBench, Caller) {
    var bench = CoordinatorBench.signedIn()
    bench.commitEndings = [.conflicts([.note(Self.sent(bench))])]
    let (caller, effects) = bench.refresh()
    #expect(effects.sendCount == 0)
    return (bench, caller)
  }

  private static func sent(_ bench: CoordinatorBench) -> SessionNote {
    .requestSent(
      SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 99,
        deadline: bench.now.time.advanced(by: 31_000)))
  }

  private func record(_ bench: CoordinatorBench, _ event: SessionEvent) -> SessionRecord {
    SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time, content: .event(event))
  }

  // MARK: A response that another process cannot store

  private static let unstored = SessionNote.storageFailed(
    .init(item: .token, operation: .write, cause: .noRoom, number: 28))

  /// Process 99 keeps the response to such a request, and a caller asks for a refresh.
  private func kept(
    _ kind: RequestKind = .refresh
  ) -> (bench: CoordinatorBench, caller: Caller, told: [SessionEffect]) {
    var bench = CoordinatorBench.signedIn()
    let sent = SessionNote.RequestSent(
      kind: kind, generation: Generation(1), trigger: .command, attempt: 1, process: 99,
      deadline: bench.now.time.advanced(by: 31_000))
    bench.commitEndings = [.conflicts([.note(.requestSent(sent)), .note(Self.unstored)])]
    let (caller, told) = bench.refresh()
    return (bench, caller, told)
  }

  @Test(
    "REF-21 a response that a living process cannot store is not asked for again while the token lives",
    arguments: [RequestKind.refresh, .switchContext])
  func keptElsewhere(_ kind: RequestKind) {
    var (bench, caller, told) = kept(kind)
    let end = bench.coordinator.tokenDeadline
    #expect(told.reply(to: caller) == .failed(.unsettled))
    #expect(told.uptime(of: .lease) == bench.now.uptime + 1_000)
    let switching = bench.caller()
    bench.tell(.switchContext(switching))
    var seen = 0
    while bench.now.uptime < end - 1_000 {
      bench.advance(by: 1_000)
      guard bench.tell(.fired(.lease)) == [.readJournal] else { break }
      let effects = bench.tell(.observed([], isHolderGone: false))
      seen += effects.sendCount
      if let reply = effects.reply(to: switching) { #expect(reply == .failed(.unsettled)) }
    }
    #expect(seen == 0 && bench.now.uptime >= end - 1_000)
    #expect(bench.names == ["login", "requestSent", "storageFailed"])
    // No process has a valid token after its end: the lease counts again.
    bench.advance(by: 1_000)
    #expect(bench.pollJournal(for: 3_000).sendCount == 1)
  }

  @Test("REF-21 the request of a process that is gone is taken over at once, stored or not")
  func keptByTheDead() {
    var (bench, _, told) = kept()
    #expect(told.sendCount == 0)
    bench.advance(by: 1_000)
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    #expect(bench.tell(.observed([], isHolderGone: true)).sendCount == 1)
  }

  @Test("REF-21 an opening keeps the request of a living process that cannot store its response")
  func keptAtOpening() throws {
    for isHolderGone in [false, true] {
      let sent = Self.sent(CoordinatorBench.signedIn())
      let login = CoordinatorBench.signedIn().journal.map(\.content)
      var bench = try CoordinatorBench(journal: login + [.note(sent), .note(Self.unstored)])
      bench.advance(by: 60_000)
      var stored = StoredItemsReport.session(1)
      (stored.began, stored.isHolderGone) = (bench.now.time, isHolderGone)
      bench.tell(.opened(stored))
      #expect(bench.names.contains("refreshFailed") == isHolderGone)
    }
  }

  @Test(
    "REF-21 a process that cannot store a response says so after its request, even in a long failure"
  )
  func keepsVisibly() throws {
    var bench = CoordinatorBench.signedIn()
    let failed = StorageReport(item: .token, operation: .write, failure: .init(.noRoom, number: 28))
    bench.tell(.stored([failed]))
    #expect(bench.names.last == "storageFailed")
    let (caller, sent) = bench.refresh()
    let number = try #require(sent.request)
    #expect(bench.names.last == "requestSent")
    // The note finds no room at first; the next attempt to store brings it.
    bench.commitEndings = [.fails, .fails, .fails]
    let facts = ResponseMetadata(lifetime: 3_600_000, hasRefreshToken: true)
    let effects = bench.tell(.answered(number, facts))
    #expect(effects.reply(to: caller) == .failed(.unsettled))
    #expect(bench.names.last == "requestSent")
    bench.advance(by: 1_000)
    bench.tell(.fired(.commit))
    #expect(bench.names.last == "storageFailed")
    bench.commitEndings = [.fails]
    bench.advance(by: 1_000)
    bench.tell(.fired(.commit))
    #expect(bench.names.suffix(2) == ["requestSent", "storageFailed"])
    #expect(bench.coordinator.fold.snapshot == nil, "a snapshot would not say it")
    bench.tell(.fired(.commit))
    #expect(bench.coordinator.fold.snapshot != nil)
  }

  @Test("REF-21 it says so too if another item failed first, and then that the token is stored")
  func keepsVisiblyBehindAnotherItem() throws {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    let number = try #require(sent.request)
    bench.commitEndings = [.fails]
    let facts = ResponseMetadata(lifetime: 3_600_000, hasRefreshToken: true)
    bench.tell(.answered(number, facts))
    #expect(bench.names.last == "requestSent")
    bench.tell(
      .stored([StorageReport(item: .context, operation: .write, failure: .init(.noRoom))]))
    #expect(bench.coordinator.fold.intents.request?.unstored?.item == .token)
    #expect(bench.names.suffix(3) == ["requestSent", "storageFailed", "storageFailed"])
    bench.advance(by: 1_000)
    bench.tell(.fired(.commit))
    #expect(bench.names.suffix(2) == ["refreshSucceeded", "storageRecovered"])
  }

  @Test(
    "REF-10 a slow read that ends after the lease does not overtake the holder",
    arguments: [1_100, 4_000, 60_000] as [Int64])
  func stalledInRead(stall: Int64) {
    var (bench, caller) = waiting()
    bench.pollJournal(for: 30_000)
    bench.advance(by: 100)
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    // The reader holds the lock, so other processes cannot journal their responses.
    bench.advance(by: stall)
    let read = bench.tell(.observed([], isHolderGone: false))
    #expect(read.uptime(of: .lease) == bench.now.uptime + 100)
    #expect(bench.names == ["login", "requestSent"])
    // The response that waited for the lock is journaled between two polls.
    bench.advance(by: 100)
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    let effects = bench.tell(.observed([record(bench, .refreshed(to: 2))], isHolderGone: false))
    #expect(effects.reply(to: caller) == .refreshed)
    #expect(effects.sendCount == 0)
  }

  @Test("REF-10 a stop between two polls extends the lease by the grace")
  func stopped() {
    var (bench, _) = waiting()
    bench.pollJournal(for: 30_000)
    bench.advance(by: 600_000)
    #expect(bench.pollJournal(for: 2_000).sendCount == 0)
    #expect(bench.names == ["login", "requestSent"])
    #expect(bench.pollJournal(for: 300).sendCount == 1)
    #expect(bench.names == ["login", "requestSent", "refreshFailed", "requestSent"])
  }

  @Test("REF-10 with reads at the pace of the poll, the lease ends at its deadline")
  func watched() {
    var (bench, _) = waiting()
    bench.pollJournal(for: 30_900)
    #expect(bench.names == ["login", "requestSent"])
    bench.pollJournal(for: 100)
    #expect(bench.names.last == "requestSent" && bench.names.count == 4)
  }

  @Test("REF-10 a process that opens late waits for the grace before it overtakes an old lease")
  func comesLate() throws {
    var bench = CoordinatorBench.signedIn()
    let theirs = SessionRecord(
      sequence: 2, time: bench.now.time, content: .note(Self.sent(bench)))
    bench.tell(.observed([theirs], isHolderGone: false))
    bench.advance(by: 3_000_000)
    let (_, effects) = bench.refresh()
    #expect(effects.sendCount == 0 && effects.uptime(of: .lease) != nil)
    #expect(bench.pollJournal(for: 1_900).sendCount == 0)
    #expect(bench.pollJournal(for: 300).sendCount == 1)
  }

  @Test("REF-10 an opening presumes a request lost exactly when deadline and grace had passed")
  func presumedLostAtOpening() throws {
    for (late, isLost) in [(1_999, false), (2_000, true)] as [(Int64, Bool)] {
      var bench = CoordinatorBench.signedIn()
      let sent = Self.sent(bench)
      bench = try CoordinatorBench(journal: bench.journal.map(\.content) + [.note(sent)])
      guard case .requestSent(let request) = sent else { return }
      bench.advance(by: request.deadline.milliseconds(since: bench.now.time) + 60_000)
      var stored = StoredItemsReport.session(1)
      stored.began = request.deadline.advanced(by: late)
      bench.tell(.opened(stored))
      #expect(bench.names.contains("refreshFailed") == isLost, "\(late) ms after the deadline")
    }
  }

  @Test(
    "REF-3 after an opening presumed a request lost, a rejection ends the session only if its process is gone",
    arguments: [false, true])
  func rejectedAfterOpening(isHolderGone: Bool) throws {
    var bench = CoordinatorBench.signedIn()
    let sent = Self.sent(bench)
    bench = try CoordinatorBench(journal: bench.journal.map(\.content) + [.note(sent)])
    guard case .requestSent(let request) = sent else { return }
    bench.advance(by: request.deadline.milliseconds(since: bench.now.time) + 60_000)
    var stored = StoredItemsReport.session(1)
    stored.began = request.deadline.advanced(by: 2_000)
    stored.isHolderGone = isHolderGone
    bench.tell(.opened(stored))
    var effects = bench.endLaunchPause()
    if !isHolderGone {
      bench.advance(by: 100)
      bench.tell(.fired(.lease))
      effects = bench.tell(.observed([], isHolderGone: false))
    }
    let number = try #require(effects.request)
    bench.tell(.failed(number, RequestFailure(kind: .rejected, status: 400), jitter: 0))
    #expect((bench.coordinator.state.kind == .authenticated) == !isHolderGone)
  }

  @Test("REF-10 a request that replaces another's is sent only after one more read")
  func heldBack() throws {
    var (bench, caller) = waiting()
    bench.pollJournal(for: 31_000)
    #expect(bench.names.last == "requestSent" && bench.names.count == 4)
    bench.advance(by: 100)
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    let effects = bench.tell(.observed([record(bench, .refreshed(to: 2))], isHolderGone: false))
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .refreshed)
    #expect(bench.names.last == "requestEnded")
  }

  @Test("REF-10 a record of another process before that read does not stop the request")
  func heldBackBesideOthers() throws {
    var (bench, _) = waiting()
    bench.pollJournal(for: 31_000)
    let note = SessionRecord(
      sequence: UInt64(bench.journal.count + 1), time: bench.now.time, content: .note(.closed))
    bench.tell(.observed([note], isHolderGone: false))
    bench.advance(by: 100)
    #expect(bench.tell(.fired(.lease)) == [.readJournal])
    #expect(bench.tell(.observed([], isHolderGone: false)).sendCount == 1)
  }

  @Test("REF-10 after a slow commit, other processes receive the grace before the next read")
  func stalledInCommit() throws {
    let (bench, _) = waiting()
    var other = bench
    other.pollJournal(for: 30_900)
    var (coordinator, now) = (other.coordinator, other.now)
    now = now.later(by: 100)
    _ = coordinator.handle(.fired(.lease), at: now)
    let intent = coordinator.handle(.observed([], isHolderGone: false), at: now)
    guard case .commit? = intent.last else {
      Issue.record("no intent: \(intent)")
      return
    }
    now = now.later(by: 4_000)
    let held = coordinator.handle(.committed(firstSequence: 3), at: now)
    #expect(held.sendCount == 0)
    #expect(held.uptime(of: .lease) == now.uptime + 2_000)
    now = now.later(by: 2_000)
    #expect(coordinator.handle(.fired(.lease), at: now) == [.readJournal])
    #expect(coordinator.handle(.observed([], isHolderGone: false), at: now).sendCount == 1)
  }

  @Test("REF-10 if the journal cannot be read before the request is sent, nothing is sent")
  func unreadable() {
    var (bench, caller) = waiting()
    bench.pollJournal(for: 31_000)
    bench.advance(by: 100)
    bench.tell(.fired(.lease))
    let effects = bench.tell(.unobserved)
    #expect(effects.sendCount == 0)
    #expect(effects.reply(to: caller) == .failed(.storage))
    #expect(bench.names.last == "requestEnded")
  }

  // MARK: Directly before the first byte

  /// A refresh with a durable intent, by the coordinator alone.
  private func intended() throws -> (SessionCoordinator, RequestNumber, ClockReading) {
    let bench = CoordinatorBench.signedIn()
    var coordinator = bench.coordinator
    _ = coordinator.handle(.refresh(Caller(99), .manual, .always), at: bench.now)
    let sent = coordinator.handle(.committed(firstSequence: 2), at: bench.now)
    return (coordinator, try #require(sent.request), bench.now)
  }

  @Test("REF-11 a request may be sent only after the shell announces it")
  func mayLeave() throws {
    var (coordinator, number, now) = try intended()
    #expect(!coordinator.mayLeave(number))
    #expect(coordinator.handle(.leaving(number), at: now).isEmpty)
    #expect(coordinator.mayLeave(number))
    #expect(!coordinator.mayLeave(RequestNumber(99)))
  }

  @Test("REF-11 a logout by another process before the first byte stops the request, with a note")
  func endedBefore() throws {
    var (coordinator, number, now) = try intended()
    let logout = SessionRecord(sequence: 3, time: now.time, content: .event(.loggedOut()))
    let effects = coordinator.handle(.observed([logout], isHolderGone: false), at: now)
    #expect(effects.reply(to: Caller(99)) == .failed(.ended(.unauthenticated, by: nil)))
    guard case .commit(let commit)? = effects.last else {
      Issue.record("\(effects)")
      return
    }
    let unsent = SessionNote.RequestEnded(
      request: 2, failure: RequestFailure(kind: .noConnection))
    #expect(commit.contents == [.note(.requestEnded(unsent))])
    _ = coordinator.handle(.committed(firstSequence: 4), at: now)
    _ = coordinator.handle(.leaving(number), at: now)
    #expect(!coordinator.mayLeave(number))
  }

  @Test("REF-11 a newer token of another process before the first byte stops the request")
  func refreshedBefore() throws {
    var (coordinator, number, now) = try intended()
    let newer = SessionRecord(sequence: 3, time: now.time, content: .event(.refreshed(to: 2)))
    let effects = coordinator.handle(.observed([newer], isHolderGone: false), at: now)
    #expect(effects.reply(to: Caller(99)) == .refreshed)
    _ = coordinator.handle(.committed(firstSequence: 4), at: now)
    _ = coordinator.handle(.leaving(number), at: now)
    #expect(!coordinator.mayLeave(number))
  }

  @Test("REF-11 a request that another process presumed lost is not sent and waits for the other")
  func overtakenBefore() throws {
    var (coordinator, number, now) = try intended()
    let lost = SessionEvent.RefreshFailed(
      generation: Generation(1), trigger: .manual, attempt: 1,
      failure: RequestFailure(kind: .noReply), retryAt: now.time, request: 2)
    let records = [
      SessionRecord(sequence: 3, time: now.time, content: .event(.refreshFailed(lost))),
      SessionRecord(
        sequence: 4, time: now.time, content: .note(Self.sent(CoordinatorBench.signedIn()))),
    ]
    _ = coordinator.handle(.observed(records, isHolderGone: false), at: now)
    let effects = coordinator.handle(.leaving(number), at: now)
    #expect(!coordinator.mayLeave(number))
    guard case .commit(let commit)? = effects.last else {
      Issue.record("\(effects)")
      return
    }
    #expect(commit.contents.count == 1)
    let waits = coordinator.handle(.committed(firstSequence: 5), at: now)
    #expect(waits.uptime(of: .lease) != nil)
  }

  @Test("REF-11 a note of another process does not stop a request")
  func noteBefore() throws {
    var (coordinator, number, now) = try intended()
    let note = SessionRecord(sequence: 3, time: now.time, content: .note(.closed))
    _ = coordinator.handle(.observed([note], isHolderGone: false), at: now)
    _ = coordinator.handle(.leaving(number), at: now)
    #expect(coordinator.mayLeave(number))
  }
}

extension ClockReading {
  fileprivate func later(by milliseconds: Int64) -> ClockReading {
    ClockReading(time: time.advanced(by: milliseconds), uptime: uptime + milliseconds)
  }
}
