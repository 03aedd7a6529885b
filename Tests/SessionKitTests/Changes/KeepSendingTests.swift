import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@_spi(Internals) @testable import SessionChanges
@testable import SessionKit

@Suite("A change log: sent whenever it may be")
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
    "SYN-3 what waits, what is added, and what was kept back by a closed gate is sent, in order")
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

  @Test("SYN-3 opened and closed again while nobody looks, it goes on at the next sign-in")
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

  @Test("SYN-3 what could not be done is sent when it is due, and at once where somebody says so")
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

  @Test("SYN-3 a drain that somebody asks for meanwhile is waited for, and ends nothing")
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

  @Test("SYN-3 a drain in haste sends what is not due yet, and nothing a second time")
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

  @Test("SYN-3 it ends when the session is closed, and where another user's changes wait")
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

  @Test("SYN-3 a bell wakes who waits, the next who does, and whom nobody wants any more")
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
