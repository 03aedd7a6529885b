import Testing

@_spi(Internals) @testable import SessionCore

/// The machine of other processes' requests, transition by transition.
///
/// A request lasts at most 31 seconds.
@Suite("The machine PeerRequests")
struct PeerRequestsTests {
  private static let lasting: Int64 = 31_000
  private static let start = Timestamp(milliseconds: 1_000_000)

  /// A request that another process sent, whose deadline is this many milliseconds after the start.
  private func request(_ sequence: UInt64 = 9, deadline: Int64 = lasting) -> OpenIntents.Request {
    OpenIntents.Request(
      sequence: sequence,
      sent: SessionNote.RequestSent(
        kind: .refresh, generation: Generation(1), trigger: .schedule, attempt: 1, process: 77,
        deadline: Self.start.advanced(by: deadline), identity: nil))
  }

  private func now(_ uptime: Int64) -> ClockReading {
    ClockReading(time: Self.start.advanced(by: uptime), uptime: uptime)
  }

  /// A machine that has found this request at the uptime 0.
  private func following(_ request: OpenIntents.Request) -> PeerRequests {
    var machine = PeerRequests()
    machine.follow(request, lasting: Self.lasting, at: now(0))
    return machine
  }

  /// Reads the journal every 100 milliseconds up to `end`; each read takes no time.
  private func poll(_ machine: inout PeerRequests, from start: Int64, to end: Int64) {
    for uptime in stride(from: start, through: end, by: 100) {
      machine.noteRead(asked: uptime, ended: uptime)
    }
  }

  @Test("REF-3 none: no request is waited for")
  func none() {
    let machine = PeerRequests()
    #expect(machine.running(nil, at: 0) == nil)
    #expect(!machine.isWaiting && machine.doubtEnd == nil)
    #expect(!machine.hasPresumedLostAtOpening)
  }

  @Test("REF-3 waiting: an open request is waited for until its lease is over")
  func waiting() {
    let open = request()
    var machine = following(open)
    #expect(machine.running(open, at: 0) == open)
    #expect(machine.wait(at: 0) == [.schedule(.lease, uptime: 100)])
    #expect(machine.isWaiting)
    poll(&machine, from: 100, to: 30_900)
    #expect(machine.running(open, at: 30_950) == open)
    poll(&machine, from: 31_000, to: 31_000)
    #expect(machine.isLeaseOver(of: open, at: 31_000))
    #expect(machine.running(open, at: 31_000) == nil)
    machine.stopWaiting()
    #expect(!machine.isWaiting)
  }

  @Test(
    "REF-8 waiting: the deadline is read once, and no clock makes the wait longer than a lease",
    arguments: [(-5_000, 2_000), (0, 2_000), (7_000, 7_000), (86_400_000, 31_000)]
      as [(Int64, Int64)])
  func deadline(deadline: Int64, end: Int64) {
    let open = request(deadline: deadline)
    var machine = following(open)
    // The civil time jumps; the request was seen before.
    machine.follow(
      open, lasting: Self.lasting,
      at: ClockReading(time: Timestamp(milliseconds: 0), uptime: 0))
    poll(&machine, from: 100, to: end - 100)
    #expect(!machine.isLeaseOver(of: open, at: end - 50))
    poll(&machine, from: end, to: end)
    #expect(machine.isLeaseOver(of: open, at: end))
  }

  @Test("REF-10 waiting: after a stall, others get time before the request is presumed lost")
  func stalled() {
    let open = request()
    var machine = following(open)
    _ = machine.wait(at: 0)
    // This process was stopped for a minute; the next read alone proves nothing.
    machine.noteRead(asked: 60_000, ended: 60_000)
    #expect(!machine.isLeaseOver(of: open, at: 60_000))
    poll(&machine, from: 60_100, to: 61_900)
    #expect(!machine.isLeaseOver(of: open, at: 61_950))
    poll(&machine, from: 62_000, to: 62_000)
    #expect(machine.isLeaseOver(of: open, at: 62_000))
    // A result that is older than a pause counts no more.
    #expect(machine.isLeaseOver(of: open, at: 63_000))
    #expect(!machine.isLeaseOver(of: open, at: 63_001))
  }

  @Test("REF-3 waiting: another open request has a lease of its own")
  func another() {
    var machine = following(request(9, deadline: 0))
    poll(&machine, from: 100, to: 2_000)
    let next = request(12)
    #expect(!machine.isLeaseOver(of: next, at: 2_000))
    machine.follow(next, lasting: Self.lasting, at: now(2_000))
    #expect(machine.running(next, at: 2_000) == next)
    machine.follow(nil, lasting: Self.lasting, at: now(2_100))
    #expect(machine.running(nil, at: 2_100) == nil)
  }

  @Test("REF-3 waiting: a request whose process is gone is not waited for")
  func gone() {
    let open = request(9)
    var machine = following(open)
    #expect(machine.isAwaited(open))
    machine.giveUp(9)
    #expect(!machine.isAwaited(open) && machine.running(open, at: 0) == nil)
    #expect(machine.isAwaited(request(10)))
  }

  @Test("REF-10 waiting: a request that is held back waits longer after a stall")
  func heldBack() {
    var machine = PeerRequests()
    #expect(machine.holdBack(asked: 0, at: 1_000) == [.schedule(.lease, uptime: 1_100)])
    #expect(machine.holdBack(asked: 0, at: 1_001) == [.schedule(.lease, uptime: 3_001)])
    #expect(machine.isWaiting)
  }

  @Test("REF-3 presumed lost: another batch of an opening does not end the doubt")
  func doubted() {
    var machine = PeerRequests()
    machine.doubtRejections(until: 500)
    machine.notePresumedLostAtOpening(true)
    machine.stopWaiting()
    machine.notePresumedLostAtOpening(false)
    #expect(machine.doubtEnd == 500)
    machine.endDoubt()
    #expect(machine.doubtEnd == nil)
  }
}
