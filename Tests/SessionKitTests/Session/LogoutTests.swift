import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("A session: logout")
struct LogoutTests {
  @Test(
    "OUT-1 OUT-2 a logout journals its event, wipes and revokes, and a second one appends nothing")
  func logout() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    #expect(try await session.logout() == .success)
    #expect(session.state == .unauthenticated)
    #expect(session.currentToken == nil)
    #expect(session.currentUser == nil)
    #expect(try bench.files().isEmpty)
    #expect(bench.server.count(of: .logout) == 1)
    let names = try bench.records().map(\.name)
    #expect(names == ["opened", "login", "logout", "revocationPending", "revocationSettled"])
    #expect(try await session.logout() == .alreadyLoggedOut)
    #expect(try bench.records().count == names.count)
    try await session.close()
  }

  @Test("OUT-1 a logout in a cancelled task still logs out, and throws without waiting")
  func cancelledBefore() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure { () async throws(SessionError) in try await session.logout() }
    }
    #expect(await task.value == .cancelled)
    await eventually("it is logged out") { session.state == .unauthenticated }
    await eventually("the server is told") { bench.server.count(of: .logout) == 1 }
    // A close does not wait for the server's response.
    try await eventually("nothing is left to tell") { try bench.files().isEmpty }
    try await session.close()
    #expect(try bench.eventNames() == ["login", "logout"])
  }

  @Test("OUT-1 a cancelled logout returns although a store keeps the session's thread busy")
  func cancelledAtStore() async throws {
    let bench = try Bench()
    let door = StoreDoor()
    let store = InterceptedStore(before: { operation, _ in
      if case .remove = operation { door.pass() }
    })
    let session = try await bench.signedIn(store: store)
    door.shut()
    let logout = Task { try await session.logout() }
    await eventually("it removes an item") { door.isWaitedAt }
    // Without this, a logout that waits for the thread would wait without end.
    let opener = Task {
      try await Task.sleep(for: .seconds(20))
      door.open()
    }
    logout.cancel()
    await #expect(throws: SessionError.cancelled) { try await logout.value }
    #expect(!door.isOpen)
    opener.cancel()
    door.open()
    await eventually("the server is told") { bench.server.count(of: .logout) == 1 }
    try await session.close()
  }

  @Test("OUT-1 a logout ends the session also in a process that has not seen the login")
  func stale() async throws {
    let bench = try Bench()
    let (one, two) = (try await bench.open(), try await bench.open())
    try await one.login(bench.credentials)
    #expect(two.state == .unauthenticated)
    #expect(try await two.logout() == .success)
    #expect(try bench.files().isEmpty)
    let names = try bench.records().map(\.name)
    #expect(names.suffix(3) == ["logout", "revocationPending", "revocationSettled"])
    #expect(try await one.logout() == .alreadyLoggedOut)
    #expect(one.state == .unauthenticated)

    try await one.login(bench.credentials)
    let token = try await two.accessToken()
    #expect(token == one.currentToken)
    #expect(bench.server.count(of: .refresh) == 0)
    #expect(two.isAuthenticated)
    try await one.close()
    try await two.close()
  }

  @Test(
    "OUT-1 a logout throws if the journal cannot be read")
  func unreadable() async throws {
    let bench = try Bench()
    let disk = SimulatedDisk()
    var configuration = bench.configuration()
    configuration.journal = "/a.journal"
    configuration.journalOptions = .on(disk.process())
    let session = try await Session.open(configuration)
    disk.fail(atCall: disk.callCount, with: .inputOutput)
    let error = await failure { () async throws(SessionError) in try await session.logout() }
    guard case .journal = error.failure else {
      Issue.record("it is \(String(describing: error))")
      return
    }
    #expect(try await session.logout() == .alreadyLoggedOut)
    try await session.close()
  }

  @Test("OUT-1 a server failure never prevents a logout, and the revocation is repeated later")
  func serverFails() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.logout, with: .status(503))
    #expect(try await session.logout() == .partial(.serverNotTold(status: 503)))
    #expect(session.state == .unauthenticated)
    #expect(try bench.files() == ["revocation"])
    try await session.close()

    let again = try await bench.open()
    #expect(await bench.server.answered(.logout, count: 2))
    try await eventually("the settlement") {
      try bench.records().last?.name == "revocationSettled" && bench.files().isEmpty
    }
    #expect(again.state == .unauthenticated)
    try await again.close()
  }

  @Test("OUT-1 a 401 response to the revocation counts as success, as the token is invalid")
  func alreadyDead() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.revokeAllTokens()
    #expect(try await session.logout() == .success)
    try await session.close()
  }

  @Test("OUT-4 a refresh that ends after a logout logs in no user and stores nothing")
  func lateAnswer() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.signedIn()
    let gate = bench.server.hold(.refresh)
    let refresh = Task { try await session.refresh() }
    #expect(await bench.server.received(.refresh))
    #expect(try await session.logout() == .success)
    let error = await #expect(throws: SessionError.self) { try await refresh.value }
    #expect(error.failure == .loggedOut(EndCause(logout: .user)))
    gate.open()
    #expect(await bench.server.answered(.refresh))
    await eventually("the end of the late answer") { bench.server.count(of: .refresh) == 1 }
    #expect(session.state == .unauthenticated)
    #expect(session.currentToken == nil)
    #expect(try bench.files().isEmpty)
    #expect(try bench.eventNames() == ["login", "logout"])
    try await session.close()
  }

  @Test("STA-6 another user's login on an expired session is refused, and its tokens are revoked")
  func differentUser() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn(.keeping)
    bench.server.revokeAllTokens()
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    #expect(session.currentUser?.id == Identifier(LoopbackUser.sample.id))

    bench.server.updateUser(LoopbackUser.sample.id) { $0.id = "another-user" }
    let before = try bench.records()
    let error = await failure { () async throws(SessionError) in
      try await session.login(bench.credentials)
    }
    #expect(error?.code == .alreadyLoggedIn && error?.failure.name == "otherUsersSession")
    #expect(error?.reason == .expired(.refreshRejected))
    #expect(await bench.server.answered(.logout))
    #expect(try bench.records() == before)

    bench.server.updateUser("another-user") { $0.id = LoopbackUser.sample.id }
    try await session.login(bench.credentials)
    #expect(session.isAuthenticated)
    #expect(try await session.logout() == .success)
    try await session.close()
  }

  @Test("OUT-1 STO-2 a logout removes no separate refresh token if there is none")
  func noSeparateToken() async throws {
    let bench = try Bench()
    let removed = Mutex<[SecretItem]>([])
    let store = InterceptedStore { (operation, item) throws(SecretStoreError) in
      if operation == .remove { removed.withLock { $0.append(item) } }
    }
    let session = try await bench.signedIn(store: store)
    try await session.logout()
    let items = removed.withLock { $0 }
    #expect(items.contains(.token) && !items.contains(.refreshToken))
    try await session.close()
  }
}

/// A door at which a store waits on the session's thread.
private final class StoreDoor: Sendable {
  private let state = Mutex((isOpen: true, isWaitedAt: false))

  var isOpen: Bool { state.withLock { $0.isOpen } }
  var isWaitedAt: Bool { state.withLock { $0.isWaitedAt } }

  func shut() { state.withLock { $0.isOpen = false } }
  func open() { state.withLock { $0.isOpen = true } }

  func pass() {
    while !isOpen {
      state.withLock { $0.isWaitedAt = true }
      usleep(1_000)
    }
  }
}
