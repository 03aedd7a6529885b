import Testing

@_spi(Internals) @testable import SessionCore

/// The machine that has hosts clear their data, transition by transition.
///
/// The time limit is 20 seconds.
@Suite("The machine DataClearing")
struct DataClearingTests {
  private static let second: Int64 = 1_000
  private let ana = DataClearing.Logout(reason: .user, user: "u-1", generation: Generation(3))
  private let ben = DataClearing.Logout(reason: .policy, user: "u-2", generation: Generation(7))

  private func machine(
    haveData: Bool = true, separateLogins: Bool = false, limit: Int64? = 20 * second
  ) -> DataClearing {
    DataClearing(
      DataClearing.Hosts(haveData: haveData, separateLogins: separateLogins, limit: limit))
  }

  /// A machine whose first call runs since 0.
  private func calling() -> DataClearing {
    var machine = machine()
    _ = machine.clear(ana)
    _ = machine.began(1, at: 0)
    return machine
  }

  /// A machine whose first call has failed at 0.
  private func pending() -> DataClearing {
    var machine = calling()
    _ = machine.ended(1, isCleared: false, hasUser: false, at: 0)
    return machine
  }

  @Test("SYN-5 idle: nothing is needed, and no caller waits")
  func idle() {
    var machine = machine()
    #expect(!machine.isCalling && !machine.isNeeded && machine.answer == .ended)
    #expect(machine.tryAgain().isEmpty && machine.fired(.retry).isEmpty)
    #expect(machine.fired(.limit).isEmpty && machine.observe(hasUser: true).isEmpty)
    #expect(machine.ended(1, isCleared: true, hasUser: false, at: 0).isEmpty)
  }

  @Test("SYN-5 idle: a logout calls the hosts only if one has data")
  func clear() {
    var without = machine(haveData: false, separateLogins: false)
    #expect(without.clear(ana).isEmpty && !without.isCalling && without.callCount == 0)
    var machine = machine()
    #expect(machine.clear(ana) == [.call(1, ana)])
    #expect(machine.isCalling && machine.isNeeded && machine.answer == nil)
    #expect(machine.callCount == 1)
  }

  @Test("SYN-5 idle: an overtaken logout calls only hosts that can tell logins apart")
  func overtaken() throws {
    var debt = PendingDataClearing()
    debt.take(.event(.logout(SessionEvent.Logout(reason: .user))))
    let login = SessionEvent.Login(
      user: "u-2", method: .password, token: SampleRecords.token(4))
    debt.take(.event(.login(login)))
    let overtaken = try #require(debt.overtaken)
    var machine = machine()
    #expect(machine.clear(overtaken).isEmpty && !machine.isNeeded)
    machine = self.machine(separateLogins: true)
    var logout = DataClearing.Logout(reason: .user, user: nil, generation: Generation(3))
    logout.hasLaterLogin = true
    #expect(machine.clear(overtaken) == [.call(1, logout)])
  }

