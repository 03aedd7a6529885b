import CoreMetrics
import Foundation
import MetricsTestKit
import ServerAdapters
import SessionExplain
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Metrics of a session")
struct SessionMetricsTests {
  @Test("each end and each refresh of a session is recorded once, with its labels")
  func session() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "metrics-\(UUID().uuidString)")
    defer { do { try FileManager.default.removeItem(at: folder) } catch {} }
    let server = try LoopbackServer.start()
    defer { server.stop() }
    var configuration = SessionConfiguration(
      directory: folder, backend: HTTPBackend.snakeCaseJSON(server.baseURL),
      secrets: MemorySecretStore())
    configuration.appVersion = AppVersion("3.1.0")
    let session = try await Session.open(configuration)
    let system = TestMetrics()
    let metrics = SessionMetrics(system)
    let ends = ExplainedEnds(of: session.events, history: session.history)
    let counting = Task { for try await end in ends { metrics.record(end) } }
    for _ in 0..<2 {
      try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
      try await session.refresh()
      try await session.logout()
    }
    try await session.close()
    try await counting.value
    for refresh in try await session.history().refreshes() { metrics.record(refresh) }

    let counters = system.counters.filter { $0.label == "session_ends_total" }
    #expect(counters.map(\.totalValue) == [2])
    let labels = counters.first?.dimensions.map { "\($0.0)=\($0.1)" } ?? []
    #expect(labels.prefix(3) == ["cause=user-logout", "certainty=proven", "app=3.1.0"])
    #expect(labels.count == 4)
    let timers = system.timers.filter { $0.label == "session_refresh_duration" }
    #expect(timers.count == 1 && timers.first?.values.count == 2)
    #expect(timers.first?.dimensions.first?.1 == "3.1.0")
  }
}
