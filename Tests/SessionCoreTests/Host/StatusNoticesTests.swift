import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of pending notices about a user's status, transition by transition.
@Suite("The machine StatusNotices")
struct StatusNoticesTests {
  private static let inactive = RequestFailure(kind: .userInactive)
  private static let deleted = RequestFailure(kind: .userDeleted)

  private static func time(_ milliseconds: Int64) -> Timestamp {
    Timestamp(milliseconds: milliseconds)
  }

  private func change(of user: Identifier = "u-1", at time: Int64 = 6) -> StatusChange {
    StatusChange(user: user, changedAt: Self.time(time), known: nil)
  }

  @Test("SYN-4 settled: no user is notified")
  func settled() {
    var machine = StatusNotices()
    #expect(machine.next(for: "u-1") == nil && machine.next(for: nil) == nil)
    machine.found(nil, failure: nil)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: the change waits for its user, and is reported once")
  func pending() {
    var machine = StatusNotices()
    machine.found(change(), failure: Self.inactive)
    #expect(machine.next(for: nil) == nil && machine.next(for: "u-2") == nil)
    #expect(machine.next(for: "u-1") == change())
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: the newest response counts, with or without a change")
  func replaced() {
    var machine = StatusNotices()
    machine.found(change(), failure: nil)
    machine.found(change(of: "u-2", at: 9), failure: nil)
    #expect(machine.next(for: "u-1") == nil)
    #expect(machine.next(for: "u-2") == change(of: "u-2", at: 9))
    machine.found(change(), failure: nil)
    machine.found(nil, failure: nil)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: nothing is kept for a deleted user")
  func deleted() {
    var machine = StatusNotices()
    machine.found(change(), failure: Self.deleted)
    #expect(machine.next(for: "u-1") == nil)
    machine.found(change(), failure: nil)
    machine.found(change(), failure: Self.deleted)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test(
    "LOG-6 SYN-4 a response is judged by the time of the change",
    arguments: [
      // The response's time, the known one, the response's date: a change, or out of date.
      (nil, 5, 10, false, false), (nil, nil, nil, false, false),
      (5, 5, 10, false, false), (6, 5, 10, true, false), (6, nil, nil, true, false),
      (4, 5, 10, false, true), (4, 5, nil, false, true),
      // A time in the server's future is an error, and the response counts as it is.
      (300_011, 5, 10, false, false), (300_010, 5, 10, true, false),
    ] as [(Int64?, Int64?, Int64?, Bool, Bool)])
  func verdict(changed: Int64?, known: Int64?, date: Int64?, isChange: Bool, isStale: Bool) {
    for failure in [nil, Self.inactive, Self.deleted] {
      let verdict = StatusVerdict(
        failure, changedAt: changed.map(Self.time), of: "u-1", known: known.map(Self.time),
        serverTime: date.map(Self.time))
      #expect(verdict.isStale == isStale)
      #expect(verdict.failure == (isStale ? nil : failure), "an old status ends nothing")
      let change = StatusChange(
        user: "u-1", changedAt: Self.time(changed ?? 0), known: known.map(Self.time))
      #expect(verdict.change == (isChange ? change : nil))
    }
  }
}