  @Test("SYN-5 calling: the last call that succeeds lets callers continue, and is journaled")
  func ended() {
    var machine = calling()
    #expect(machine.clear(ben) == [.call(2, ben)])
    #expect(machine.ended(1, isCleared: true, hasUser: false, at: 5) == [.cancel(.limit)])
    #expect(machine.isCalling && machine.answer == nil)
    #expect(machine.began(2, at: 10) == [.schedule(.limit, uptime: 10 + 20 * Self.second)])
    #expect(
      machine.ended(2, isCleared: true, hasUser: false, at: 20)
        == [.cancel(.limit), .answer(.ended), .journal])
    #expect(!machine.isNeeded && machine.answer == .ended && machine.callCount == 2)
    #expect(
      machine.ended(2, isCleared: false, hasUser: true, at: 30).isEmpty, "only one end counts")
  }

  @Test("SYN-5 calling: after the limit the call is cancelled, and after a second it is overdue")
  func limit() {
    var machine = calling()
    let end = 20 * Self.second
    #expect(
      machine.fired(.limit)
        == [.cancelCall(1), .schedule(.limit, uptime: end + DataClearing.grace)])
    #expect(machine.answer == nil)
    #expect(machine.fired(.limit) == [.answer(.overdue)])
    #expect(machine.answer == .overdue && machine.isCalling && machine.isNeeded)
    #expect(machine.fired(.limit).isEmpty)
    #expect(
      machine.ended(1, isCleared: true, hasUser: false, at: end + 9_000)
        == [.cancel(.limit), .answer(.ended), .journal], "a late result counts")
    #expect(machine.answer == .ended)
  }

  @Test("SYN-5 calling: the limit is that of the call that runs")
  func nextLimit() {
    var machine = calling()
    _ = machine.clear(ben)
    _ = machine.fired(.limit)
    _ = machine.fired(.limit)
    _ = machine.ended(1, isCleared: true, hasUser: false, at: 50)
    #expect(machine.answer == nil, "the next call has its own time")
    #expect(machine.fired(.limit).isEmpty, "it has not begun")
    _ = machine.began(2, at: 60)
    #expect(
      machine.fired(.limit) == [
        .cancelCall(2), .schedule(.limit, uptime: 60 + 21 * Self.second),
      ])
  }

  @Test(
    "SYN-5 calling: a limit can be missing, negative or endless",
    arguments: [(nil, nil), (-5, 100), (0, 100), (.max, 100 + 31_536_000_000)]
      as [(Int64?, Int64?)])
  func limits(limit: Int64?, end: Int64?) {
    var machine = machine(limit: limit)
    _ = machine.clear(ana)
    #expect(machine.began(1, at: 100) == end.map { [.schedule(.limit, uptime: $0)] } ?? [])
  }

  @Test(
    "SYN-5 pending: failed calls are tried again after 1, 10 and 60 seconds, then only before a login"
  )
  func retries() {
    var machine = calling()
    for (index, pause) in ([1, 10, 60] as [Int64]).enumerated() {
      #expect(
        machine.ended(index + 1, isCleared: false, hasUser: false, at: 100)
          == [
            .cancel(.limit), .answer(.ended), .schedule(.retry, uptime: 100 + pause * Self.second),
          ])
      #expect(machine.isNeeded && !machine.isCalling && machine.answer == .ended)
      #expect(machine.fired(.retry) == [.call(index + 2, ana)])
      #expect(machine.fired(.retry).isEmpty, "it is under way")
    }
    #expect(
      machine.ended(4, isCleared: false, hasUser: false, at: 100)
        == [.cancel(.limit), .answer(.ended)])
    #expect(machine.tryAgain() == [.call(5, ana)])
    _ = machine.ended(5, isCleared: true, hasUser: false, at: 100)
    _ = machine.clear(ben)
    #expect(
      machine.ended(6, isCleared: false, hasUser: false, at: 0).last
        == .schedule(.retry, uptime: Self.second), "a success begins the pauses again")
  }

  @Test("SYN-5 calling: of several calls, the last one decides what follows")
  func lastResult() {
    var machine = calling()
    _ = machine.clear(ben)
    #expect(machine.ended(1, isCleared: false, hasUser: false, at: 0) == [.cancel(.limit)])
    #expect(machine.fired(.retry).isEmpty && machine.isCalling, "a call still runs")
    #expect(
      machine.ended(2, isCleared: true, hasUser: false, at: 0)
        == [.cancel(.limit), .answer(.ended), .journal], "the host removed all data")
    #expect(!machine.isNeeded)
  }

  @Test("SYN-5 pending: a host that can tell logins apart is called for each logout that failed")
  func each() {
    var machine = machine(separateLogins: true)
    _ = machine.clear(ana)
    _ = machine.ended(1, isCleared: false, hasUser: false, at: 0)
    _ = machine.clear(ben)
    #expect(
      machine.ended(2, isCleared: true, hasUser: false, at: 0)
        == [.cancel(.limit), .answer(.ended), .schedule(.retry, uptime: 10 * Self.second)],
      "the data of the first logout is still there")
    #expect(machine.isNeeded)
    #expect(machine.fired(.retry) == [.call(3, ana)])
    _ = machine.clear(ben)
    #expect(
      machine.ended(3, isCleared: true, hasUser: false, at: 0) == [.cancel(.limit)],
      "a call that runs may fail")
    _ = machine.ended(4, isCleared: false, hasUser: false, at: 0)
    #expect(machine.fired(.retry) == [.call(5, ben)])
    #expect(
      machine.ended(5, isCleared: true, hasUser: false, at: 0)
        == [.cancel(.limit), .answer(.ended), .journal])
  }

  @Test("SYN-5 OUT-3 pending: after a login the other hosts are released, once")
  func laterLogin() {
    var machine = pending()
    #expect(machine.observe(hasUser: false).isEmpty)
    #expect(machine.observe(hasUser: true) == [.releaseHold])
    #expect(machine.observe(hasUser: true).isEmpty)
    var later = ana
    later.hasLaterLogin = true
    #expect(machine.tryAgain() == [.call(2, later)])
    #expect(
      machine.ended(2, isCleared: false, hasUser: true, at: 0)
        == [.cancel(.limit), .answer(.ended), .schedule(.retry, uptime: 10 * Self.second)])
  }

  @Test("SYN-5 OUT-3 calling: a call that fails after a login releases the other hosts")
  func loginMeanwhile() {
    var machine = calling()
    #expect(machine.observe(hasUser: true).isEmpty, "its result is not known")
    #expect(
      machine.ended(1, isCleared: false, hasUser: true, at: 0).first == .releaseHold)
  }

  @Test("SYN-5 closing: waits end, nothing is tried again, and a result still counts")
  func close() {
    var machine = pending()
    #expect(machine.close() == [.cancel(.retry), .answer(.closed)])
    #expect(machine.fired(.retry).isEmpty && machine.tryAgain().isEmpty)
    #expect(machine.answer == .ended, "no call runs")
    machine = calling()
    _ = machine.close()
    #expect(machine.answer == .closed)
    #expect(
      machine.ended(1, isCleared: true, hasUser: false, at: 0)
        == [.cancel(.limit), .answer(.ended), .journal])
  }

  @Test("SYN-5 without its journal, a session tries nothing again, and its callers still wait")
  func withoutJournal() {
    var machine = pending()
    machine.loseJournal()
    #expect(machine.fired(.retry).isEmpty && machine.tryAgain().isEmpty)
    machine = calling()
    machine.loseJournal()
    #expect(machine.answer == nil)
    _ = machine.close()
    machine.loseJournal()
    #expect(machine.answer == .closed)
  }
}
