@_spi(Internals) import SessionCore
import SessionKit
import SessionMessages
import SessionTestKit
import Testing

@Suite("A session: states to observe")
struct StatesTests {
  /// The statuses that one task has received so far.
  private actor Seen {
    private(set) var statuses: [SessionStatus] = []
    func take(_ status: SessionStatus) { statuses.append(status) }
  }

  @Test("STA-7 states begin with the current one for each subscriber")
  func beginsNow() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let states = session.states
    var first = states.makeAsyncIterator()
    var second = states.makeAsyncIterator()
    let status = await first.next()
    #expect(await second.next() == status)
    #expect(status == session.status)
    #expect(status?.isAuthenticated == true)
    #expect(status?.activity == .idle)
    #expect(status?.user == session.currentUser)
    #expect(status?.activeContext == session.activeContext)
    #expect(status?.isBusy == false)
    try await session.close()
  }

  @Test("STA-7 a slow subscriber receives only the newest state")
  func latestWins() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    var states = session.states.makeAsyncIterator()
    #expect(await states.next()?.state == .unauthenticated)
    try await session.login(bench.credentials)
    try await session.refresh()
    try await session.refresh()
    let status = await states.next()
    #expect(status == session.status)
    #expect(status?.state.token?.generation == Generation(3))
    #expect(status?.sequence == (try bench.records().last { $0.event != nil }?.sequence))
    try await session.close()
  }

  @Test(
    "STA-7 states end after the last one when the session closes, also for later subscribers")
  func ends() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let states = session.states
    let seen = Seen()
    let task = Task {
      for await status in states { await seen.take(status) }
    }
    await eventually("the first status") { session.isAuthenticated }
    try await session.logout()
    try await session.close()
    await task.value
    #expect(await seen.statuses.last?.state == .unauthenticated)
    var late = states.makeAsyncIterator()
    #expect(await late.next() == session.status)
    #expect(await late.next() == nil)
    #expect(await late.next() == nil)
  }

  @Test("STA-7 states end when the session is deallocated, and do not keep it alive")
  func gone() async throws {
    let bench = try Bench()
    var session: Session? = try await bench.open()
    let states = try #require(session).states
    session = nil
    var count = 0
    for await _ in states { count += 1 }
    #expect(count <= 1)
  }

  @Test("STA-7 a waiting subscriber ends when its task is cancelled")
  func cancelled() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let states = session.states
    let (ready, isReady) = AsyncStream<Void>.makeStream()
    let task = Task {
      var count = 0
      for await _ in states {
        count += 1
        isReady.finish()
      }
      return count
    }
    for await _ in ready {}
    task.cancel()
    #expect(await task.value == 1)
    try await session.close()
  }

  @Test("STA-3 the status shows loading, idle, authenticating, refreshing and switching")
  func activities() async throws {
    let bench = try Bench()
    let store = MemorySecretStore()
    store.isAvailable = false
    let session = try await bench.open(store: store)
    try #require(session.status.activity == .loading)
    store.isAvailable = true
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(60))
    await eventually("the secrets are read") { session.activity == .idle }

    let sign = bench.server.hold(.login)
    let login = Task { try await session.login(bench.credentials) }
    #expect(await bench.server.received(.login))
    #expect(session.status.activity == .authenticating && session.status.isBusy)
    sign.open()
    _ = try await login.value
    #expect(session.status.activity == .idle)

    let fresh = bench.server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    #expect(session.status.activity == .refreshing && session.status.isBusy)
    fresh.open()
    _ = try await refresh.value

    let other = bench.server.hold(.switchContext)
    let change = Task { try await session.switchContext(to: bench.coordinator) }
    #expect(await bench.server.received(.switchContext))
    #expect(session.status.activity == .switching && session.status.isBusy)
    other.open()
    _ = try await change.value
    #expect(session.status.activity == .idle)
    try await session.close()
  }

  @Test("STA-3 clearError and a new login reset a failed status, which has a text for screens")
  func failed() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    func fail() async {
      bench.server.failNext(.login, with: .status(401, code: "INVALID_CREDENTIALS"))
      _ = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
    }
    await fail()
    #expect(
      session.status.loginError?.text(in: .spanish)
        == "El nombre de usuario o la contraseña no son correctos. Revisa los datos introducidos.")
    #expect(session.status.loginError?.advice == .correctInput)
    #expect(session.status.activity == .failed)
    #expect(session.status.loginError?.code == .invalidCredentials)
    #expect(session.status.loginError?.serverCode == "INVALID_CREDENTIALS")
    await session.clearError()
    #expect(session.status.activity == .idle && session.status.loginError == nil)
    await fail()
    #expect(session.status.loginError != nil)
    try await session.login(bench.credentials)
    #expect(session.status.activity == .idle && session.status.loginError == nil)
    try await session.close()
  }

  @Test("STA-7 STO-3 no description of a status shows a token or a name")
  func quiet() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    var printed = "\(session.status)"
    dump(session.status, to: &printed)
    debugPrint(session.status, to: &printed)
    #expect(printed.contains("authenticated, idle, as of"))
    for secret in bench.server.secrets where secret.utf8.count >= 6 {
      #expect(!printed.contains(secret))
    }
    try await session.close()
  }
}
