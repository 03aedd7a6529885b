internal import CPeers
internal import Dispatch
internal import SessionKit
internal import Synchronization

extension Group {
  /// Callers that all find the token expired.
  static let fan = Group(name: "fan", summary: "10,000 callers of one refresh") { stage in
    let callers = 10_000
    let clock = VisitorClock()
    let place = VisitorPlace(stage)
    let session = try blocking { try await Visitor.signedIn(at: place, clock: clock) }
    let single = SingleFlight()
    let contenders = [
      Contest.Contender(name: "session") {
        clock.pass(100_000_000)
        let before = session.currentToken?.generation.number ?? 0
        let syncs = peers_sync_nanoseconds()
        let run = try gather(callers) { try await session.accessToken().generation.number }
        let synced = Double(peers_sync_nanoseconds() - syncs) / 1e9
        try expect(session.currentToken?.generation.number == before + 1, "not one refresh")
        return Contest.Run(units: 1, seconds: run.seconds - synced)
      },
      Contest.Contender(name: "actor + Task") {
        try blocking { await single.forget() }
        return try gather(callers) { await single.token() }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 21))
    try blocking { try await session.close() }
    let times = rates.mapValues { $0.map { 1e3 / $0 } }
    guard let ours = times["session"], let its = times["actor + Task"] else {
      throw Problem("the callers were not measured")
    }
    return Outcome(figures: [
      Figure(
        name: "fan.10000", against: "actor + Task", goal: .atMost(3),
        ratio: Samples(zip(ours, its).map { $0 / $1 }), value: Samples(ours).median,
        againstValue: Samples(its).median, unit: "ms")
    ])
  }

  /// Measures the time from the first question to the last reply.
  ///
  /// It uses no task group, since that takes longer for each task the more tasks it has.
  private static func gather(
    _ count: Int, _ ask: @escaping @Sendable () async throws -> UInt64
  ) throws -> Contest.Run {
    let tally = Tally(count)
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<count {
      Task {
        do { tally.note(try await ask()) } catch { tally.note(nil) }
      }
    }
    tally.wait()
    let seconds = (clock.now - start) / .seconds(1)
    try expect(tally.tokens.count == 1 && !tally.tokens.contains(nil), "not all got one token")
    return Contest.Run(units: 1, seconds: seconds)
  }
}

/// The tokens that callers received, and a signal after the last one.
private final class Tally: Sendable {
  private let seen = Mutex<(left: Int, tokens: Set<UInt64?>)>((0, []))
  private let isDone = DispatchSemaphore(value: 0)

  init(_ count: Int) {
    seen.withLock { $0.left = count }
  }

  var tokens: Set<UInt64?> { seen.withLock { $0.tokens } }

  // If this were inlined into a task, the lock could use the thread of before the last suspension.
  @inline(never)
  func note(_ token: UInt64?) {
    let left = seen.withLock { seen in
      seen.tokens.insert(token)
      seen.left -= 1
      return seen.left
    }
    if left == 0 { isDone.signal() }
  }

  func wait() { isDone.wait() }
}

/// The usual replacement of a session in apps: the first caller starts a task, and all callers
/// await it.
private actor SingleFlight {
  private var flight: Task<UInt64, Never>?
  private var held: UInt64?
  private var count: UInt64 = 0

  func forget() { held = nil }

  func token() async -> UInt64 {
    if let held { return held }
    if let flight { return await flight.value }
    count += 1
    let next = count
    let task = Task { next }
    flight = task
    let token = await task.value
    (held, flight) = (token, nil)
    return token
  }
}
