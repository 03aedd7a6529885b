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

  /// A session that is opened only after the test allows it.
  private final class Gate: Sendable {
    private let state = Mutex((isOpen: false, cancelled: 0))

    var cancelled: Int { state.withLock { $0.cancelled } }

    func open() { state.withLock { $0.isOpen = true } }

    /// Waits for the gate; throws if the task was cancelled.
    func pass() async throws {
      while !state.withLock({ $0.isOpen }) {
        do { try await Task.sleep(for: .milliseconds(2)) } catch {
          state.withLock { $0.cancelled += 1 }
          throw error
        }
      }
    }
  }

  private func wait(_ what: String, until isReached: () async -> Bool) async throws {
    let start = ContinuousClock.now
    while await !isReached() {
      try #require(.now - start < .seconds(20), "\(what) did not happen")
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  /// The numbers of the calls that had a session, in order.
  private final class Turns: Sendable {
    private let numbers = Mutex<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  @Test("SCL-1 calls that wait for a place get it in the order in which they came")
  func order() async throws {
    let pool = pool(Accounts(), limit: 1)
    let turns = Turns()
    let calls = try await pool.with("first") { _ in
      var calls: [Task<Void, any Error>] = []
      for number in 0..<20 {
        calls.append(Task { try await pool.with("\(number)") { _ in turns.add(number) } })
        // Each waits before the next comes.
        try await wait("waiting") { await pool.waitingCalls == number + 1 }
      }
      return calls
    }
    for call in calls { try await call.value }
    #expect(turns.all == Array(0..<20))
  }

  @Test(
    "SCL-1 with any limit, each account that waits gets its turn in order, one for each that ends",
    arguments: [2, 3, 7])
  func turns(limit: Int) async throws {
    let pool = pool(Accounts(), limit: limit)
    let (turns, ends) = (Turns(), Turns())
    let total = limit + 30
    @Sendable func call(_ number: Int) -> Task<Void, any Error> {
      Task {
        try await pool.with("\(number)") { _ in
          turns.add(number)
          try await wait("the end of \(number)") { ends.all.count > number }
        }
      }
    }
    var calls: [Task<Void, any Error>] = []
    for number in 0..<total {
      calls.append(call(number))
      // Each has its place, or waits, before the next comes.
      try await wait("a place for \(number)") {
        number < limit
          ? turns.all.count == number + 1 : await pool.waitingCalls == number + 1 - limit
      }
    }
    // The account that came first ends first, and then exactly one more has its turn.
    for ended in 1...total {
      ends.add(ended)
      try await wait("the turn after \(ended)") { turns.all.count == min(total, limit + ended) }
      #expect(await pool.count <= limit)
    }
    for call in calls { try await call.value }
    #expect(turns.all == Array(0..<total))
  }

  @Test("SCL-1 a newcomer does not take the place of a call that waits")
  func newcomers() async throws {
    let pool = pool(Accounts(), limit: 2)
    let turns = Turns()
    let load = (0..<8).map { number in
      Task {
        while !Task.isCancelled {
          try await pool.with("busy-\(number)") { _ in turns.add(number) }
        }
      }
    }
    try await wait("load") { turns.all.count > 50 }
    let before = turns.all.count
    try await pool.with("patient") { _ in }
    #expect(turns.all.count - before < 40)
    for task in load { task.cancel() }
    await pool.close()
  }

  @Test("SCL-1 under load with refused openings the limit holds, and no place is lost")
  func load() async throws {
    let accounts = Accounts()
    let pool = SessionPool(limit: 3, idle: .milliseconds(5)) { key in
      if Int.random(in: 0..<4) == 0 { throw Refused() }
      return try await accounts.open(key)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          do {
            try await pool.with("\(number % 12)") { _ in await Task.yield() }
          } catch is Refused {}
          #expect(await pool.count <= 3)
        }
        if number % 50 == 0 { group.addTask { await pool.discard("\(number % 12)") } }
        if number % 9 == 0 {
          let call = Task { try await pool.with("\(number % 12)") { _ in } }
          group.addTask {
            await Task.yield()
            call.cancel()
          }
        }
      }
      try await group.waitForAll()
    }
    // Three places are left: three calls are in at the same time.
    let gauge = Gauge()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 {
        group.addTask {
          var isDone = false
          while !isDone {
            do {
              try await pool.with("last-\(number)") { _ in
                gauge.begin("\(number)")
                try await wait("three calls") { gauge.most == 3 }
              }
              isDone = true
            } catch is Refused {}
          }
        }
      }
      try await group.waitForAll()
    }
    await pool.close()
    #expect(await pool.count == 0)
  }

  @Test("SCL-1 a discarded session serves its calls to their end, and no new one")
  func discarded() async throws {
    let accounts = Accounts()
    let pool = pool(accounts, limit: 2)
    try await pool.with("a") { session in
      await pool.discard("a")
      try await pool.with("a") { other in #expect(other !== session) }
      #expect(!session.isAuthenticated)
      #expect(await pool.count == 2)
    }
    #expect(accounts.opened("a") == 2)
    try await wait("closing") { await pool.count == 1 }
    await pool.discard("nobody")
  }

  @Test(
    "SCL-1 a call that is cancelled does not wait for an opening, which ends with its last call")
  func cancelledOpening() async throws {
    let (accounts, gate) = (Accounts(), Gate())
    let pool = SessionPool(limit: 1) { key in
      try await gate.pass()
      return try await accounts.open(key)
    }
    let calls = (0..<2).map { _ in Task { try await pool.with("a") { _ in } } }
    try await wait("opening") { await pool.callsThatOpen == 2 }
    calls[0].cancel()
    await #expect(throws: CancellationError.self) { try await calls[0].value }
    #expect(gate.cancelled == 0)
    calls[1].cancel()
    await #expect(throws: CancellationError.self) { try await calls[1].value }
    try await wait("the end of the opening") { await pool.count == 0 }
    #expect(gate.cancelled == 1)
    gate.open()
    try await pool.with("b") { _ in }
  }

  @Test("SCL-1 closing waits for calls and openings, refuses others, and leaves no session open")
  func closing() async throws {
    let (accounts, gate) = (Accounts(), Gate())
    let pool = SessionPool(limit: 1) { key in
      try await gate.pass()
      return try await accounts.open(key)
    }
    let opening = Task { try await pool.with("a") { _ in 17 } }
    try await wait("opening") { await pool.count == 1 }
    let waiting = Task { try await pool.with("b") { _ in } }
    try await wait("waiting") { await pool.waitingCalls == 1 }
    let ends = Turns()
    let closing = Task {
      await pool.close()
      ends.add(1)
    }
    await #expect(throws: SessionPoolClosed.self) { try await waiting.value }
    #expect(ends.all.isEmpty)
    gate.open()
    #expect(try await opening.value == 17)
    await closing.value
    #expect(await pool.count == 0)
    await #expect(throws: SessionPoolClosed.self) { try await pool.with("a") { _ in } }
    await pool.close()
  }
}
