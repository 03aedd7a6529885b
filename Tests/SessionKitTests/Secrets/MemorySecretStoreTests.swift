import SessionKit
import Testing

@Suite("Secrets in memory")
struct MemorySecretStoreTests {
  @Test("RES-3 while the store is unavailable, every call throws and no item changes")
  func unavailable() throws {
    let store = MemorySecretStore()
    try store.write(.token, [1])
    try store.setAside(.token)
    try store.write(.token, [2])
    store.isAvailable = false
    let error = SecretStoreError.unavailable(item: .token, place: "memory")
    #expect(throws: error) { try store.read(.token) }
    #expect(throws: error) { try store.write(.token, [3]) }
    #expect(throws: error) { try store.remove(.token) }
    #expect(throws: error) { try store.setAside(.token) }
    #expect(throws: error) { try store.removeSetAside(.token) }
    store.isAvailable = true
    #expect(try store.read(.token) == [2] && store.setAsideBytes(.token) == [1])
    try store.remove(.token)
    #expect(try store.read(.token) == nil)
  }
}
