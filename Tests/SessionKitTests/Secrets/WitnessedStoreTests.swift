@_spi(Internals) import SessionCore
import Testing

@testable import SessionKit

@Suite("A secret store whose failures are journaled")
struct WitnessedStoreTests {
  private typealias Call = @Sendable (WitnessedStore) throws(SecretStoreError) -> Void

  private static let calls: [(StorageOperation, Call)] = [
    (.read, { (store) throws(SecretStoreError) in _ = try store.read(.token) }),
    (.write, { (store) throws(SecretStoreError) in try store.write(.token, [1]) }),
    (.reserve, { (store) throws(SecretStoreError) in try store.reserve(.token, bytes: 1) }),
    (.remove, { (store) throws(SecretStoreError) in try store.remove(.token) }),
    (.setAside, { (store) throws(SecretStoreError) in try store.setAside(.token) }),
    (.remove, { (store) throws(SecretStoreError) in try store.removeSetAside(.token) }),
  ]

  @Test("STO-5 each failure of the store is thrown, and is reported once until a call succeeds")
  func failures() throws {
    let error = SecretStoreError.failed(item: .token, place: "p", operation: "o", code: 5)
    for (operation, call) in Self.calls {
      let witness = StoreWitness()
      let store = InterceptedStore { (_, _) throws(SecretStoreError) in throw error }
      let failing = WitnessedStore(store, witness)
      for _ in 0..<2 { #expect(throws: error, "\(operation)") { try call(failing) } }
      let reports = witness.takeReports()
      #expect(reports.map(\.operation) == [operation] && reports.map(\.item) == [.token])
      #expect(reports.first?.failure == StorageReport.Failure(.failed, number: 5))
      try call(WitnessedStore(MemorySecretStore(), witness))
      #expect(witness.takeReports().map(\.failure) == [nil], "\(operation)")
      #expect(witness.takeReports().isEmpty)
    }
  }
}
