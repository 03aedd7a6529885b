import Foundation
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// What is stored for pending revocations, with real stores and several processes.
@Suite("A simulated world: the data of pending revocations")
struct RevocationTests {
  private let world = SimulatedWorld(Choices(replaying: []))
  private let disk = SimulatedDisk()
  private let secrets = MemorySecretStore()

  private func open(_ store: (any SecretStore)? = nil) throws -> Session {
    let configuration = try world.configuration(
      in: disk.process(), secrets: store ?? secrets, policy: .edu(.staging))
    return try world.run { try await Session.open(configuration) }
  }

  private func leave(_ session: Session) throws -> LogoutOutcome {
    try world.run { try await session.logout() }
  }

  /// The generations that the revocation item names, oldest first.
  private func kept() throws -> [Int] {
    guard let bytes = try secrets.read(.revocation) else { return [] }
    let item = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    let fields = try #require(item?["fields"] as? [String: Any])
    let earlier = fields["earlier"] as? [[String: Any]] ?? []
    return (earlier + [fields]).compactMap { $0["generation"] as? Int }
  }

  @Test(
    "OUT-1 after many logouts offline, the last eight revocations are kept and sent later")
  func many() throws {
    defer { world.finish() }
    let session = try open()
    for number in 1...9 {
      try world.run { try await session.login(.sample) }
      world.server.script(.status(503), for: .logout)
      #expect(try leave(session) == .partial(.serverNotTold(status: 503)))
      #expect(try kept() == Array(max(1, number - 7)...number))
    }
    try world.run { try await session.close() }
    let again = try open()
    world.run(for: .seconds(30))
    #expect(world.server.count(of: .logout) == 8)
    #expect(secrets.items.isEmpty)
    try world.run { try await again.close() }
  }

  @Test("OUT-1 a single revocation is stored with the members that older versions read")
  func format() throws {
    defer { world.finish() }
    let session = try open()
    try world.run { try await session.login(.sample) }
    world.server.script(.status(503), for: .logout, number: 1)
    _ = try leave(session)
    let bytes = try #require(try secrets.read(.revocation))
    let item = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    #expect(Set(item?.keys ?? [:].keys) == ["v", "journal", "backend", "fields"])
    #expect((item?["v"] as? Int) == 1)
    let fields = item?["fields"] as? [String: Any]
    let names = Set(fields?.keys ?? [:].keys)
    #expect(names.isSuperset(of: ["generation", "access", "refresh", "journalPath"]))
    #expect(names.subtracting(["expiresAt", "boot", "deadline"]).count == 4)
  }

  @Test("OUT-1 a confirmed revocation is removed, and a later pending one stays")
  func earlierIsTold() throws {
    defer { world.finish() }
    let (one, two) = (try open(), try open())
    try world.run { try await one.login(.sample) }
    world.server.script(.delayed(there: 500, back: 500), for: .logout, number: 1)
    world.server.script(.status(503), for: .logout, number: 2)
    world.spawn("one logs out") { _ = try await one.logout() }
    world.run(for: .milliseconds(100))
    try world.run { try await two.login(.sample) }
    #expect(try leave(two) == .partial(.serverNotTold(status: 503)))
    #expect(try kept() == [1, 2])
    world.run(for: .seconds(2))
    #expect(try kept() == [2])
  }

  @Test(
    "OUT-1 if a revocation cannot be stored, it is sent from memory and retried once")
  func notStored() throws {
    defer { world.finish() }
    let store = InterceptedStore(secrets) { (operation, item) throws(SecretStoreError) in
      guard operation == .write, item == .revocation else { return }
      throw .noSpace(item: item, place: "a full store")
    }
    let session = try open(store)
    try world.run { try await session.login(.sample) }
    #expect(try leave(session) == .success)
    #expect(world.server.count(of: .logout) == 1)
    #expect(secrets.items.isEmpty)
    try world.run { try await session.login(.sample) }
    world.server.script(.status(503), for: .logout)
    #expect(try leave(session) == .partial(.serverNotTold(status: 503)))
    world.run(for: .seconds(600))
    #expect(world.server.count(of: .logout) == 2)
    #expect(secrets.items.isEmpty)
    try world.run { try await session.close() }
  }

  @Test(
    "OUT-1 the first session is revoked if another process logs in before its wipe")
  func overtaken() throws {
    defer { world.finish() }
    let (one, two) = (try open(), try open())
    try world.run { try await one.login(.sample) }
    // The revocation of the first process cannot be stored until the second one has logged in.
    secrets.isAvailable = false
    world.server.script(.status(503), for: .logout, number: 1)
    _ = try leave(one)
    secrets.isAvailable = true
    try world.run { try await two.login(.sample) }
    world.run(for: .seconds(3_600))
    #expect(two.isAuthenticated)
    #expect(world.server.count(of: .logout) == 1)
    #expect(try world.run { try await two.refresh() }.generation > Generation(2))
  }
}
