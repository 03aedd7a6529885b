import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// What other processes do between the intent of a request and its sending.
@Suite("A session: the last moment before a request", .timeLimit(.minutes(10)))
struct LastMomentTests {
  /// Two sessions on one journal.
  ///
  /// The second one refreshes, and is stopped when its intent is durable and nothing is sent yet.
  private func stopped(
    _ policy: SessionPolicy = .bench
  ) async throws -> (Bench, first: Session, store: PausingStore, Task<AccessToken, any Error>) {
    let bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    let shared = MemorySecretStore()
    let apart = InterceptedStore(shared, separatesRefreshToken: true)
    let first = try await bench.signedIn(policy, store: apart)
    let store = PausingStore(shared)
    let second = try await bench.open(policy, store: store)
    store.pauseSecondRead()
    let refresh = Task { try await second.refresh() }
    await store.paused()
    #expect(try bench.records().last?.name == "requestSent")
    return (bench, first, store, refresh)
  }

  @Test("REF-11 if another process logs out in between, no request is sent, and the intent ends")
  func loggedOut() async throws {
    let (bench, first, store, refresh) = try await stopped()
    #expect(try await first.logout() == .success)
    store.goOn()
    let error = await #expect(throws: SessionError.self) { try await refresh.value }
    #expect(error?.isLoggedOut == true)
    #expect(bench.server.count(of: .refresh) == 0)
    let ends = try bench.records().compactMap { record -> SessionNote.RequestEnded? in
      guard case .note(.requestEnded(let ended)) = record.content else { return nil }
      return ended
    }
    #expect(ends.map(\.failure.kind) == [.noConnection])
    try await first.close()
  }

  @Test("REF-11 if another process writes a note in between, the request is sent")
  func noted() async throws {
    let (bench, first, store, refresh) = try await stopped()
    try await first.close()
    store.goOn()
    #expect(try await refresh.value.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 1)
  }

  @Test("REF-11 if another process logs out during the request, the late tokens are revoked")
  func revoked() async throws {
    let bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    let first = try await bench.signedIn()
    let second = try await bench.open()
    let gate = bench.server.hold(.refresh, at: .afterActing)
    let refresh = Task { try await second.refresh() }
    #expect(await bench.server.received(.refresh))
    #expect(try await first.logout() == .success)
    gate.open()
    let error = await #expect(throws: SessionError.self) { try await refresh.value }
    #expect(error?.isLoggedOut == true)
    #expect(await bench.server.received(.logout, count: 2))
    // The late token is the second one that the server has issued.
    let revoked = bench.server.calls.filter { $0.endpoint == .logout }.map(\.accessToken)
    #expect(revoked == [1, 2])
    #expect(try bench.files().filter { $0 == "token" }.isEmpty)
    #expect(!(try bench.eventNames().contains("refreshSucceeded")))
    try await second.close()
    try await first.close()
  }
}

/// Stops the session when it reads the refresh token for the second time.
///
/// The first read is under the journal's lock, and the second one is for the request.
private final class PausingStore: SecretStore {
  private struct State {
    var readsLeft: Int?
    var isPaused = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let base: MemorySecretStore
  private let state = Mutex(State())
  private let gate = DispatchSemaphore(value: 0)

  init(_ base: MemorySecretStore) { self.base = base }

  func pauseSecondRead() { state.withLock { $0.readsLeft = 2 } }

  func goOn() { gate.signal() }

  func paused() async {
    await withCheckedContinuation { continuation in
      let isPaused = state.withLock { state in
        if !state.isPaused { state.waiter = continuation }
        return state.isPaused
      }
      if isPaused { continuation.resume() }
    }
  }

  var separatesRefreshToken: Bool { true }

  func read(_ item: SecretItem) throws(SecretStoreError) -> [UInt8]? {
    let bytes = try base.read(item)
    guard item == .refreshToken else { return bytes }
    let (pauses, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
      guard let left = state.readsLeft else { return (false, nil) }
      state.readsLeft = left > 1 ? left - 1 : nil
      guard left == 1 else { return (false, nil) }
      state.isPaused = true
      defer { state.waiter = nil }
      return (true, state.waiter)
    }
    waiter?.resume()
    if pauses { gate.wait() }
    return bytes
  }

  func write(_ item: SecretItem, _ bytes: [UInt8]) throws(SecretStoreError) {
    try base.write(item, bytes)
  }

  func remove(_ item: SecretItem) throws(SecretStoreError) { try base.remove(item) }

  func setAside(_ item: SecretItem) throws(SecretStoreError) { try base.setAside(item) }

  func removeSetAside(_ item: SecretItem) throws(SecretStoreError) {
    try base.removeSetAside(item)
  }
}
