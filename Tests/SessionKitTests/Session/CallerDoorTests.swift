@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

@Suite("Callers that come together")
struct CallerDoorTests {
  private func question(_ caller: Caller) -> SessionInput { .refresh(caller, .manual, .ifExpired) }

  @Test("REF-3 the first caller takes the questions and cancellations of the others along")
  func together() async {
    let door = CallerDoor()
    var goes = [door.goesFirst(), door.goesFirst()]
    let (caller, other) = (door.nextCaller(), door.nextCaller())
    #expect(goes == [true, false] && caller != other)
    let answer = await withCheckedContinuation { continuation in
      let isFirst = door.leave(caller, question(caller), continuation)
      let isCancellationLeft = door.leaveCancellation(of: caller)
      let left = door.arrive()
      #expect(!isFirst && isCancellationLeft)
      #expect(left.map(\.caller) == [caller, caller])
      #expect(left.map(\.isQuestion) == [true, false])
      for message in left { message.answer(.failure(.secretsUnavailable)) }
    }
    #expect(throws: SessionError.self) { try answer.get() }
    let (left, isCancellationLeft) = (door.arrive(), door.leaveCancellation(of: caller))
    goes = [door.goesFirst()]
    #expect(left.isEmpty && !isCancellationLeft && goes == [true])
  }

  @Test("REF-3 a question that is left after the first caller arrived starts a task")
  func late() async {
    let door = CallerDoor()
    _ = door.goesFirst()
    _ = door.arrive()
    let caller = door.nextCaller()
    _ = await withCheckedContinuation { continuation in
      let isFirst = door.leave(caller, question(caller), continuation)
      let goesFirst = door.goesFirst()
      #expect(isFirst && !goesFirst)
      for message in door.arrive() { message.answer(.failure(.secretsUnavailable)) }
    }
  }

  @Test("REF-3 a caller does not wait for a task of a lower priority, which the system may delay")
  func priority() async {
    let door = CallerDoor()
    let first = [
      door.goesFirst(at: .low), door.goesFirst(at: .low), door.goesFirst(at: .high),
      door.goesFirst(at: .high), door.goesFirst(at: .medium),
    ]
    #expect(first == [true, false, true, false, false])
    _ = door.arrive()
    let low = door.goesFirst(at: .low)
    #expect(low)
    let caller = door.nextCaller()
    _ = await withCheckedContinuation { continuation in
      let startsTask = door.leave(caller, question(caller), continuation, at: .medium)
      let others = [door.goesFirst(at: .medium), door.goesFirst(at: .high)]
      #expect(startsTask && others == [false, true])
      for message in door.arrive() { message.answer(.failure(.secretsUnavailable)) }
    }
  }

  @Test("REF-3 a cancelled caller leaves no question, and receives its answer")
  func cancelled() async {
    let isLeft = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      let door = CallerDoor()
      _ = door.goesFirst()
      let caller = door.nextCaller()
      var left: [CallerDoor.Message] = []
      let answer = await withCheckedContinuation { continuation in
        let isFirst = door.leave(caller, question(caller), continuation)
        #expect(!isFirst)
        left = door.arrive()
        // A question that was left is answered, so that this test ends.
        for message in left { message.answer(.failure(.secretsUnavailable)) }
      }
      #expect(throws: SessionError.self) { try answer.get() }
      return !left.isEmpty
    }.value
    #expect(!isLeft)
  }

  @Test(
    "REF-3 SCL-2 of callers that come together some are cancelled, and all others share one refresh",
    arguments: 0..<20 as Range<UInt64>)
  func session(_ seed: UInt64) throws {
    let world = SimulatedWorld(Choices(seed: seed))
    defer { world.finish() }
    let configuration = try world.configuration(log: MemoryLog())
    let session = try world.run { try await Session.open(configuration) }
    try world.run { try await session.login(.sample) }
    world.run(for: .seconds(10))
    let found = Found()
    let callers = (0..<60).map { number in
      world.spawn("caller \(number)") {
        do throws(SessionError) {
          let token = try await session.accessToken(validFor: .seconds(7_200))
          found.tokens.withLock { $0[number] = token.generation }
        } catch {
          found.tokens.withLock { $0[number] = .some(nil) }
        }
      }
    }
    world.run(steps: 10 + 2 * Int(seed))
    #expect(session.state.token?.generation == Generation(1) && found.tokens.withLock(\.isEmpty))
    for number in stride(from: 0, to: 60, by: 3) { callers[number].cancel() }
    world.run(for: .seconds(30))
    let all = found.tokens.withLock { $0 }
    #expect(all.count == 60)
    let (cancelled, others) = (all.filter { $0.key % 3 == 0 }, all.filter { $0.key % 3 != 0 })
    #expect(others.values.allSatisfy { $0 == Generation(2) }, "\(others)")
    // A token may arrive before a cancellation does.
    #expect(cancelled.values.count { $0 == nil } >= 15, "\(cancelled)")
    // Most callers have left their questions at the door.
    let leaving = session.engine.door.nextCaller().number - 1 << 63
    #expect((30...60).contains(leaving))
    #expect(world.server.count(of: .refresh) == 1)
    #expect(session.waiterCount == 0)
    #expect(world.waiting.isEmpty)
  }
}

/// The token of each caller; `nil` for one that was cancelled.
private final class Found: Sendable {
  let tokens = Mutex<[Int: Generation?]>([:])
}

extension CallerDoor.Message {
  fileprivate var caller: Caller {
    switch self {
    case .question(let caller, _, _), .cancelled(let caller): caller
    }
  }

  fileprivate var isQuestion: Bool { if case .question = self { true } else { false } }

  fileprivate func answer(_ answer: CallerTable.Answer) {
    if case .question(_, _, let continuation) = self { continuation.resume(returning: answer) }
  }
}
