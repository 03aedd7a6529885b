import CoreMetrics
import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import ServerAdapters
import ServiceLifecycle
import ServiceLifecycleTestKit
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing
import Tracing

@Suite("Reports to logs, metrics and traces", .timeLimit(.minutes(1)))
struct ReportTests {
  @Test("each report is one line of a log and one count, without a secret")
  func logAndMetrics() async throws {
    let bench = try Bench()
    let handler = InMemoryLogHandler()
    var logger = Logger(label: "test") { _ in handler }
    logger.logLevel = .debug
    logger[metadataKey: "account"] = "a1"
    let (logging, system) = (SessionLogging(logger), TestMetrics())
    let metrics = SessionMetrics(system)
    let session = try await Session.open(bench.configuration())
    let reports = session.reports
    let following = Task {
      for try await report in reports {
        logging.record(report)
        metrics.record(report)
      }
    }
    try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
    bench.server.failNext(.refresh, with: .status(503))
    await #expect(throws: SessionError.self) { try await session.refresh() }
    try await session.refresh()
    try await session.logout()
    try await session.close()
    try await following.value

    let entries = handler.entries
    #expect(
      entries.map { "\($0.level) \($0.message)" } == [
        "info session.login", "notice session.refreshFailed", "debug session.refreshSucceeded",
        "info session.logout",
      ])
    #expect(entries[1].metadata["status"] == "503")
    #expect(entries.allSatisfy { $0.metadata["sequence"] != nil })
    let all = "\(entries)"
    #expect(bench.server.secrets.allSatisfy { !all.contains($0) })
    let counts = system.counters.reduce(into: [:]) { $0[$1.label, default: 0] += $1.totalValue }
    #expect(
      counts == [
        "session.login": 1, "session.refreshFailed": 1, "session.refreshSucceeded": 1,
        "session.logout": 1,
      ])
  }

  @Test("the span of a call shows the wait for a token, and the span of the request its outcome")
  func traces() async throws {
    let bench = try Bench()
    let tracer = InMemoryTracer()
    let session = try await bench.session(
      TracedTransport(AsyncHTTPTransport(), tracer: tracer))
    let calls = TracedCalls(session, by: AsyncHTTPCalls(), tracer: tracer)
    bench.server.revokeAccessTokens()
    #expect(try await calls.send(bench.materials).response.status == 200)
    bench.server.failNext(.refresh, with: .dropConnection(.afterActing))
    try await session.refresh()
    try await session.close()

    let spans = tracer.finishedSpans
    let call = try #require(spans.first { $0.operationName == "session.call" })
    #expect(
      call.events.map(\.name) == ["sent", "answered", "waits", "sent", "answered"])
    let requests = spans.filter { $0.operationName == "session.request" }
    #expect(requests.count == 4, "a login, a refresh, one that was lost, and its repetition")
    #expect(requests.first?.attributes.get("http.response.status_code") == .int64(200))
    let lost = try #require(requests.dropFirst(2).first)
    #expect(lost.attributes.get("session.server_may_have_acted") == .bool(true))
    #expect(lost.status?.code == .error)
  }
}

@Suite("A session as a service", .timeLimit(.minutes(1)))
struct SessionServiceTests {
  @Test("a graceful shutdown waits for a refresh that is under way, then closes the session")
  func shutdown() async throws {
    let bench = try Bench()
    let kinds = Mutex<[String]>([])
    let service = SessionService(bench.configuration()) { report in
      kinds.withLock { $0.append(report.name) }
    }
    let gate = bench.server.hold(.refresh, at: .afterActing)
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        let session = try await service.session
        try await session.login(
          .password(LoopbackUser.sample.email, LoopbackUser.sample.password))
        let refreshing = Task { try await session.refresh() }
        await bench.server.received(.refresh)
        trigger.triggerGracefulShutdown()
        try await Task.sleep(for: .milliseconds(200))
        gate.open()
        try await group.waitForAll()
        _ = await refreshing.result
        await #expect(throws: SessionError.self) { try await session.refresh() }
      }
    }
    #expect(kinds.withLock { $0 } == ["session.login", "session.refreshSucceeded"])
  }

  @Test("a cancelled service closes its session too")
  func cancellation() async throws {
    let bench = try Bench()
    let service = SessionService(bench.configuration())
    let running = Task { try await service.run() }
    let session = try await service.session
    running.cancel()
    try await running.value
    let error = await #expect(throws: SessionError.self) { try await session.accessToken() }
    #expect(error?.code == .closed)
  }

  @Test("a session that cannot be opened ends the group with its error")
  func failure() async throws {
    let bench = try Bench()
    // A file is in the place of the session's folder.
    try Data("x".utf8).write(to: bench.folder)
    let service = SessionService(bench.configuration())
    await #expect(throws: SessionError.self) { try await service.run() }
  }
}
