@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A simulated disk on which a journal is quarantined")
struct SetAsidePowerTests {
  private static let ada = Credential.password(
    LoopbackUser.sample.email, LoopbackUser.sample.password)

  private func open(_ world: SimulatedWorld, _ disk: SimulatedDisk, _ secrets: MemorySecretStore)
    throws -> Session
  {
    var configuration = try world.configuration(
      in: disk.process(), secrets: secrets, policy: .edu(.staging))
    configuration.policy.recovery.unusableJournal = .setAside
    let asked = configuration
    return try world.run { try await Session.open(asked) }
  }

  private func copy(_ secrets: MemorySecretStore) throws -> MemorySecretStore {
    let copy = MemorySecretStore()
    for item in SecretItem.known {
      if let bytes = try secrets.read(item) { try copy.write(item, bytes) }
    }
    return copy
  }

  /// A disk with a damaged journal whose session is alive, its path, and the damaged bytes.
  private func damaged(_ world: SimulatedWorld, _ secrets: MemorySecretStore) throws
    -> (disk: SimulatedDisk, path: String, bytes: [UInt8])
  {
    let disk = SimulatedDisk()
    let session = try open(world, disk, secrets)
    try world.run { try await session.login(Self.ada) }
    try world.run { try await session.close() }
    let path = try #require(disk.paths.first { disk.contents(of: $0)?.count ?? 0 > 64 })
    var bytes = try #require(disk.contents(of: path))
    bytes[64 + 40] ^= 1
    disk.place(bytes, at: path)
    return (disk, path, bytes)
  }

  private func expectGoingOn(
    _ world: SimulatedWorld, _ disk: SimulatedDisk, _ secrets: MemorySecretStore,
    keeping bytes: [UInt8], _ what: String
  ) throws {
    let session = try open(world, disk, secrets)
    let names = try names(in: disk)
    #expect(session.isAuthenticated, "\(what): \(names)")
    #expect(session.currentToken?.generation == Generation(1), "\(what)")
    let asides = disk.paths.filter { $0.contains(".aside-") }
    #expect(asides.map { disk.contents(of: $0) } == [bytes], "\(what)")
    try world.run { try await session.refresh() }
    #expect(session.currentToken?.generation == Generation(2), "\(what)")
    try world.run { try await session.close() }
  }

  private func names(in disk: SimulatedDisk) throws -> [String] {
    var reader = try JournalReader(
      bytes: try #require(disk.contents(of: "session.journal")), name: "session.journal")
    var names: [String] = []
    while let raw = try reader.next() {
      names.append(
        try SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload).name)
    }
    return names
  }

  @Test("RES-6 a power failure during a quarantine logs out no user and loses no bytes")
  func powerCuts() throws {
    for seed in 0..<2 as Range<UInt64> {
      var cut = 0
      let sweep = Sweep("power cuts of a setting aside, \(seed)", takingOneOf: 3)
      while true {
        guard sweep.takes(cut) else {
          cut += 1
          continue
        }
        let world = SimulatedWorld(Choices(replaying: []))
        defer { world.finish() }
        let secrets = MemorySecretStore()
        let (disk, _, bytes) = try damaged(world, secrets)
        let left = Mutex<(SimulatedDisk, MemorySecretStore)?>(nil)
        let choices =
          seed == 0 ? Choices(replaying: []) : Choices(seed: seed &* 1_000 + UInt64(cut))
        disk.before(call: disk.callCount + cut) {
          do {
            let items = try copy(secrets)
            left.withLock { $0 = (disk.crash(choices), items) }
          } catch {
            Issue.record("\(error)")
          }
        }
        let session = try open(world, disk, secrets)
        try world.run { try await session.close() }
        guard let (after, items) = left.withLock({ $0 }) else { break }
        try expectGoingOn(world, after, items, keeping: bytes, "seed \(seed), call \(cut)")
        cut += 1
      }
      #expect(cut > 30, "\(cut)")
    }
  }

  @Test("RES-6 after any failed call during a quarantine, the session continues on a healthy disk")
  func faults() throws {
    for fault in [DiskFault.noSpace, .inputOutput] {
      var call = 0
      let sweep = Sweep("\(fault) in a setting aside", takingOneOf: 3)
      while true {
        guard sweep.takes(call) else {
          call += 1
          continue
        }
        let world = SimulatedWorld(Choices(replaying: []))
        defer { world.finish() }
        let secrets = MemorySecretStore()
        let (disk, _, bytes) = try damaged(world, secrets)
        let first = disk.callCount
        disk.fail(atCall: first + call, with: fault)
        do {
          let session = try open(world, disk, secrets)
          try world.run { try await session.close() }
        } catch {}
        guard disk.callCount > first + call else { break }
        disk.stopFaults()
        try expectGoingOn(world, disk, secrets, keeping: bytes, "\(fault) at call \(call)")
        call += 1
      }
      #expect(call > 30, "\(call)")
    }
  }
}
