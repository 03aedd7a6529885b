import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: a log that is no file", .timeLimit(.minutes(2)))
struct OtherLogTests {
  private let bench: Bench
  private let log = MemoryLog(name: "memory://sessions/1")

  init() throws { bench = try Bench() }

  private func configuration(_ secrets: some SecretStore) -> SessionConfiguration {
    SessionConfiguration(
      log: log, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), secrets: secrets,
      policy: .bench, clock: bench.clock)
  }

  @Test("SCL-1 a session lives in a log in memory: login, refresh, opening again, logout")
  func life() async throws {
    let configuration = configuration(log.secrets)
    #expect(configuration.journalURL == nil)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    #expect(try await session.refresh().generation == Generation(2))
    try await session.close()
    let again = try await Session.open(configuration)
    let token = try #require(again.currentToken)
    #expect(token.generation == Generation(2))
    #expect(again.journalSetAside == nil)
    #expect(try await again.logout() == .success)
    #expect(log.secrets.items.isEmpty)
    let history = try await again.history()
    #expect(history.events.map(\.event.kind) == [.login, .refreshSucceeded, .logout])
    #expect(history.damage.isEmpty && !history.isCompacted)
    let events = again.events(after: 0)
    try await again.close()
    var kinds: [SessionEvent.Kind] = []
    for try await event in events { kinds.append(event.event.kind) }
    #expect(kinds == [.login, .refreshSucceeded, .logout])
    for secret in [LoopbackUser.sample.email, LoopbackUser.sample.password, token.plaintext] {
      #expect(
        !log.records.contains { String(decoding: $0.payload, as: UTF8.self).contains(secret) })
    }
  }

  @Test("SCL-1 another session on the log follows it, and shares one refresh")
  func shared() async throws {
    let first = try await Session.open(configuration(log.secrets))
    try await first.login(bench.credentials)
    let second = try await Session.open(configuration(log.secrets))
    async let one = first.refresh()
    async let two = second.refresh()
    let tokens = try await [one, two]
    #expect(Set(tokens.map(\.generation)).isSubset(of: [Generation(2), Generation(3)]))
    #expect(bench.server.count(of: .refresh) <= 2)
    _ = try await first.logout()
    await eventually("the other session follows the logout") {
      second.state.kind == .unauthenticated
    }
    try await first.close()
    try await second.close()
  }

  @Test("SCL-1 a token and its event are stored together, or neither is")
  func together() async throws {
    let session = try await Session.open(configuration(log.secrets))
    log.fail(at: .append, with: .diskFull(path: log.name))
    // The intent of the login cannot be appended, so nothing is sent.
    await #expect(throws: SessionError.self) { try await session.login(bench.credentials) }
    #expect(log.secrets.items.isEmpty)
    try await session.login(bench.credentials)
    let before = try log.secrets.read(.token)
    let gate = bench.server.hold(.refresh)
    async let refreshed = session.refresh()
    await eventually("the request waits") { gate.waiting == 1 }
    log.fail(at: .append, with: .diskFull(path: log.name))
    gate.open()
    await eventually("the append has failed") { session.storageProblem != nil }
    #expect(try log.secrets.read(.token) == before)
    bench.clock.advance(by: .seconds(1))
    do { _ = try await refreshed } catch {
      // The caller may have received that the response is not stored yet.
    }
    await eventually("the response is journaled") {
      session.state.token?.generation == Generation(2)
    }
    #expect(try log.secrets.read(.token) != before)
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }

  @Test("SCL-1 a server that does not answer is no end of a session, and passes")
  func unavailable() async throws {
    let session = try await Session.open(configuration(log.secrets))
    try await session.login(bench.credentials)
    log.fail(at: .begin, with: .unavailable(path: log.name, problem: "connection refused"))
    let error = await #expect(throws: SessionError.self) { try await session.logout() }
    #expect(error?.code == .storage && error?.isTransient == true)
    #expect(error?.description.contains("connection refused") == true)
    #expect(session.isAuthenticated)
    #expect(try await session.logout() == .success)
    try await session.close()
  }

  @Test("SCL-1 secrets of another log are left alone, whichever of the two is a file")
  func foreignSecrets() async throws {
    let secrets = MemorySecretStore()
    let session = try await Session.open(configuration(secrets))
    try await session.login(bench.credentials)
    try await session.close()
    let stored = try secrets.read(.token)
    var file = bench.configuration(store: secrets)
    file.retention = nil
    let other = try await Session.open(file)
    await #expect(throws: SessionError.self) { try await other.login(bench.credentials) }
    #expect(try secrets.read(.token) == stored)
    try await other.close()
    let third = SessionConfiguration(
      log: MemoryLog(), backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL),
      secrets: secrets, policy: .bench, clock: bench.clock)
    let last = try await Session.open(third)
    await #expect(throws: SessionError.self) { try await last.login(bench.credentials) }
    #expect(try secrets.read(.token) == stored)
    try await last.close()
  }
}
