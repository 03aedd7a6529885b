import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

@Suite("A session: a log that another opening holds", .timeLimit(.minutes(2)))
struct BusyLogTests {
  private let bench: Bench
  private let log = MemoryLog()
  private let gated: GatedLog

  init() throws {
    bench = try Bench { ($0.rotatesRefreshTokens, $0.reuseEndsSession) = (true, true) }
    gated = GatedLog(log)
  }

  private func configuration(_ place: some SessionLogPlace) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      log: place, backend: HTTPBackend.snakeCaseJSON(bench.server.baseURL), secrets: log.secrets,
      policy: .bench, clock: bench.clock)
    configuration.followsOthers = false
    return configuration
  }

  private func signedIn() async throws -> Session {
    let session = try await Session.open(configuration(gated))
    try await session.login(bench.credentials)
    return session
  }

  private var names: [String] {
    get throws {
      try log.records.map {
        try SessionCodec.decode(sequence: $0.sequence, kind: $0.kind, payload: $0.payload).name
      }
    }
  }

  @Test("SCL-1 commands wait for a busy log in their order, and each effect happens once")
  func order() async throws {
    let session = try await signedIn()
    gated.close()
    let before = try names.count
    async let logout = session.logout()
    await eventually("the commit is tried again") { gated.refused > 2 }
    async let login = session.login(bench.credentials)
    await eventually("the commit is still tried") { gated.refused > 4 }
    #expect(session.state.token?.generation == Generation(1))
    #expect(bench.server.count(of: .login) == 1)
    #expect(try names.count == before)
    gated.open()
    // A login that is decided before the logout would be refused.
    #expect(try await logout == .success)
    _ = try await login
    #expect(session.isAuthenticated)
    let found = Array(try names.dropFirst(before))
    let end = try #require(found.firstIndex(of: "logout"))
    let start = try #require(found.firstIndex(of: "login"))
    #expect(end < start)
    #expect(found.count { $0 == "logout" } == 1 && found.count { $0 == "login" } == 1)
    #expect(bench.server.count(of: .login) == 2 && bench.server.count(of: .logout) == 1)
    try await session.close()
  }

  @Test("SCL-1 after the deadline the caller receives busy, with the time of all tries")
  func deadline() async throws {
    var configuration = configuration(gated)
    configuration.place.deadline = .milliseconds(120)
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    gated.close()
    let error = await #expect(throws: SessionError.self) { try await session.logout() }
    guard case .busy(let path, let waited)? = error?.journalError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == log.name && waited == 120)
    #expect(session.isAuthenticated && error?.isTransient == true)
    #expect(gated.refused > 3)
    gated.open()
    #expect(try await session.logout() == .success)
    try await session.close()
  }

  @Test("SCL-1 what others appended is not lost while a commit waits for the log")
  func foreign() async throws {
    let session = try await signedIn()
    let other = try await Session.open(configuration(log))
    gated.close()
    async let refreshed = session.refresh()
    await eventually("the commit is tried again") { gated.refused > 6 }
    #expect(try await other.refresh().generation == Generation(2))
    // The log is read between two tries of the commit, whose pause is longer now.
    gated.open()
    await session.engine.readPeers()
    // The commit was decided without these records, so it is decided again.
    #expect(try await refreshed.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 1)
    #expect(session.state.token?.generation == Generation(2))
    try await session.close()
    try await other.close()
  }

  @Test("SCL-1 REF-2 a commit that waits for the log meets a request that began meanwhile")
  func foreignRequest() async throws {
    let (pauses, system) = (Gate(isShut: false), SessionRuntime.system())
    var waiting = configuration(gated)
    waiting.runtime = {
      SessionRuntime(
        executor: system.executor, perform: system.perform,
        pause: { _ in await pauses.pass() })
    }
    let session = try await Session.open(waiting)
    try await session.login(bench.credentials)
    let other = try await Session.open(configuration(log))
    let before = try names.count
    pauses.shut()
    gated.close()
    async let mine = session.refresh()
    await eventually("the commit waits for the log") { pauses.count == 1 }
    let answer = bench.server.hold(.refresh)
    async let theirs = other.refresh()
    await eventually("the other request is on its way") { answer.waiting == 1 }
    // The records are read during the pause, so the next try does not find them in the log.
    gated.open()
    try await session.engine.takeInOthers()
    pauses.open()
    await session.engine.idle()
    answer.open()
    #expect(try await theirs.generation == Generation(2))
    await session.engine.readPeers()
    #expect(try await mine.generation == Generation(2))
    #expect(bench.server.count(of: .refresh) == 1)
    // The commit was decided again before it was made: it left no request that was never sent.
    let found = try names.dropFirst(before)
    #expect(found.count { $0 == "requestSent" } == 1 && !found.contains("requestEnded"), "\(found)")
    try await session.close()
    try await other.close()
  }

  @Test("SCL-1 a busy log holds no thread: a session on the same thread goes on")
  func sharedThread() async throws {
    let session = try await signedIn()
    let runtime = SessionRuntime.system()
    var first = configuration(gated)
    first.runtime = { runtime }
    var second = bench.configuration()
    second.runtime = { runtime }
    let stalled = try await Session.open(first)
    gated.close()
    async let refreshed = stalled.refresh()
    await eventually("the commit is tried again") { gated.refused > 2 }
    let free = try await Session.open(second)
    try await free.login(bench.credentials)
    #expect(try await free.refresh().generation == Generation(2))
    #expect(gated.refused > 2)
    gated.open()
    _ = try await refreshed
    for session in [session, stalled, free] { try await session.close() }
  }

  @Test("SCL-1 an opening waits for a busy log, at most until the deadline")
  func opening() async throws {
    try await signedIn().close()
    gated.close()
    async let opened = Session.open(configuration(gated))
    await eventually("the opening is tried again") { gated.refused > 2 }
    gated.open()
    let session = try await opened
    #expect(session.isAuthenticated)
    try await session.close()
    gated.close()
    var hurried = configuration(gated)
    hurried.place.deadline = .milliseconds(50)
    let error = await #expect(throws: SessionError.self) { try await Session.open(hurried) }
    guard case .busy(_, 50)? = error?.journalError else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("SCL-1 a compaction that finds the log busy delays nothing, and is made later")
  func compaction() async throws {
    var configuration = configuration(log)
    configuration.retention = RetentionPolicy(
      maximumRecords: 20, maximumBytes: nil, maximumAge: nil, keptRecords: 8, keptBeforeEnd: 2)
    let compact = configuration.compaction
    let tries = Mutex(0)
    configuration.compaction = { (log, first) throws(JournalError) in
      let number = tries.withLock { tries in
        tries += 1
        return tries
      }
      guard number > 3 else { throw .busy(path: log.name, waited: 1) }
      return try compact(log, first)
    }
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    for _ in 0..<15 { try await session.refresh() }
    await eventually("it is compacted") { tries.withLock { $0 } > 3 }
    #expect(session.compactionProblem == nil)
    #expect(try await session.refresh().generation == Generation(17))
    await eventually("a snapshot is there") { log.records.first?.isSnapshot == true }
    try await session.close()
  }
}
