internal import CPeers
internal import SessionKit

extension Group {
  /// Callers that all find the token expired.
  static let fan = Group(name: "fan", summary: "10,000 callers of one refresh") { stage in
    let callers = 10_000
    let clock = VisitorClock()
    let session = try blocking { try await Visitor.signedIn(at: VisitorPlace(stage), clock: clock) }
    let single = SingleFlight()
    let contenders = [
      Contest.Contender(name: "session") {
        clock.pass(100_000_000)
        let before = session.currentToken?.generation.number ?? 0
        let syncs = peers_sync_nanoseconds()
        let run = try blocking {
          try await gather(callers) { try await session.refreshIfNeeded().generation.number }
        }
        let synced = Double(peers_sync_nanoseconds() - syncs) / 1e9
        try expect(session.currentToken?.generation.number == before + 1, "not one refresh")
        return Contest.Run(units: 1, seconds: run.seconds - synced)
      },
      Contest.Contender(name: "actor + Task") {
        try blocking {
          await single.forget()
          return try await gather(callers) { await single.token() }
        }
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
        name: "fan.10000", against: "actor + Task", goal: .none,
        ratio: Samples(zip(ours, its).map { $0 / $1 }), value: Samples(ours).median,
        againstValue: Samples(its).median, unit: "ms")
    ])
  }

  private static func gather(
    _ count: Int, _ ask: @escaping @Sendable () async throws -> UInt64
  ) async throws -> Contest.Run {
    let clock = ContinuousClock()
    let start = clock.now
    let seen = try await withThrowingTaskGroup(of: UInt64.self) { group in
      for _ in 0..<count { group.addTask { try await ask() } }
      var seen: Set<UInt64> = []
      for try await token in group { seen.insert(token) }
      return seen
    }
    try expect(seen.count == 1, "the callers got different tokens")
    return Contest.Run(units: 1, seconds: (clock.now - start) / .seconds(1))
  }
}

/// What many apps have in place of a session: whoever comes first starts a task, all await it.
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
