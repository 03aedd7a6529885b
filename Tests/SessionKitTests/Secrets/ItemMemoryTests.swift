@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("The memory of stored items")
struct ItemMemoryTests {
  private static let backend = BackendIdentity(origins: ["https://a.test"], client: "app")

  private func item(_ generation: UInt64) -> (whole: WholeItem<StoredToken>, bytes: [UInt8]) {
    let fields = StoredToken.Fields(generation: generation, access: "access-\(generation)")
    let whole = WholeItem(StoredToken(journal: "j", fields: fields), for: Self.backend)
    return (whole, whole.encoded)
  }

  @Test("STO-1 the same bytes are not decoded again, and other bytes are")
  func sameBytes() throws {
    let (one, two) = (item(1), item(2))
    let memory = ItemMemory()
    memory.open()
    // Kept with the bytes of another item: so it shows whether the bytes are decoded.
    memory.keep(one.whole, two.bytes)
    #expect(memory.read(StoredToken.self, two.bytes)?.item.generation == Generation(1))
    #expect(memory.read(StoredToken.self, one.bytes)?.item.generation == Generation(1))
    #expect(memory.read(StoredToken.self, two.bytes)?.item.generation == Generation(2))
    #expect(memory.read(StoredToken.self, two.bytes)?.backend == Self.backend)
    #expect(memory.read(StoredToken.self, []) == nil)
    #expect(memory.items == [.token])
  }

  @Test("STO-1 items of two kinds are kept side by side")
  func kinds() throws {
    let memory = ItemMemory()
    memory.open()
    let token = item(7)
    let user = WholeItem(
      StoredUser(journal: "j", profile: UserProfile(id: "u"), path: "/p"), for: Self.backend)
    _ = memory.read(StoredToken.self, token.bytes)
    _ = memory.read(StoredUser.self, user.encoded)
    #expect(memory.items == [.token, .user])
    #expect(memory.read(StoredUser.self, user.encoded)?.item.profile.id == "u")
    // Bytes of one kind are never an item of another kind.
    #expect(memory.read(StoredUser.self, token.bytes) == nil)
  }

  @Test("STO-3 outside the engine's loop nothing is kept")
  func closed() throws {
    let memory = ItemMemory()
    let token = item(3)
    #expect(memory.read(StoredToken.self, token.bytes)?.item.generation == Generation(3))
    #expect(memory.items.isEmpty)
    memory.open()
    memory.keep(token.whole, token.bytes)
    memory.close()
    #expect(memory.items.isEmpty)
    memory.keep(token.whole, token.bytes)
    #expect(memory.items.isEmpty)
  }

  @Test("STO-3 after sign-in, refresh and logout, a session keeps no copy of a stored secret")
  func session() throws {
    let world = SimulatedWorld(Choices(seed: 5))
    defer { world.finish() }
    let configuration = try world.configuration(
      in: SimulatedDisk().process(), secrets: MemorySecretStore())
    let session = try world.run { try await Session.open(configuration) }
    let engine = session.engine
    for step in 0..<3 as Range<Int> {
      try world.run {
        switch step {
        case 0: try await session.login(.sample)
        case 1: try await session.refresh()
        default: try await session.logout()
        }
      }
      let kept = try world.run { await engine.vault.memory.items }
      #expect(kept.isEmpty)
    }
  }
}
