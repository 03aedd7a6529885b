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

  private func change(
    of user: Identifier = "u-1", at time: Int64 = 6, known: Int64? = nil
  ) -> StatusChange {
    StatusChange(user: user, changedAt: Self.time(time), known: known.map(Self.time))
  }

  /// A machine that judges a response of this time.
  @discardableResult
  private func judge(
    _ machine: inout StatusNotices, _ failure: RequestFailure? = nil, at time: Int64? = 6,
    of user: Identifier = "u-1", known: Int64? = nil, order: Int? = nil
  ) -> StatusVerdict {
    let order = order ?? machine.asked()
    return machine.judge(
      failure, changedAt: time.map(Self.time), of: user, known: known.map(Self.time),
      serverTime: nil, order: order)
  }

  @Test("SYN-4 settled: no user is notified")
  func settled() {
    var machine = StatusNotices()
    #expect(machine.next(for: "u-1") == nil && machine.next(for: nil) == nil)
    judge(&machine, at: nil)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: the change waits for its user, and is reported once")
  func pending() {
    var machine = StatusNotices()
    judge(&machine, Self.inactive)
    #expect(machine.next(for: nil) == nil && machine.next(for: "u-2") == nil)
    #expect(machine.next(for: "u-1") == change())
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: the newest response counts, with or without a change")
  func replaced() {
    var machine = StatusNotices()
    judge(&machine)
    judge(&machine, at: 9, of: "u-2")
    #expect(machine.next(for: "u-1") == nil)
    #expect(machine.next(for: "u-2") == change(of: "u-2", at: 9))
    judge(&machine)
    judge(&machine, at: nil)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("SYN-4 pending: nothing is kept for a deleted user")
  func deleted() {
    var machine = StatusNotices()
    judge(&machine, Self.deleted)
    #expect(machine.next(for: "u-1") == nil)
    judge(&machine, at: 7)
    judge(&machine, Self.deleted, at: 8)
    #expect(machine.next(for: "u-1") == nil)
  }

  @Test("LOG-6 SYN-4 a response is out of date if a later one was judged, stored or not")
  func concurrent() {
    // The response's time, what the hosts know by then, and the verdict after a response of time 20.
    let rows: [(time: Int64?, known: Int64?, isStale: Bool, change: StatusChange?)] = [
      (10, nil, true, nil), (10, 5, true, nil), (19, 5, true, nil), (10, 20, true, nil),
      // The same time again: the hosts are notified until they know it.
      (20, 5, false, change(at: 20, known: 5)), (20, 20, false, nil),
      (21, 5, false, change(at: 21, known: 5)), (21, 30, true, nil), (nil, 5, false, nil),
    ]
    for row in rows {
      var machine = StatusNotices()
      #expect(judge(&machine, at: 20, known: 5).change == change(at: 20, known: 5))
      let verdict = judge(&machine, Self.inactive, at: row.time, known: row.known)
      #expect(verdict.isStale == row.isStale, "\(row)")
      #expect(verdict.failure == (row.isStale ? nil : Self.inactive), "\(row)")
      #expect(verdict.change == row.change, "\(row)")
      // An older response does not take back what a newer one said.
      let next = row.isStale ? change(at: 20, known: 5) : row.change
      #expect(machine.next(for: "u-1") == next, "\(row)")
    }
  }

  @Test("LOG-6 without times, the response to an older request does not count against a newer one")
  func overtaken() {
    // What the newer request brought, its user, then what the older one brings with which time.
    let rows:
      [(newer: RequestFailure?, of: Identifier, older: RequestFailure?, at: Int64?, isStale: Bool)] =
        [
          (nil, "u-1", Self.inactive, nil, true), (nil, "u-1", Self.deleted, nil, true),
          (nil, "u-1", nil, nil, false), (Self.inactive, "u-1", nil, nil, true),
          (Self.inactive, "u-1", Self.inactive, nil, false),
          (nil, "u-2", Self.inactive, nil, false), (nil, "u-1", Self.inactive, 9, false),
        ]
    for row in rows {
      var machine = StatusNotices()
      let (older, newer) = (machine.asked(), machine.asked())
      judge(&machine, row.newer, at: nil, of: row.of, order: newer)
      let verdict = judge(&machine, row.older, at: row.at, order: older)
      #expect(verdict.isStale == row.isStale, "\(row)")
      #expect(verdict.failure == (row.isStale ? nil : row.older), "\(row)")
    }
  }

  @Test("SYN-4 times of two users say nothing about each other")
  func otherUser() {
    var machine = StatusNotices()
    judge(&machine, at: 20)
    let verdict = judge(&machine, Self.inactive, at: 10, of: "u-2")
    #expect(!verdict.isStale && verdict.failure == Self.inactive)
    #expect(verdict.change == change(of: "u-2", at: 10))
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
      var machine = StatusNotices()
      let verdict = machine.judge(
        failure, changedAt: changed.map(Self.time), of: "u-1", known: known.map(Self.time),
        serverTime: date.map(Self.time), order: machine.asked())
      #expect(verdict.isStale == isStale)
      #expect(verdict.failure == (isStale ? nil : failure), "an old status ends nothing")
      let change = StatusChange(
        user: "u-1", changedAt: Self.time(changed ?? 0), known: known.map(Self.time))
      #expect(verdict.change == (isChange ? change : nil))
    }
  }
}
