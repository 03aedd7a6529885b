import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

@Suite("A change log: continuous sending")
struct KeepSendingTests {
  private let bench: ChangeBench
  private let server = ChangeServer()

  init() throws { bench = try ChangeBench() }

  private func keepSending(_ log: ChangeLog) -> Task<Void, any Error> {
    let (gate, server) = (bench.gate, server)
    return Task { try await log.keepSending(through: gate) { server.take($0) } }
  }

  private func add(_ log: ChangeLog, _ number: Int) async throws {
    try await log.add(
      ChangeBench.change(.create, number, key: Identifier("k\(number)")), through: bench.gate)
  }

  private func arrived(_ numbers: [Int]) async {
    await eventually("\(numbers) have arrived") {
      server.arrivals == numbers.map { Identifier("k\($0)") }
    }
  }

  @Test(
    "SYN-3 pending and added changes are sent in order, also after the gate was closed")
  func open() async throws {
    let log = try await bench.open()
    try await add(log, 1)
    let sending = keepSending(log)
    await arrived([1])
    await eventually("it rests") { log.bell.waiterCount == 1 }
    try await add(log, 2)
    await arrived([1, 2])
    await eventually("it rests") { log.bell.waiterCount == 1 }
    try await add(log, 3)
    await arrived([1, 2, 3])
    await eventually("it rests") { log.bell.waiterCount == 1 }
    bench.expire()
    await eventually("the gate is closed") { log.bell.waiterCount == 0 }
    bench.signIn(token: 2)
    try await add(log, 4)
    await arrived([1, 2, 3, 4])
    sending.cancel()
    try await sending.value
    #expect(log.queue.pending.isEmpty)
    try await log.close()
  }

  @Test("SYN-3 sending continues at the next login, although the gate opened and closed in between")
  func reopened() async throws {
    let log = try await bench.open()
    bench.expire()
    let sending = keepSending(log)
    for token in 2...6 {
      bench.signIn(token: UInt64(token))
      try await add(log, token)
      if token < 6 { bench.expire() }
    }
    await arrived(Array(2...6))
    sending.cancel()
    try await sending.value
    try await log.close()
  }

  @Test("SYN-3 a failed change is sent again when it is due, or at once after sendNow()")
  func due() async throws {
    let log = try await bench.open()
    server.answer(.tryLater("503", after: .seconds(600)), .notReached("no network"))
    let sending = keepSending(log)
    try await add(log, 1)
    await arrived([1])
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(599))
    #expect(server.arrivals.count == 1)
    log.sendNow()
    await arrived([1, 1])
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(10))
    await arrived([1, 1, 1])
    await eventually("it was taken") { log.queue.pending.isEmpty }
    sending.cancel()
    try await sending.value
    try await log.close()
  }

  @Test("SYN-3 continuous sending waits for a drain of another caller, and then continues")
  func beside() async throws {
    let log = try await bench.open()
    let (gate, server) = (bench.gate, server)
    try await add(log, 1)
    let held = ChangeSignal()
    let asked = Task {
      try await log.drain(through: gate) { item in
        await held.wait()
        return server.take(item)
      }
    }
    await eventually("it sends") { held.waiterCount == 1 }
    let sending = keepSending(log)
    await eventually("the other rests") { log.bell.waiterCount == 1 }
    try await add(log, 2)
    await eventually("it rests again") { log.bell.waiterCount == 1 }
    #expect(server.arrivals.isEmpty)
    held.ring()
    await eventually("the second is sent as well") {
      held.ring()
      return server.arrivals == ["k1", "k2"]
    }
    #expect(try await asked.value.ending == .empty)
    try await add(log, 3)
    await arrived([1, 2, 3])
    sending.cancel()
    try await sending.value
    try await log.close()
  }

  @Test("SYN-3 a drain that ignores the backoff sends changes early, and each only once")
  func hurried() async throws {
    let log = try await bench.open()
    server.answer(.tryLater("503", after: .seconds(600)))
    try await add(log, 1)
    try await add(log, 2)
    let (gate, server) = (bench.gate, server)
    let first = try await log.drain(through: gate) { server.take($0) }
    guard case .waits = first.ending else {
      Issue.record("\(first)")
      return
    }
    let patient = try await log.drain(through: gate) { server.take($0) }
    #expect(patient.acknowledged == 0 && server.arrivals == ["k1"])
    let hurried = try await log.drain(through: gate, ignoresBackoff: true) { server.take($0) }
    #expect(hurried.acknowledged == 2 && hurried.ending == .empty)
    #expect(server.arrivals == ["k1", "k1", "k2"])
    try await log.close()
  }

  @Test("SYN-3 continuous sending ends with the session or if another user's changes are pending")
  func ends() async throws {
    let log = try await bench.open()
    bench.expire()
    bench.signIn()
    try await add(log, 1)
    bench.signIn("u-2", token: 2)
    let others = await #expect(throws: ChangeLogError.self) { try await keepSending(log).value }
    #expect(others == .othersChanges(1))
    bench.expire("u-2")
    let sending = keepSending(log)
    bench.hub.finish()
    try await sending.value
    #expect(server.arrivals.isEmpty)
    try await log.close()
  }

  @Test("SYN-3 a signal wakes its waiter, is kept for the next one, and lets a cancelled one go")
  func bell() async {
    let bell = ChangeSignal()
    bell.ring()
    await bell.wait()
    let waiting = Task { await bell.wait() }
    await eventually("it waits") { bell.waiterCount == 1 }
    bell.ring()
    await waiting.value
    let unwanted = Task { await bell.wait() }
    await eventually("it waits") { bell.waiterCount == 1 }
    unwanted.cancel()
    await unwanted.value
    #expect(bell.waiterCount == 0)
  }
}
