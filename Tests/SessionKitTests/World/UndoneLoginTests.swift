import SessionKit
import SessionTestKit
import Testing

/// A login that failed for its caller logs in no user later, whichever disk call failed.
@Suite("A simulated world: a login that is undone")
struct UndoneLoginTests {
  private struct Life {
    var calls = 0
    var error: SessionError?
    var found = SessionState.unauthenticated
    var items: Set<SecretItem> = []
    var isShown = false
  }

  /// Logs in while the disk fails from that call on.
  ///
  /// Returns what the next process finds.
  private func live(
    failingFrom call: Int?, _ fault: DiskFault = .inputOutput,
    _ secrets: SimulatedSecrets = SimulatedSecrets(), removes: Bool = true
  ) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let disk = SimulatedDisk()
    let process = disk.process()
    let store = InterceptedStore(secrets.view(of: process)) {
      (operation, item) throws(SecretStoreError) in
      guard operation == .remove, !removes else { return }
      throw .notWritable(item: item, place: "a store that keeps everything")
    }
    let configuration = try world.configuration(in: process, secrets: store, policy: .edu(.staging))
    let session = try world.run { try await Session.open(configuration) }
    let first = disk.callCount
    if let call {
      for later in 0..<300 { disk.fail(atCall: first + call + later, with: fault) }
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
    process.kill()
    disk.stopFaults()
    let next = disk.process()
    let reopened = try world.configuration(
      in: next, secrets: secrets.view(of: next), policy: .edu(.staging))
    let again = try world.run { try await Session.open(reopened) }
    // The removed token is searched for twice more, as its event could be journaled (RES-7).
    world.run(for: .seconds(5))
    (life.found, life.items) = (again.state, secrets.items.items)
    try world.run { try await again.close() }
    return life
  }

  @Test(
    "LOG-10 STO-1 a login that was refused stays refused, whichever disk call failed",
    arguments: [DiskFault.inputOutput, .noSpace], [true, false])
  func refused(fault: DiskFault, removes: Bool) throws {
    let whole = try live(failingFrom: nil)
    #expect(whole.error == nil && whole.found.kind == .authenticated)
    var refusals = 0
    for call in 0..<whole.calls {
      let life = try live(failingFrom: call, fault, removes: removes)
      guard life.error != nil else {
        #expect(life.found.kind == .authenticated, "call \(call)")
        continue
      }
      refusals += 1
      #expect(!life.isShown)
      #expect(life.found.kind == .unauthenticated, "call \(call): it is back")
      #expect(life.items.isEmpty, "call \(call): \(life.items)")
    }
    #expect(refusals > 3)
  }
}
