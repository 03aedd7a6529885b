internal import SessionKit
internal import Synchronization

extension Group {
  /// Reading the current token, as every request of an app does.
  static let token = Group(name: "token", summary: "read the current token") { stage in
    let place = VisitorPlace(stage)
    let session = try blocking { try await Visitor.signedIn(at: place) }
    let shelf = Shelf(session.currentToken)
    let holder = Holder(session.currentToken)
    var outcome = Outcome()
    for tasks in [1, 8] {
      let count = stage.pick(100_000, 1_000_000) / tasks
      let contenders = [
        Contest.Contender(name: "session") {
          try reading(count, tasks) { keep(session.currentToken) }
        },
        Contest.Contender(name: "Mutex") {
          try reading(count, tasks) { keep(shelf.token) }
        },
        Contest.Contender(name: "actor") {
          try blocking {
            try await time(count, tasks) { for _ in 0..<count { keep(await holder.token) } }
          }
        },
      ]
      let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
      outcome.figures += [
        try .comparing(
          "token.\(tasks).mutex", "session", to: "Mutex", in: rates, as: .time,
          goal: .atMost(1.5), unit: "reads/s"),
        try .comparing(
          "token.\(tasks).actor", "session", to: "actor", in: rates, as: .time,
          goal: .atMost(0.4), unit: "reads/s"),
      ]
    }
    try blocking { try await session.close() }
    return outcome
  }

  private static func reading(_ count: Int, _ tasks: Int, _ read: @escaping @Sendable () -> Void)
    throws -> Contest.Run
  {
    try blocking {
      try await time(count, tasks) { for _ in 0..<count { read() } }
    }
  }

  private static func time(
    _ count: Int, _ tasks: Int, _ work: @escaping @Sendable () async -> Void
  ) async throws -> Contest.Run {
    let clock = ContinuousClock()
    let start = clock.now
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<tasks { group.addTask { await work() } }
    }
    return Contest.Run(units: count * tasks, seconds: (clock.now - start) / .seconds(1))
  }
}

/// The minimum that gives a token to any thread.
private final class Shelf: Sendable {
  private let held: Mutex<AccessToken?>

  init(_ token: AccessToken?) {
    held = Mutex(token)
  }

  var token: AccessToken? { held.withLock { $0 } }
}

/// The same with an actor.
private actor Holder {
  // This is not a constant, since that would be read without a change of executor.
  private(set) var token: AccessToken?

  init(_ token: AccessToken?) {
    self.token = token
  }
}
