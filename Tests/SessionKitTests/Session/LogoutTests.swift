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
