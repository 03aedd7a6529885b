import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionCore

@Suite("Decisions: every caller receives a reply")
struct ForgottenCallerTests {
  static func foreignRefresh(_ bench: CoordinatorBench, _ g: UInt64) -> SessionRecord.Content {
    .event(
      .refreshSucceeded(
        SessionEvent.RefreshSucceeded(
          token: TokenMetadata(
            generation: Generation(g), issuedAt: bench.now.time,
            expiresAt: bench.now.time.advanced(by: 3_600_000), id: nil, isRefreshable: true),
          trigger: .schedule, attempt: 1, isRotated: false, request: 0)))
  }

  @Test("OUT-1 each caller of two logouts with a login between them is answered")
  func logoutTwice() {
    var bench = CoordinatorBench.signedIn()
    let one = bench.caller()
    var replies = bench.tell(.logout(one))
    replies += bench.tell(.wiped(.done))  // the revocation of tok#1 is slow
    let login = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered((login.request ?? RequestNumber(0)), .login("ada")))
    let two = bench.caller()
    replies += bench.tell(.logout(two))
    replies += bench.tell(.wiped(.done))
    replies += bench.tell(.revoked(Generation(1), .revoked, status: 0))
    replies += bench.tell(.revoked(Generation(2), .revoked, status: 0))
    replies += bench.tell(.close(bench.caller()))
    #expect(replies.reply(to: two) != nil)
    #expect(replies.reply(to: one) != nil, "the first caller waits for ever, even after close")
  }

  @Test("an expiry that cannot be journaled still answers its caller")
  func expiryOnFullDisk() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    bench.advance(by: 3_700_000)
    bench.commitEndings = Array(repeating: .fails, count: 100)
    let (waiter, first) = bench.refresh()
    var all = first
    for _ in 0..<50 {
      bench.advance(by: 1000)
      all += bench.tell(.fired(.expiry))
    }
    #expect(all.reply(to: waiter) != nil, "waits as long as the disk is full")
  }

  @Test("a waiting switch continues or fails if the first one's end cannot be journaled")
  func queuedSwitch() {
    var bench = CoordinatorBench.signedIn(isRefreshable: false)
    let first = bench.tell(.switchContext(bench.caller()))
    let queued = bench.caller()
    bench.tell(.switchContext(queued))
    bench.commitEndings = [.fails]
    var all = bench.tell(
      .failed(
        (first.request ?? RequestNumber(0)), RequestFailure(kind: .server, status: 500), jitter: 0))
    bench.advance(by: 300_000)
    all += bench.tell(.fired(.refresh))
    #expect(all.reply(to: queued) != nil || all.sendCount > 0, "\(all)")
  }

  @Test("LOG-10 the tokens of a cancelled sign-in are revoked even if another sign-in succeeded")
  func cancelledLogin() {
    var bench = CoordinatorBench()
    bench.tell(.opened(.nothing))
    let one = bench.caller()
    let first = bench.tell(.login(one, .password))
    bench.tell(.cancelled(one))
    let second = bench.tell(.login(bench.caller(), .password))
    bench.tell(.answered((second.request ?? RequestNumber(0)), .login("ada")))
    let late = bench.tell(.answered((first.request ?? RequestNumber(0)), .login("ada")))
    #expect(late == [.discard((first.request ?? RequestNumber(0)), revoking: true)], "LOG-10")
  }

  @Test("REF-3 a refresh by another process makes this process's refresh unnecessary")
  func learned() {
    // Another process's request is open. While ours waits, any commit may read its success.
    var bench = CoordinatorBench.signedIn()
    let sent = SessionRecord.Content.note(
      .requestSent(
        SessionNote.RequestSent(
          kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 99,
          deadline: bench.now.time.advanced(by: 30_000))))
    bench.commitEndings = [.conflicts([sent])]
    let (_, waited) = bench.refresh()
    #expect(waited.uptime(of: .lease) != nil)
    let closer = bench.caller()
    bench.commitEndings = [.fails]
    bench.tell(.close(closer))
    bench.commitEndings = [.conflicts([Self.foreignRefresh(bench, 2)])]
    let learned = bench.tell(.logout(bench.caller()))
    #expect(learned.sendCount == 0)
  }

  @Test("a switch after a response that cannot be journaled fails without waiting")
  func switchBehindUnsettled() {
    var bench = CoordinatorBench.signedIn()
    let (_, sent) = bench.refresh()
    let early = bench.caller()
    bench.tell(.switchContext(early))
    bench.commitEndings = [.fails, .fails]
    let told = bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    #expect(told.reply(to: early) == .failed(.storage))
    let late = bench.caller()
    #expect(bench.tell(.switchContext(late)).reply(to: late) == .failed(.storage))
  }

  @Test("a response that can never be journaled fails, and the next refresh is sent")
  func lasting() {
    var bench = CoordinatorBench.signedIn()
    let (caller, sent) = bench.refresh()
    bench.commitEndings = [.failsForGood]
    let effects = bench.tell(.answered(sent.request ?? RequestNumber(0), .token()))
    #expect(effects.reply(to: caller) == .failed(.request(RequestFailure(kind: .unreadable))))
    #expect(bench.refresh().1.sendCount == 1)
  }
}

