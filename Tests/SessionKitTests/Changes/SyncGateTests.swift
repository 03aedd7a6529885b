@_spi(Internals) import SessionCore
import Synchronization
import Testing

@testable import SessionChanges
@testable import SessionKit

@Suite("The gate of a sync")
struct SyncGateTests {
  private struct Odd: Error {}

  @Test(
    "SYN-1 a gate is open exactly while authenticated, and reports each change and its end")
  func values() async throws {
    let bench = try ChangeBench()
    let gate = bench.gate
    var values = gate.values.makeAsyncIterator()
    #expect(gate.isOpen && gate.user == "u-1")
    #expect(await values.next() == true)
    bench.expire()
    #expect(!gate.isOpen && gate.user == nil)
    #expect(await values.next() == false)
    bench.signOut()
    bench.signIn()
    #expect(await values.next() == true, "signed out is as closed as expired")
    // Another user opens the gate again, with a new value.
    bench.signIn("u-2")
    #expect(await values.next() == true)
    bench.hub.finish()
    #expect(!gate.isOpen)
    #expect(await values.next() == false)
    #expect(await values.next() == nil)
  }

  @Test("SYN-1 work is cancelled when the gate closes, and a result that it returned is kept")
  func run() async throws {
    let bench = try ChangeBench()
    let gate = bench.gate
    #expect(try await gate.run { 7 } == 7)
    await #expect(throws: Odd.self) { try await gate.run { throw Odd() } }
    for returns in [false, true] {
      bench.signIn()
      let isRunning = Signal()
      let running = Task {
        try await gate.run {
          await runUntilCancelled(isRunning)
          if !returns { throw CancellationError() }
          return "late"
        }
      }
      await isRunning.wait()
      bench.signIn("u-2")
      if returns {
        #expect(try await running.value == "late")
      } else {
        await #expect(throws: SyncGateClosed.self) { try await running.value }
      }
    }
    bench.signOut()
    await #expect(throws: SyncGateClosed.self) { try await gate.run { 7 } }
  }

  @Test("SYN-1 a cancellation by the caller reaches the work, and is not reported as a closed gate")
  func cancelled() async throws {
    let bench = try ChangeBench()
    let gate = bench.gate
    let isRunning = Signal()
    let running = Task {
      try await gate.run {
        await runUntilCancelled(isRunning)
        throw CancellationError()
      }
    }
    await isRunning.wait()
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(gate.isOpen)
  }
}
