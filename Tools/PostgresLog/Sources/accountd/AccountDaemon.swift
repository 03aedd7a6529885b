import Foundation
import PostgresLog
import SessionKit
import SessionPool
import Synchronization

/// An example of a server: it holds the sessions of many accounts in PostgreSQL.
///
/// Usage: `accountd ACCOUNTS`. The connection is that of SESSION_POSTGRES, or of libpq's variables. Two
/// pools act as two processes of a fleet. Each account is signed in by one pool, and both then need
/// its token at the same time, after it has expired.
@main
enum AccountDaemon {
  static func main() async {
    do { try await run() } catch {
      FileHandle.standardError.write(Data("accountd: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run() async throws {
    guard CommandLine.arguments.count == 2, let accounts = Int(CommandLine.arguments[1]) else {
      FileHandle.standardError.write(Data("Usage: accountd ACCOUNTS\n".utf8))
      exit(64)
    }
    let connection = ProcessInfo.processInfo.environment["SESSION_POSTGRES"] ?? ""
    var options = PostgresDatabase.Options()
    options.schema = "accountd"
    // Many sessions work at once here, so a call may have to wait for one of these.
    options.connections = 16
    options.connectionWait = .seconds(5)
    let database = try PostgresDatabase(connection: connection, options: options)
    try database.createSchema()
    let service = TokenService()
    let pools = (0..<2).map { _ in
      SessionPool(limit: 100, idle: .seconds(5)) { key in
        let place = PostgresLogPlace(key, in: database)
        return try await Session.open(
          SessionConfiguration(log: place, backend: service, secrets: place.secrets))
      }
    }
    try await timed("signed in \(accounts) accounts") {
      try await each(accounts) { number in
        _ = try await pools[0].with("account-\(number)") { session in
          try await session.login(.password("user\(number)", "a password"))
        }
      }
    }
    let first = try commits(database)
    try await Task.sleep(for: .seconds(1))
    let most = Mutex(0)
    try await timed("two pools used the expired token of each account") {
      try await each(accounts) { number in
        async let one = pools[0].with("account-\(number)") {
          try await $0.accessToken().plaintext
        }
        async let other = pools[1].with("account-\(number)") {
          try await $0.accessToken().plaintext
        }
        let tokens = try await (one, other)
        guard tokens.0 == tokens.1 else { throw TokenService.Differs(account: number) }
        let open = await pools[0].count + pools[1].count
        most.withLock { $0 = max($0, open) }
      }
    }
    for pool in pools { await pool.close() }
    let all = try commits(database)
    let left = await pools[0].count + pools[1].count
    func perAccount(_ commits: Int64) -> String {
      String(format: "%.1f", Double(commits) / Double(accounts))
    }
    print(
      """
      refreshes: \(service.refreshes) for \(accounts) accounts, refused: \(service.refused)
      commits per account: \(perAccount(first)) with the login, \(perAccount(all - first)) with the use by two pools
      open sessions: \(most.withLock { $0 }) at most, \(left) at the end
      connections: \(database.openConnections), memory at most: \(peak) kB
      """)
    guard service.refreshes == accounts, service.refused == 0, left == 0 else { exit(1) }
  }

  /// The number of batches in all logs.
  private static func commits(_ database: PostgresDatabase) throws -> Int64 {
    try database.raw([("SELECT count(*) FROM accountd.records WHERE remaining = 0", nil)])
  }

  /// The largest size of this process in memory, as Linux reports it.
  private static var peak: String {
    let text = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.map(String.init) ?? "?"
  }

  /// Works for each account, 50 at a time.
  private static func each(
    _ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<count {
        if number >= 50 { try await group.next() }
        group.addTask { try await work(number) }
      }
      try await group.waitForAll()
    }
  }

  private static func timed(_ what: String, _ work: @Sendable () async throws -> Void) async throws
  {
    let start = ContinuousClock.now
    try await work()
    print("\(what) in \(ContinuousClock.now - start)")
  }
}

/// A server of tokens in memory, which accepts each refresh token once.
final class TokenService: AuthBackend {
  /// The two pools got different tokens.
  struct Differs: Error {
    let account: Int
  }

  private struct State {
    var tokens: [String: Int] = [:]
    var refreshes = 0
    var refused = 0
  }

  private let state = Mutex(State())

  let identity = BackendIdentity("accounts")
  var refreshes: Int { state.withLock { $0.refreshes } }
  var refused: Int { state.withLock { $0.refused } }

  func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    let user = UUID().uuidString
    state.withLock { $0.tokens[user] = 1 }
    return TokenResponse(
      access: Secret("access-\(user)-1"), refresh: Secret("\(user)/1"), lifetime: .seconds(1),
      user: UserProfile(id: .init(user)))
  }

  func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    let parts = token.plaintext.split(separator: "/").map(String.init)
    let next: Int? = state.withLock { state in
      guard parts.count == 2, let present = state.tokens[parts[0]], parts[1] == "\(present)" else {
        state.refused += 1
        return nil
      }
      state.refreshes += 1
      state.tokens[parts[0]] = present + 1
      return present + 1
    }
    guard let next else { throw BackendError(.rejected, status: 401) }
    return TokenResponse(
      access: Secret("access-\(parts[0])-\(next)"), refresh: Secret("\(parts[0])/\(next)"),
      lifetime: .seconds(3600))
  }
}
