import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// A login that failed for its caller logs in no user later, whichever disk call failed.
@Suite("A simulated world: a login that is undone")
struct UndoneLoginTests {
  private struct Life {
    var calls = 0
    var error: SessionError?
    var found = SessionState.unauthenticated
    /// Whether the next process was signed in right after its opening.
    var isBack = false
    var items: Set<SecretItem> = []
    var isShown = false
  }

  /// Logs in while the disk fails at `times` calls, from that call on.
  ///
  /// The store refuses one operation from the writing of the token on, until the close.
  ///
  /// Returns what the next process finds.
  private func live(
    failingFrom call: Int?, _ fault: DiskFault = .inputOutput, times: Int = 300,
    _ secrets: SimulatedSecrets = SimulatedSecrets(),
    refusing refused: InterceptedStore.Operation? = nil
  ) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let disk = SimulatedDisk()
    let process = disk.process()
    let isRefusing = Mutex(false)
    let store = InterceptedStore(secrets.view(of: process)) {
      (operation, item) throws(SecretStoreError) in
      guard operation == refused, isRefusing.withLock({ $0 }) else { return }
      throw .failed(item: item, place: "no free descriptor", operation: "open", code: 24)
    } after: { operation, item in
      if operation == .write, item == .token { isRefusing.withLock { $0 = true } }
    }
    let configuration = try world.configuration(in: process, secrets: store, policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    let first = disk.callCount
    if let call {
      for later in 0..<times { disk.fail(atCall: first + call + later, with: fault) }
    }
    var life = Life()
    life.error = try world.run {
      do throws(SessionError) {
        try await session.login(.sample)
        return nil
      } catch {
        return error
      }
    }
    life.calls = disk.callCount - first
    life.isShown = session.isAuthenticated
    // A process that never can read again removes the item under the lock, without reading it.
    if refused == .read, times > 1 {
      isRefusing.withLock { $0 = false }
      try world.run { do { try await session.close() } catch {} }
    }
    process.kill()
    disk.stopFaults()
    let next = disk.process()
    let reopened = try world.configuration(
      in: next, secrets: secrets.view(of: next), policy: .edu(.staging))
    let again = try world.run { try await Session.open(reopened) }
    life.isBack = again.isAuthenticated
    world.run(for: .seconds(5))
    (life.found, life.items) = (again.state, secrets.items.items)
    try world.run { try await again.close() }
    return life
  }

  @Test(
    "LOG-10 STO-1 a login that was refused stays refused, whichever disk call failed",
    arguments: [
      (kind: DiskFault.inputOutput, times: 300), (.noSpace, 300), (.inputOutput, 1), (.noSpace, 1),
    ],
    [InterceptedStore.Operation?.none, .remove, .write, .read])
  func refused(
    fault: (kind: DiskFault, times: Int), refusing operation: InterceptedStore.Operation?
  ) throws {
    let whole = try live(failingFrom: nil)
    #expect(whole.error == nil && whole.found.kind == .authenticated)
    var (refusals, stays) = (0, 0)
    let isNeverRead = operation == .read && fault.times == 1
    for call in 0..<whole.calls {
      let life = try live(
        failingFrom: call, fault.kind, times: fault.times, refusing: operation)
      guard life.error != nil else {
        #expect(life.found.kind == .authenticated, "call \(call)")
        continue
      }
      refusals += 1
      // Its record is in the file, though its sync failed: only a read shows whose token is stored.
      if isNeverRead, life.isBack {
        stays += 1
        continue
      }
      #expect(!life.isShown && !life.isBack, "call \(call): it is back for a while")
      #expect(life.found.kind == .unauthenticated, "call \(call): it is back")
      #expect(life.items.isEmpty, "call \(call): \(life.items)")
    }
    #expect(refusals > (fault.times == 1 ? 0 : 3))
    #expect(stays == (isNeverRead ? 1 : 0))
  }
}