/// The machine that orders inputs, transition by transition.
@Suite("The machine InputSequencer")
struct InputSequencerTests {
  private static let now = ClockReading(time: Timestamp(milliseconds: 0), uptime: 0)
  private let commit = PendingCommit(purpose: .note, contents: [], moment: now, request: nil)
  private let read = ReadBarrier(question: nil, asked: 0)
  private let command = SessionInput.clearError
  private let other = SessionInput.fired(.refresh)
  private let committed = SessionInput.committed(firstSequence: 1)

  @Test("deciding: each input is decided at once, and none waits")
  func deciding() {
    var machine = InputSequencer()
    #expect(machine.isDeciding && machine.commit == nil && machine.read == nil)
    for input in [command, other, committed, .unobserved] { #expect(machine.admits(input) == true) }
    #expect(machine.next() == nil)
    #expect(machine.endCommit() == nil && machine.endRead() == nil)
  }

  @Test("committing: only the end of the commit is decided; other inputs wait in order")
  func committing() {
    var machine = InputSequencer()
    machine.begin(commit)
    #expect(!machine.isDeciding && machine.commit == commit)
    #expect(!machine.admits(command) && !machine.admits(.unobserved) && !machine.admits(other))
    #expect(machine.next() == nil)
    #expect(machine.endRead() == nil)
    #expect(machine.admits(committed) == true)
    #expect(machine.endCommit() == commit)
    #expect(machine.isDeciding)
    #expect(machine.next() == command && machine.next() == .unobserved && machine.next() == other)
    #expect(machine.next() == nil)
  }

  @Test("reading: only the end of the read is decided; other inputs wait in order")
  func reading() {
    var machine = InputSequencer()
    machine.begin(read)
    #expect(!machine.isDeciding && machine.read == read)
    #expect(!machine.admits(command) && !machine.admits(committed))
    #expect(machine.endCommit() == nil)
    #expect(machine.admits(.unobserved) == true)
    #expect(machine.endRead() == read)
    #expect(machine.next() == command && machine.next() == committed)
  }

  @Test("an input that waited may begin a commit; the others go on waiting")
  func oneByOne() {
    var machine = InputSequencer()
    machine.begin(read)
    #expect(!machine.admits(command) && !machine.admits(other))
    _ = machine.endRead()
    #expect(machine.next() == command)
    machine.begin(commit)
    #expect(machine.next() == nil)
    _ = machine.endCommit()
    #expect(machine.next() == other)
  }
}

/// The lists of waiting callers, operation by operation.
@Suite("The machine WaitingCallers")
struct WaitingCallersTests {
  private static let goals: [WaitingCallers.Goal] = [.token, .context, .items, .close]
  private let one = Caller(1)
  private let two = Caller(2)

  @Test("STA-7 none: every list is empty", arguments: goals)
  func none(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    #expect(callers.isEmpty(goal) && callers.first(goal) == nil)
    #expect(callers.takeFirst(goal) == nil)
    #expect(callers.takeAll(goal).isEmpty)
  }

  @Test("STA-7 waiting: callers leave in the order in which they came, each once", arguments: goals)
  func order(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    callers.add(one, for: goal)
    callers.add(two, for: goal)
    #expect(callers.count(goal) == 2 && callers.first(goal) == one)
    for other in Self.goals where other != goal { #expect(callers.isEmpty(other)) }
    #expect(callers.takeFirst(goal) == one)
    callers.addFirst(one, for: goal)
    #expect(callers.takeAll(goal) == [one, two])
    #expect(callers == WaitingCallers())
  }

  @Test("STA-7 waiting: several lists are taken in the order of the question")
  func several() {
    var callers = WaitingCallers()
    callers.add(one, for: .token)
    callers.add(two, for: .context)
    #expect(callers.takeAll(.context, .token) == [two, one])
  }

  @Test("STA-7 cancel: the caller leaves, unless it closes the session", arguments: goals)
  func cancelled(goal: WaitingCallers.Goal) {
    var callers = WaitingCallers()
    callers.add(one, for: goal)
    callers.add(two, for: goal)
    callers.cancel(one)
    #expect(callers.takeAll(goal) == (goal == .close ? [one, two] : [two]))
  }
}
