internal import SessionCore
@_spi(Benchmarks) internal import SessionKit
internal import Synchronization

extension Group {
  /// The time from the publisher to all subscribers, each of which receives every event.
  static let publish = Group(name: "publish", summary: "publish to async subscribers") { stage in
    var outcome = Outcome()
    let goals = [(1, 5.0), (8, 12), (64, 20)]
    let place = VisitorPlace(stage)
    let session = try blocking { try await Visitor.signedIn(at: place) }
    for (subscribers, goal) in goals {
      let count = stage.pick(2000, 20_000) / (subscribers > 8 ? 4 : 1)
      let contenders = [
        Contest.Contender(name: "session") {
          try blocking { try await publishInSession(session, count, to: subscribers) }
        },
        Contest.Contender(name: "AsyncStream") {
          try blocking { try await publishInStreams(count, to: subscribers) }
        },
      ]
      let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
      outcome.figures.append(
        try .comparing(
          "publish.\(subscribers)", "session", to: "AsyncStream", in: rates, goal: .atLeast(goal),
          unit: "events/s"))
    }
    try blocking { try await session.close() }
    return outcome
  }

  private static func event(_ sequence: UInt64) -> RecordedEvent {
    RecordedEvent(
      sequence: sequence, time: Timestamp(milliseconds: 0),
      event: .logout(SessionEvent.Logout(reason: .user)))
  }

  private static func publishInSession(
    _ session: Session, _ count: Int, to subscribers: Int
  ) async throws -> Contest.Run {
    let first = numbers.wrappingAdd(UInt64(count), ordering: .relaxed).oldValue
    return try await time(
      count, subscribers,
      subscribe: {
        let events = session.events
        return {
          var got = 0
          for try await _ in events {
            got += 1
            if got == count { break }
          }
          try expect(got == count, "a subscriber lost events")
        }
      },
      publish: {
        for number in 0..<UInt64(count) { session.publish([event(first + number)]) }
      })
  }

  private static func publishInStreams(_ count: Int, to subscribers: Int) async throws
    -> Contest.Run
  {
    let streams = (0..<subscribers).map { _ in AsyncStream.makeStream(of: RecordedEvent.self) }
    let next = Atomic(0)
    return try await time(
      count, subscribers,
      subscribe: {
        let stream = streams[next.wrappingAdd(1, ordering: .relaxed).oldValue].stream
        return {
          var got = 0
          for await _ in stream {
            got += 1
            if got == count { break }
          }
          try expect(got == count, "a stream lost events")
        }
      },
      publish: {
        for number in 0..<UInt64(count) {
          let event = event(number)
          for stream in streams { stream.continuation.yield(event) }
        }
      })
  }

  /// Measures the time from the first published event until the last subscriber has the last event.
  private static func time(
    _ count: Int, _ subscribers: Int, subscribe: () -> (@Sendable () async throws -> Void),
    publish: () -> Void
  ) async throws -> Contest.Run {
    let bodies = (0..<subscribers).map { _ in subscribe() }
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      for body in bodies { tasks.addTask { try await body() } }
      let clock = ContinuousClock()
      let start = clock.now
      publish()
      try await tasks.waitForAll()
      return Contest.Run(units: count, seconds: (clock.now - start) / .seconds(1))
    }
  }

  /// Sequences that no event has had.
  private static let numbers = Atomic<UInt64>(1000)
}
