import Foundation
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sessions that make calls for a while, and one session after the other that is opened and removed.
final class Soak: Sendable {
  private struct State {
    var calls = 0
    var failures: [String: Int] = [:]
    var beginning: Latencies
    var ending: Latencies
    /// Refreshes that succeeded, by what caused them.
    var triggers: [String: Int] = [:]
    /// Refreshes that failed, by failure.
    var refused: [String: Int] = [:]
    /// Sessions that were opened and removed.
    var rounds = 0

    init(_ options: SoakOptions) {
      // Each is a fifth of all calls.
      let room = options.calls * options.seconds / 5 + options.calls
      (beginning, ending) = (Latencies(room: room), Latencies(room: room))
    }
  }

  private let options: SoakOptions
  private let state: Mutex<State>
  private let folder = FileManager.default.temporaryDirectory
    .appending(path: "soak-\(UUID().uuidString)")
  private let transport: any HTTPTransport
  private let client = AsyncHTTPCalls()

  init(_ options: SoakOptions) {
    self.options = options
    state = Mutex(State(options))
    transport = options.client == .urlsession ? URLSessionTransport() : AsyncHTTPTransport()
  }

  /// Runs, prints what it measures, and returns what exceeded its limit.
  func run() async throws -> [String] {
    let server = try SoakServerProcess(life: options.life)
    let url = server.url
    defer { do { try FileManager.default.removeItem(at: folder) } catch {} }
    say(
      "\(options.client): \(options.sessions) sessions, tokens of \(options.life) s, "
        + "\(options.calls) calls/s for \(options.seconds) s")
    var sessions: [Session] = []
    for number in 0..<options.sessions {
      sessions.append(try await login(in: "session-\(number)", at: url))
    }
    let reporting = sessions.map { session in
      let reports = session.reports
      return Task { for try await report in reports { self.count(report) } }
    }
    let start = ContinuousClock.now
    let end = start + .seconds(options.seconds)
    var samples: [Sample] = []
    say(Sample.header)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for session in sessions {
        group.addTask {
          try await self.work(with: session, at: url, from: start, until: end)
        }
      }
      group.addTask { try await self.openAndRemove(at: url, until: end) }
      // Twenty parts, of which the first lets caches and pools fill.
      for part in 1...20 {
        try await Task.sleep(
          until: start + .seconds(options.seconds) * part / 20, clock: .continuous)
        let time = (ContinuousClock.now - start) / .seconds(1)
        let sample = try Sample(at: time, calls: state.withLock { $0.calls })
        samples.append(sample)
        say(sample.line)
      }
      try await group.waitForAll()
    }
    let lives = (ContinuousClock.now - start) / .seconds(1)
    // Subscribers end with the close. So the soak waits for a refresh that is under way.
    for session in sessions {
      await session.untilSettled()
      try await session.close()
    }
    for task in reporting { try await task.value }
    let counts = try server.counts()
    try server.stop()
    return judge(samples, counts, seconds: lives)
  }

  private func login(in name: String, at url: URL) async throws -> Session {
    var backend = HTTPBackend.snakeCaseJSON(url)
    backend.transport = transport
    let place = folder.appending(path: name)
    let session = try await Session.open(
      SessionConfiguration(
        directory: place, backend: backend, secrets: FileSecretStore(folder: place.path)))
    try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
    return session
  }

  /// Makes one session's share of the calls.
  private func work(
    with session: Session, at url: URL, from start: ContinuousClock.Instant,
    until end: ContinuousClock.Instant
  ) async throws {
    let interval = Duration.seconds(1) * options.sessions / options.calls
    var next = start
    while next < end {
      try await Task.sleep(until: next, clock: .continuous)
      await call(session, at: url, from: start, until: end)
      // A call that took long is not made up for.
      next = max(next + interval, .now)
    }
  }

  private func call(
    _ session: Session, at url: URL, from start: ContinuousClock.Instant,
    until end: ContinuousClock.Instant
  ) async {
    let began = ContinuousClock.now
    let outcome: String
    do {
      outcome = "\(try await status(session, url.appending(path: "materials")))"
    } catch {
      outcome = "\(error)"
    }
    let took = ContinuousClock.now - began
    state.withLock { state in
      state.calls += 1
      if outcome != "200" { state.failures[outcome, default: 0] += 1 }
      let part = (began - start) / (end - start)
      if (0.05..<0.25).contains(part) { state.beginning.add(took) }
      if part >= 0.8 { state.ending.add(took) }
    }
  }

  private func status(_ session: Session, _ url: URL) async throws -> Int {
    switch options.client {
    case .urlsession:
      let (_, response) = try await session.data(for: URLRequest(url: url))
      return (response as? HTTPURLResponse)?.statusCode ?? 0
    case .asynchttpclient:
      return try await session.calls(by: client).send(HTTPRequest(method: "GET", url: url))
        .response.status
    }
  }

  /// Opens a session twice a second, makes a call, logs out, and removes its folder.
  private func openAndRemove(at url: URL, until end: ContinuousClock.Instant) async throws {
    var number = 0
    while ContinuousClock.now < end {
      number += 1
      let name = "round-\(number)"
      let session = try await login(in: name, at: url)
      let reports = session.reports
      let reporting = Task { for try await report in reports { count(report) } }
      _ = try await status(session, url.appending(path: "materials"))
      try await session.logout()
      try await session.close()
      try await reporting.value
      try FileManager.default.removeItem(at: folder.appending(path: name))
      state.withLock { $0.rounds += 1 }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private func count(_ report: SessionReport) {
    guard case .event(let recorded) = report else { return }
    state.withLock { state in
      switch recorded.event {
      case .refreshSucceeded(let refresh):
        state.triggers[refresh.trigger.description, default: 0] += 1
      case .refreshFailed(let refresh):
        state.refused[refresh.failure.kind.description, default: 0] += 1
      default: break
      }
    }
  }

  private func judge(_ samples: [Sample], _ counts: ServerCounts, seconds: Double) -> [String] {
    let state = state.withLock { $0 }
    var verdict = SoakVerdict(options)
    verdict.judge(samples)
    // A token is refreshed in the middle of its life, and not in its first second.
    let interval = max(1, Double(options.life) / 2)
    let expected = Double(options.sessions) * seconds / interval
    let journaled = state.triggers.values.reduce(0, +) + state.refused.values.reduce(0, +)
    say(
      "refreshes: \(Int(expected)) expected at most, \(counts.refreshes) received by the server, "
        + "\(journaled) in the journals")
    for (trigger, count) in state.triggers.sorted(by: { $0.key < $1.key }) {
      say("  \(count) by \(trigger)")
    }
    for (failure, count) in state.refused.sorted(by: { $0.key < $1.key }) {
      say("  \(count) failed: \(failure)")
    }
    say("calls: \(state.calls), sessions opened and removed: \(state.rounds)")
    say("latency at the beginning: \(state.beginning.line)")
    say("latency at the end:       \(state.ending.line)")
    let unseen = counts.refreshes - journaled
    // A subscriber ends with its session, and a logout drops the token of a refresh that is under way.
    if unseen > 0 {
      say("  \(unseen) not reported: their sessions were logged out or closed meanwhile")
    }
    verdict.require(
      (0...(options.sessions + state.rounds / 50)).contains(unseen),
      "\(unseen) refreshes were not reported")
    verdict.require(
      Double(counts.refreshes) <= expected + Double(options.sessions),
      "more refreshes than token lives")
    verdict.require(
      Double(counts.refreshes) >= expected * 0.7, "the sessions refreshed too rarely")
    verdict.require(counts.violations == 0, "\(counts.violations) requests broke the protocol")
    for (failure, count) in state.failures { verdict.problems.append("\(count) calls: \(failure)") }
    verdict.require(
      state.ending.quantile(0.5) <= 3 * state.beginning.quantile(0.5) + 5,
      "calls became slower")
    return verdict.problems
  }
}
