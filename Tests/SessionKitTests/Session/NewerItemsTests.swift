import Foundation
@_spi(Internals) import SessionCore
import SessionMessages
import SessionTestKit
import Testing

@testable import SessionKit

/// Stored items that a newer version of this library wrote.
@Suite("A session: stored items of a newer version")
struct NewerItemsTests {
  private let bench: Bench

  init() throws { bench = try Bench() }

  private func make(newer name: String) throws {
    let url = URL(filePath: bench.secrets + "/" + name)
    var object = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    object["v"] = 2
    try JSONSerialization.data(withJSONObject: object).write(to: url)
  }

  private func contents(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: bench.secrets + "/" + name))
  }

  private let problem = SessionError.secrets(.newerVersion(item: .token, found: 2))

  @Test(
    "RES-8 the app is advised to update, nothing is lost, and a login replaces the newer item",
    arguments: ["token", "user"])
  func signIn(_ name: String) async throws {
    var policy = SessionPolicy.bench
    policy.limits.requiredItems = [.token, .user]
    try await bench.signedIn(policy).close()
    try make(newer: name)
    let newer = try contents(name)
    let item = name == "token" ? SecretItem.token : .user
    let problem = SessionError.secrets(.newerVersion(item: item, found: 2))
    let session = try await bench.open(policy)
    #expect(session.activity == .failed && session.status.loginError?.advice == .update)
    #expect(session.storageProblem == problem)
    #expect(session.storageProblem?.message == .newerData)
    #expect(session.storageProblem?.advice == .update)
    #expect(
      await failure { () async throws(SessionError) in try await session.refresh() } == problem)
    #expect(
      await failure { () async throws(SessionError) in try await session.accessToken() }
        == problem)
    // Wrong credentials change nothing.
    let credentials = Credential.password(LoopbackUser.sample.email, "wrong-password")
    _ = await failure { () async throws(SessionError) in try await session.login(credentials) }
    #expect(session.state.kind == .authenticated)
    #expect(try contents(name) == newer)
    await session.clearError()
    await session.retry()
    #expect(session.activity == .failed && session.status.loginError?.advice == .update)
    try await session.login(bench.credentials)
    #expect(session.activity == .idle && session.storageProblem == nil)
    #expect(session.currentToken?.generation == Generation(2))
    try await session.refresh()
    try await session.close()
    let again = try await bench.open(policy)
    #expect(again.currentToken?.generation == Generation(3) && again.storageProblem == nil)
    try await again.close()
    let ends = try bench.records().compactMap(\.event).filter { $0.kind == .sessionExpired }
    #expect(ends == [.sessionExpired(SessionEvent.SessionExpired(reason: .secretsNewer))])
  }

  @Test("RES-8 any user can log in after a logout, at once and after another opening")
  func logout() async throws {
    for isReopened in [false, true] {
      let bench = try Bench()
      try await bench.signedIn().close()
      let tests = NewerItemsTests(bench)
      try tests.make(newer: "token")
      var session = try await bench.open()
      try await session.logout()
      #expect(try bench.files().allSatisfy { !$0.hasPrefix("token") })
      if isReopened {
        try await session.close()
        session = try await bench.open()
        #expect(session.activity == .idle && session.storageProblem == nil)
      }
      try await session.login(bench.credentials)
      #expect(session.currentToken != nil)
      try await session.close()
    }
  }

  private init(_ bench: Bench) { self.bench = bench }

  @Test("RES-8 a new journal next to a newer item locks out no user and wipes nothing")
  func nobodySignedIn() async throws {
    try await bench.signedIn().close()
    try make(newer: "token")
    try FileManager.default.removeItem(atPath: bench.journal)
    let newer = try contents("token")
    let session = try await bench.openMissing()
    #expect(session.activity == .idle && session.state == .unauthenticated)
    #expect(session.storageProblem == problem)
    #expect(try contents("token") == newer)
    try await session.login(bench.credentials)
    #expect(session.storageProblem == nil)
    #expect(try contents("token") != newer)
    try await session.close()
  }
}
