import Foundation
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: secrets stay inside it")
struct LeakTests {
  @Test("STO-3 no token, password or user data is in the journal or in a description")
  func nothingLeaks() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.open(.keeping)
    var printed = ""
    func show(_ value: Any) {
      print(value, to: &printed)
      debugPrint(value, to: &printed)
      dump(value, to: &printed)
    }
    try await session.login(bench.credentials)
    try await session.refresh()
    try await session.switchContext(to: bench.coordinator)
    for value in [
      session.state, session.activity, session.currentUser as Any, session.currentToken as Any,
      session.events, session, bench.credentials, bench.configuration(),
    ] as [Any] {
      show(value)
    }
    bench.server.revokeAllTokens()
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    show(error as Any)
    try await session.login(bench.credentials)
    try await session.logout()
    try await session.close()

    let secrets = bench.server.secrets.filter { $0.utf8.count >= 6 }
    #expect(secrets.count > 10)
    let journal = try Data(contentsOf: URL(filePath: bench.journal))
    #expect(journal.count > 500)
    for secret in secrets {
      #expect(journal.range(of: Data(secret.utf8)) == nil)
      #expect(!printed.contains(secret))
    }
    let profile = [LoopbackUser.sample.email, LoopbackUser.sample.password]
    for text in profile { #expect(secrets.contains(text), "the check would see it") }
  }
}
