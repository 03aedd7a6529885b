import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// Failures of the secret store are journaled, if the journal can be written.
@Suite("A session: failures of the secret store are journaled")
struct StorageNotesTests {
  private func notes(_ bench: Bench) throws -> [SessionNote] {
    try bench.records().compactMap { record in
      switch record.content {
      case .note(let note) where [.storageFailed, .storageRecovered].contains(note.kind): note
      default: nil
      }
    }
  }

  @Test(
    "STO-5 REF-20 a failure to reserve room for a token is noted once, and so is its later success")
  func write() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let obstacle = bench.secrets + "/token.new"
    try FileManager.default.createDirectory(
      atPath: obstacle, withIntermediateDirectories: false)
    let refused = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .obstructed? = refused.secretsError else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(bench.server.count(of: .refresh) == 0)
    let failed = SessionNote.storageFailed(
      .init(item: .token, operation: .reserve, cause: .obstructed))
    try await eventually("the note") { try notes(bench) == [failed] }
    #expect(session.storageProblem != nil)
    for _ in 0..<5 {
      await bench.clock.waitForSleepers(1)
      bench.clock.advance(by: .seconds(1))
    }
    #expect(try notes(bench) == [failed])
    try FileManager.default.removeItem(atPath: obstacle)
    try await eventually("the token") {
      bench.clock.advance(by: .seconds(1))
      return try bench.eventNames().last == "refreshSucceeded"
    }
    let recovered = SessionNote.storageRecovered(.init(item: .token, operation: .reserve))
    try await eventually("the end of the run") { try notes(bench) == [failed, recovered] }
    #expect(session.storageProblem == nil)
    try await session.close()
  }

  @Test("STO-5 RES-3 a locked store is noted once at the opening, and so is its unlocking")
  func read() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    store.isAvailable = false
    let session = try await bench.open(store: store)
    let failed = SessionNote.storageFailed(
      .init(item: .token, operation: .read, cause: .unavailable))
    #expect(try notes(bench) == [failed])
    for _ in 0..<5 { await session.retry() }
    #expect(try notes(bench) == [failed])
    store.isAvailable = true
    await session.retry()
    let recovered = SessionNote.storageRecovered(.init(item: .token, operation: .read))
    #expect(try notes(bench) == [failed, recovered])
    #expect(session.currentToken != nil)
    try await session.close()
  }

  @Test("STO-5 LOG-13 a store that fails at every call tells the app its status, and is not locked")
  func failing() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    try await bench.signedIn(store: store).close()
    // errSecMissingEntitlement: the app's signature lacks the access group.
    let broken = InterceptedStore(store) { (_, item) throws(SecretStoreError) in
      throw .failed(item: item, place: "keychain", operation: "read", code: -34_018)
    }
    let session = try await bench.open(store: broken)
    #expect(session.activity == .loading && session.isAuthenticated)
    let problem = try #require(session.storageProblem)
    #expect(problem.code == .storage && problem.advice == .contactSupport)
    guard case .failed(_, _, _, -34_018)? = problem.underlyingError as? SecretStoreError else {
      Issue.record("\(problem)")
      return
    }
    let errors = [
      await failure { () async throws(SessionError) in try await session.accessToken() },
      await failure { () async throws(SessionError) in try await session.login(bench.credentials) },
      await failure { () async throws(SessionError) in try await session.unlock() },
    ]
    #expect(errors == [problem, problem, problem])
    #expect(
      try notes(bench) == [
        .storageFailed(.init(item: .token, operation: .read, cause: .failed, number: -34_018))
      ])
    try await session.close()
  }

  @Test("RES-7 LOG-13 an item that is not found is searched for again, and is not locked")
  func notFound() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try FileSecretStore(folder: bench.secrets).remove(.token)
    let session = try await bench.open()
    #expect(session.activity == .loading && session.isAuthenticated)
    let error = await failure { () async throws(SessionError) in try await session.accessToken() }
    #expect(error == .secrets(.notFound(item: .token)) && error?.advice == .retry)
    #expect(session.storageProblem == error)
    await bench.passDoubt(session)
    await eventually("it ends") { session.state.kind != .authenticated }
    #expect(session.storageProblem == nil)
    #expect(session.lastEnd?.reason == .expired(.secretsMissing))
    try await session.close()
  }

  @Test("LCH-1 a refresh writes the user item only if the response changes it")
  func sameUser() async throws {
    let bench = try Bench()
    let written = Mutex<[SecretItem]>([])
    let store = InterceptedStore { operation, item in
      if operation == .write { written.withLock { $0.append(item) } }
    }
    let session = try await bench.signedIn(store: store)
    for (name, expected) in [
      (LoopbackUser.sample.firstName, [SecretItem.token]), ("Another", [.user, .token]),
    ] {
      let user: WireValue = [
        "id": .string(LoopbackUser.sample.id), "email": .string(LoopbackUser.sample.email),
        "first_name": .string(name), "last_name": .string(LoopbackUser.sample.lastName),
      ]
      bench.server.failNext(.refresh, with: .patch(["user": user]))
      written.withLock { $0 = [] }
      try await session.refresh()
      #expect(written.withLock { $0 } == expected, "\(name)")
    }
    #expect(session.currentUser?.firstName == "Another")
    try await session.close()
  }
}
