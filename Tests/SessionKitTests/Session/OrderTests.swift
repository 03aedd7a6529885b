import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// Runs a closure each time the session asks for the time, that is, between any two of its steps.
private struct WitnessClock: SessionClock {
  let base: ManualClock
  let onLook: @Sendable () -> Void

  func now() -> ClockReading {
    onLook()
    return base.now()
  }

  func sleep(until deadline: Duration) async throws(CancellationError) {
    try await base.sleep(until: deadline)
  }
}

@Suite("A session: the order of its steps")
struct OrderTests {
  @Test("REF-7 every item is stored before the event, and the token is stored last")
  func storedFirst() async throws {
    let bench = try Bench()
    let seen = Mutex<[String]>([])
    let store = InterceptedStore { (operation, item) throws(SecretStoreError) in
      guard operation == .write else { return }
      do {
        let events = try bench.eventNames()
        seen.withLock { $0.append("\(item) \(events)") }
      } catch {
        Issue.record(error)
      }
    }
    let session = try await bench.signedIn(store: store)
    #expect(seen.withLock { $0 } == ["context []", "user []", "token []"])
    #expect(try bench.eventNames() == ["login"])
    try await session.close()
  }

  @Test("OUT-4 a logout's wipe spares the items of a later login by another process")
  func sparesNewerLogin() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    let isDone = Mutex(false)
    let clock = WitnessClock(base: bench.clock) {
      do {
        // The session asks for the time before the journal exists.
        guard FileManager.default.fileExists(atPath: bench.journal) else { return }
        guard try bench.eventNames().last == "logout", !isDone.withLock({ $0 }) else { return }
        isDone.withLock { $0 = true }
        try Self.signInElsewhere(bench, store)
      } catch {
        Issue.record(error)
      }
    }
    let session = try await Session.open(
      SessionConfiguration(
        journal: bench.journal, secrets: store,
        backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL),
        policy: .bench, clock: clock))
    try await session.login(bench.credentials)
    _ = try await session.logout()
    #expect(isDone.withLock { $0 })
    #expect(store.items.contains(.token))
    try await session.close()
  }

  private static func signInElsewhere(_ bench: Bench, _ store: MemorySecretStore) throws {
    let now = bench.clock.now().time
    let token = TokenMetadata(
      generation: Generation(2), issuedAt: now, expiresAt: now.advanced(by: 3_600_000), id: nil,
      isRefreshable: true)
    let login = SessionEvent.Login(user: "other", method: .password, token: token)
    let (kind, payload) = SessionCodec.encode(.event(.login(login)), at: now)
    let journal = try Journal.open(at: bench.journal)
    let item = StoredToken(
      journal: journal.identifier.description, facts: token, access: Secret("other"), refresh: nil,
      announcement: .login(login), at: now)
    try store.write(.token, item.encoded())
    _ = try journal.append([JournalDraft(kind: kind, payload: payload)])
    try journal.close()
  }
}
