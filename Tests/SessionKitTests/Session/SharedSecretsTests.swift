import Foundation
import SessionJournal
import SessionTestKit
import Testing

@testable import SessionKit

/// Two accounts with a journal each, and by mistake one place for their secrets.
@Suite("A session: secrets that are another account's")
struct SharedSecretsTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private var other: String { bench.folder.appending(path: "b.journal").path }

  private func configuration(_ path: String, _ store: (any SecretStore)? = nil)
    -> SessionConfiguration
  {
    var configuration = bench.configuration(store: store)
    configuration.journal = path
    return configuration
  }

  private func refused(_ configuration: SessionConfiguration) async -> SessionError? {
    await failure { () async throws(SessionError) in try await Session.open(configuration) }
  }

  private func contents() throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try bench.files() {
      contents[name] = try Data(contentsOf: URL(filePath: bench.secrets + "/" + name))
    }
    return contents
  }

  @Test(
    "RES-5 a second journal on the same secrets is refused while the first stands, and nothing is touched"
  )
  func refused() async throws {
    let first = try await bench.signedIn()
    let before = try contents()
    #expect(
      await refused(configuration(other)) == .secretsOfAnotherSession(journal: bench.journal))
    #expect(!FileManager.default.fileExists(atPath: other), "no journal is made")
    #expect(try contents() == before)
    try await first.refresh()
    try await first.close()
    // Also where the second journal was there before, and where the first session is closed.
    _ = try await Session.open(
      configuration(other, MemorySecretStore())
    ).close()
    #expect(
      await refused(configuration(other)) == .secretsOfAnotherSession(journal: bench.journal))
    let again = try await bench.open()
    #expect(again.isAuthenticated && again.currentToken?.generation == Generation(2))
    try await again.logout()
    try await again.close()
    // Nobody's any more: whoever signs in next has the place.
    let second = try await Session.open(configuration(other))
    try await second.login(bench.credentials)
    try await second.close()
    #expect(
      await refused(configuration(bench.journal)) == .secretsOfAnotherSession(journal: other))
  }

  @Test("RES-5 the same journal by another path, moved, or by a link is not another's")
  func samePlace() async throws {
    try await bench.signedIn().close()
    try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: bench.journal)
    let linked = try await Session.open(configuration(other))
    #expect(linked.isAuthenticated)
    try await linked.close()
    try FileManager.default.removeItem(atPath: other)
    try FileManager.default.moveItem(atPath: bench.journal, toPath: other)
    let moved = try await Session.open(configuration(other))
    #expect(moved.isAuthenticated)
    try await moved.close()
  }

  @Test(
    "RES-5 a journal that is gone, or is another one by now, owns nothing: the policy decides as ever"
  )
  func gone() async throws {
    for isReplaced in [false, true] {
      let bench = try Bench()
      try await bench.signedIn().close()
      try Journal.delete(at: bench.journal)
      if isReplaced { try await bench.open(store: MemorySecretStore()).close() }
      var configuration = bench.configuration()
      configuration.journal = bench.folder.appending(path: "b.journal").path
      let session = try await Session.open(configuration)
      #expect(session.state == .unauthenticated)
      #expect(try bench.files().isEmpty)
      try await session.close()
    }
  }

  @Test(
    "RES-5 RES-3 not readable when the second opens: it waits, and does not take what it meets then"
  )
  func locked() async throws {
    let store = MemorySecretStore()
    let first = try await bench.signedIn(store: store)
    store.isAvailable = false
    let second = try await Session.open(configuration(other, store))
    store.isAvailable = true
    await second.retry()
    #expect(second.activity == .loading && second.currentToken == nil)
    #expect(
      second.storageProblem == .secretsOfAnotherSession(journal: bench.journal))
    #expect(store.items.contains(.token))
    try await second.close()
    try await first.refresh()
    try await first.close()
  }

  @Test(
    "RES-5 LOG-10 both open before anybody signs in: the second sign-in is refused, the first one's stays"
  )
  func bothOpen() async throws {
    let first = try await bench.open()
    let second = try await Session.open(configuration(other))
    try await first.login(bench.credentials)
    let before = try contents()
    let credentials = bench.credentials
    #expect(
      await failure { () async throws(SessionError) in try await second.login(credentials) }
        == .secretsOfAnotherSession(journal: bench.journal))
    #expect(second.state == .unauthenticated)
    #expect(try contents() == before)
    try await second.close()
    try await first.refresh()
    #expect(try await first.logout() == .success)
    try await first.close()
  }
}
