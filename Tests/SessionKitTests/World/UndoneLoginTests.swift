import SessionKit
import SessionTestKit
import Testing

/// A sign-in that its caller was told has failed brings nobody back, wherever the disk failed.
@Suite("A simulated world: a sign-in that is undone")
struct UndoneLoginTests {
  private struct Life {
    var calls = 0
    var error: SessionError?
    var found = SessionState.unauthenticated
    var items: Set<SecretItem> = []
    var isShown = false
  }

  /// Signs in while the disk fails from the call of that number on; what the next process finds.
  private func live(
    failingFrom call: Int?, _ fault: DiskFault = .inputOutput,
    _ secrets: SimulatedSecrets = SimulatedSecrets(), removes: Bool = true
  ) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let disk = SimulatedDisk()
    let process = disk.process()
    let store = Store(view: secrets.view(of: process), removes: removes)
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
    // The token that was undone is looked for twice more, where its event is journaled (RES-7).
    world.run(for: .seconds(5))
    (life.found, life.items) = (again.state, secrets.items.items)
    try world.run { try await again.close() }
    return life
  }

  @Test(
    "LOG-10 STO-1 wherever the disk fails from then on, a sign-in that was refused stays refused",
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

/// A store from which nothing can be removed, or everything.
private struct Store: SecretStore {
  let view: any SecretStore
  let removes: Bool

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? { try view.read(item) }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try view.write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) {
    guard removes else { throw .notWritable(item: item, place: "a store that keeps everything") }
    try view.remove(item)
  }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try view.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try view.removeSetAside(item)
  }
}
