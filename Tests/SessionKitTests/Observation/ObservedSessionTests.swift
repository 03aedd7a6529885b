import Observation
import SessionKit
import SessionMessages
import SessionTestKit
import Synchronization
import Testing

@Suite("A session as observed by a screen")
@MainActor
struct ObservedSessionTests {
  /// Shows whether an object still exists, without a strong reference.
  private struct Witness {
    weak var held: ObservedSession?
  }

  /// Waits until an observed value changes.
  private func change<Value: Equatable & Sendable>(
    of read: @escaping @MainActor () -> Value
  ) async {
    let old = read()
    while read() == old {
      await withCheckedContinuation { continuation in
        let waiter = Mutex<CheckedContinuation<Void, Never>?>(continuation)
        withObservationTracking {
          if read() != old { waiter.withLock { $0.take() }?.resume() }
        } onChange: {
          waiter.withLock { $0.take() }?.resume()
        }
      }
      // `onChange` is called before the value is set.
      await Task.yield()
    }
  }

  @Test(
    "STA-7 an observed session shows its state from the start, and each change to its observers")
  func follows() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let observed = ObservedSession(session)
    #expect(observed.state == .unauthenticated && observed.activity == .idle)
    #expect(!observed.isAuthenticated && observed.user == nil && observed.activeContext == nil)

    let login = Task { try await session.login(bench.credentials) }
    await change { observed.isAuthenticated }
    #expect(observed.isAuthenticated)
    #expect(observed.user?.id == Identifier(LoopbackUser.sample.id))
    #expect(observed.isPermitted("materials:read"))
    #expect(observed.activeContext == session.activeContext)
    _ = try await login.value

    try await session.logout()
    if observed.isAuthenticated { await change { observed.isAuthenticated } }
    #expect(observed.state == .unauthenticated && observed.user == nil)

    try await session.close()
    if !observed.isClosed { await change { observed.isClosed } }
    #expect(observed.isClosed)
  }

  @Test("STA-7 an observer of the login state is not notified of a refresh")
  func fine() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let observed = ObservedSession(session)
    let isTold = Mutex(false)
    withObservationTracking {
      _ = (observed.isAuthenticated, observed.user)
    } onChange: {
      isTold.withLock { $0 = true }
    }
    let refresh = Task { try await session.refresh() }
    await change { observed.state }
    _ = try await refresh.value
    #expect(observed.state.token?.generation == Generation(2))
    #expect(!isTold.withLock { $0 })
    try await session.logout()
    if observed.isAuthenticated { await change { observed.isAuthenticated } }
    #expect(isTold.withLock { $0 })
    try await session.close()
  }

  @Test("STA-3 STA-7 an observed session shows why a login failed and why a session expired")
  func problems() async throws {
    let bench = try Bench()
    let session = try await bench.open(.keeping)
    let observed = ObservedSession(session)
    bench.server.failNext(.login, with: .status(423))
    await #expect(throws: SessionError.accountLocked(code: "SERVER_ERROR")) {
      try await session.login(bench.credentials)
    }
    if observed.loginError == nil { await change { observed.loginError } }
    #expect(observed.loginError?.advice == .contactSupport)

    try await session.login(bench.credentials)
    bench.server.revokeAllTokens()
    let error = await #expect(throws: SessionError.self) { try await session.refresh() }
    #expect(error?.isExpired == true)
    if observed.expiryReason == nil { await change { observed.expiryReason } }
    #expect(observed.expiryReason == .refreshRejected)
    #expect(
      observed.expiryReason?.text(in: .portuguese)
        == "O serviço encerrou sua sessão. Entre para continuar.")
    #expect(observed.loginError == nil)
    try await session.close()
  }

  @Test("STA-7 a released observed session stops following, and does not keep the session alive")
  func released() async throws {
    let bench = try Bench()
    var session: Session? = try await bench.open()
    let states = try #require(session).states
    var observed: ObservedSession? = ObservedSession(try #require(session))
    let witness = Witness(held: observed)
    session = nil
    #expect(observed != nil)
    observed = nil
    #expect(witness.held == nil)
    // The sequence ends after the session is deallocated.
    for await _ in states {}
  }
}
