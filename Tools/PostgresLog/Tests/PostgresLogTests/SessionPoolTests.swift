import FileBackend
import Foundation
import SessionKit
import SessionPool
import SessionTestKit
import Synchronization
import Testing

@Suite("A pool of sessions", .serialized, .timeLimit(.minutes(2)))
struct SessionPoolTests {
  /// Sessions in memory, by key; counts what is open.
  private final class Accounts: Sendable {
    private struct State {
      var logs: [String: MemoryLog] = [:]
      var opened: [String: Int] = [:]
      var refusals = 0
    }

    private let state = Mutex(State())
    private let file = FileManager.default.temporaryDirectory
      .appending(path: "pool-\(UUID().uuidString)").path

    func open(_ key: String) async throws -> Session {
      let isRefused = state.withLock { state in
        defer { state.refusals = max(0, state.refusals - 1) }
        return state.refusals > 0
      }
      if isRefused { throw Refused() }
      let log = state.withLock { state in
        let log = state.logs[key] ?? MemoryLog(name: "memory://\(key)")
        state.logs[key] = log
        state.opened[key, default: 0] += 1
        return log
      }
      return try await Session.open(
        SessionConfiguration(
          log: log, backend: FileBackend(path: file + key), secrets: log.secrets))
    }

    func refuseNext() { state.withLock { $0.refusals = 1 } }

    func opened(_ key: String) -> Int { state.withLock { $0.opened[key] ?? 0 } }
  }

  private struct Refused: Error {}

  /// How many keys are in use at the same time.
  private final class Gauge: Sendable {
    private let state = Mutex((users: [String: Int](), most: 0))

    var most: Int { state.withLock { $0.most } }

    func begin(_ key: String) {
      state.withLock { state in
        state.users[key, default: 0] += 1
        state.most = max(state.most, state.users.values.count { $0 > 0 })
      }
    }

    func end(_ key: String) { state.withLock { $0.users[key, default: 1] -= 1 } }
  }

  private func pool(_ accounts: Accounts, limit: Int, idle: Duration = .seconds(60))
    -> SessionPool
  {
    SessionPool(limit: limit, idle: idle) { try await accounts.open($0) }
  }

  @Test("SCL-1 calls with one key share a session, and it stays open for the next call")
  func shared() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 4)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 {
        group.addTask {
          try await pool.with("a") { session in
            #expect(!session.isAuthenticated)
            try await Task.sleep(for: .milliseconds(5))
          }
        }
      }
      try await group.waitForAll()
    }
    try await pool.with("a") { _ in }
    #expect(accounts.opened("a") == 1)
    #expect(await pool.count == 1)
    await pool.closeIdle()
    #expect(await pool.count == 0)
    try await pool.with("a") { _ in }
    #expect(accounts.opened("a") == 2)
  }

  @Test("SCL-1 no more sessions than the limit are open, and every call gets its turn")
  func limit() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 3)
    let gauge = Gauge()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          let key = "\(number % 20)"
          try await pool.with(key) { _ in
            gauge.begin(key)
            try await Task.sleep(for: .milliseconds(3))
            gauge.end(key)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect((2...3).contains(gauge.most))
    #expect(await pool.count <= 3)
  }

  @Test("SCL-1 the session that was unused for longest is closed first")
  func oldest() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 2)
    for key in ["a", "b", "a", "c", "a"] { try await pool.with(key) { _ in } }
    #expect(accounts.opened("a") == 1)
    try await pool.with("b") { _ in }
    #expect(accounts.opened("b") == 2)
  }

  @Test("SCL-1 an idle session is closed, and one that is in use is not")
  func idle() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 4, idle: .milliseconds(50))
    try await pool.with("a") { _ in }
    try await pool.with("b") { session in
      let start = ContinuousClock.now
      while await pool.count > 1, .now - start < .seconds(5) {
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(await pool.count == 1)
      #expect(!session.isAuthenticated)
    }
  }

  @Test("SCL-1 a cancelled call does not wait for a place any more")
  func cancelled() async throws {
    let pool = pool(Accounts(), limit: 1)
    try await pool.with("a") { _ in
      let call = Task { try await pool.with("b") { _ in } }
      try await Task.sleep(for: .milliseconds(50))
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
    try await pool.with("b") { _ in }
  }

  @Test("SCL-1 a session that cannot be opened fails its callers only, and is tried again")
  func refused() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 1)
    accounts.refuseNext()
    await #expect(throws: Refused.self) { try await pool.with("a") { _ in } }
    try await pool.with("a") { _ in }
    try await pool.with("b") { _ in }
    #expect(await pool.count == 1)
  }
}
