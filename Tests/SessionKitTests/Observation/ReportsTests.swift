import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionTestKit
import Synchronization
import Testing

@testable import SessionKit

@Suite("A session: reports for logs and metrics")
struct ReportsTests {
  static func failed(_ kind: RequestFailure.Kind, attempt: UInt32 = 1) -> SessionEvent {
    .refreshFailed(
      SessionEvent.RefreshFailed(
        generation: Generation(1), trigger: .retry, attempt: attempt,
        failure: RequestFailure(kind: kind), retryAt: nil, request: 0))
  }

  static let fresh = SessionEvent.refreshSucceeded(
    SessionEvent.RefreshSucceeded(
      token: TokenMetadata(
        generation: Generation(2), issuedAt: Timestamp(milliseconds: 0),
        expiresAt: Timestamp(milliseconds: 9), isRefreshable: true),
      trigger: .retry, attempt: 1, isRotated: false, request: 0))

  @Test("STA-7 a warning is given at 3, 10, 30, 100, 300 … consecutive failures of a class only")
  func thresholds() {
    var watch = FailureWatch()
    var warned: [UInt32] = []
    for _ in 1...3_500 {
      if case .refreshFailing(let count, let last)? = watch.take(Self.failed(.server)) {
        #expect(last.kind == .server)
        warned.append(count)
      }
    }
    #expect(warned == [3, 10, 30, 100, 300, 1_000, 3_000])
  }

  @Test(
    "STA-7 RES-6 a storage failure is reported once when it begins, and first to later subscribers")
  func storage() async throws {
    let bench = try Bench()
    let isAvailable = Mutex(true)
    let store = InterceptedStore { (_, item) throws(SecretStoreError) in
      guard isAvailable.withLock({ $0 }) else { throw .unavailable(item: item, place: "test") }
    }
    let session = try await bench.signedIn(store: store)
    var reports = session.reports.makeAsyncIterator()
    isAvailable.withLock { $0 = false }
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(
      error.failure == .notStoredYet
        && (error?.underlyingError as? SessionError).failure == .secrets)
    let problem = try #require(session.storageProblem)
    let warning = SessionReport.warning(.storageFailing(problem))
    #expect(try await reports.next() == warning)
    #expect(
      warning.description
        == "warning: the session's records or items cannot be written: refused")
    #expect(warning.name == "session.warning.storageFailing")
    #expect(warning.labels == ["trouble": "refused"] && warning.isWarning)
    // It fails again, which is not reported.
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    await bench.clock.waitForSleepers(1)
    var later = session.reports.makeAsyncIterator()
    #expect(try await later.next() == warning)
    isAvailable.withLock { $0 = true }
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(1))
    guard case .event(let event)? = try await reports.next(),
      case .event(event)? = try await later.next()
    else {
      Issue.record("no event")
      return
    }
    #expect(event.event.kind == .refreshSucceeded)
    #expect(session.storageProblem == nil)
    try await session.close()
  }

  @Test("STA-7 a failed compaction and a quarantined journal are reported")
  func journal() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    var configuration = bench.configuration()
    configuration.policy.recovery.unusableJournal = .setAside
    configuration.retention = RetentionPolicy(maximumRecords: 5, keptRecords: 1, keptBeforeEnd: 0)
    configuration.compaction = { (journal, _) throws(JournalError) in
      throw .diskFull(path: journal.name)
    }
    let session = try await Session.open(configuration)
    var reports = session.reports.makeAsyncIterator()
    #expect(try await reports.next() == .warning(.journalSetAside(.damaged)))
    for _ in 0..<30 where session.compactionProblem == nil { try await session.refresh() }
    var found: [SessionWarning] = []
    while found.isEmpty, let report = try await reports.next() {
      if case .warning(let warning) = report { found.append(warning) }
    }
    #expect(found.map(\.description) == ["the journal cannot be compacted: noRoom"])
    try await session.close()
  }

  @Test(
    "JRN-2 STA-7 a session on a FUSE mount warns that its locks may not reach others",
    .enabled(if: access("/usr/bin/bindfs", X_OK) == 0 && access("/dev/fuse", W_OK) == 0))
  func sharedJournal() async throws {
    let bench = try Bench()
    let view = bench.folder.path + ".view"
    #expect(mkdir(view, 0o700) == 0)
    let mount = try ChildProcess.run("bindfs", ["--no-allow-other", bench.folder.path, view])
    #expect(mount.code == 0)
    defer {
      do { _ = try ChildProcess.run("umount", [view]) } catch {}
      rmdir(view)
    }
    var configuration = bench.configuration()
    configuration.place = FilePlace(path: view + "/a.journal")
    let session = try await Session.open(configuration)
    for _ in 0..<2 {
      var reports = session.reports.makeAsyncIterator()
      let report = try #require(try await reports.next())
      #expect(report == .warning(.journalShared) && report.labels.isEmpty)
      #expect(report.name == "session.warning.journalShared")
    }
    try await session.close()
  }

  @Test("STA-7 STO-3 a warning's labels come from small sets, whatever the error holds")
  func words() {
    let words = Set(StorageIssue.allCases.map(\.rawValue))
    for error in ErrorSamples.sessionErrorCases {
      let report = SessionReport.warning(.storageFailing(error))
      #expect(words.contains(report.labels["trouble"] ?? ""))
    }
  }

  @Test(
    "STA-7 REF-6 each class of failures is counted separately, and a new token resets the counts")
  func classes() {
    var watch = FailureWatch()
    for kind in [RequestFailure.Kind.noReply, .server, .noConnection, .rateLimited] {
      #expect(watch.take(Self.failed(kind)) == nil)
    }
    #expect(
      watch.take(Self.failed(.intercepted))
        == .refreshFailing(count: 3, last: RequestFailure(kind: .intercepted)))
    #expect(watch.take(Self.failed(.server)) != nil)
    #expect(watch.counts == [.unanswered: 3, .answered: 3])
    #expect(watch.take(Self.fresh) == nil)
    #expect(watch.counts.isEmpty)
    #expect(watch.take(Self.failed(.server)) == nil)
  }

  @Test("STA-7 the counts equal those of the fold after every event of random histories")
  func agreesWithTheFold() throws {
    var compared = 0
    for seed in 1...200 {
      var fold = SessionFold()
      var watch = FailureWatch()
      for record in Self.history(seed: UInt64(seed)) {
        guard let event = record.event else { continue }
        do { try fold.apply(record) } catch { continue }
        _ = watch.take(event)
        #expect(watch == FailureWatch(fold.state), "seed \(seed), seq \(record.sequence)")
        if !watch.counts.isEmpty { compared += 1 }
      }
    }
    #expect(compared > 500)
  }

  /// Random events, many of them legal.
  ///
  /// The token's number grows with each event that announces one.
  private static func history(seed: UInt64) -> [SessionRecord] {
    var random = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func draw(_ bound: UInt64) -> UInt64 {
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      return random % bound
    }
    var generation: UInt64 = 0
    func facts() -> TokenMetadata {
      generation += 1
      return TokenMetadata(
        generation: Generation(generation), issuedAt: Timestamp(milliseconds: 0),
        expiresAt: Timestamp(milliseconds: 9), isRefreshable: true)
    }
    return (1...60).map { sequence in
      let event: SessionEvent
      switch draw(14) {
      case 0: event = .logout(SessionEvent.Logout(reason: .user))
      case 1: event = .sessionExpired(SessionEvent.SessionExpired(reason: .inactivity))
      case 2, 3:
        event = .login(
          SessionEvent.Login(user: Identifier("u"), method: .password, token: facts()))
      case 4:
        event = .refreshSucceeded(
          SessionEvent.RefreshSucceeded(
            token: facts(), trigger: .retry, attempt: 1, isRotated: false, request: 0))
      case 5:
        event = .contextSwitched(
          SessionEvent.ContextSwitched(
            context: ActiveContext(role: ActiveContext.Named(id: Identifier("r"), name: "r")),
            token: draw(2) == 0 ? nil : facts(), trigger: .user, request: 0))
      default:
        event = .refreshFailed(
          SessionEvent.RefreshFailed(
            generation: Generation(generation), trigger: .retry, attempt: 1,
            failure: RequestFailure(
              kind: RequestFailure.Kind.known[Int(draw(UInt64(RequestFailure.Kind.known.count)))]),
            retryAt: nil, request: 0))
      }
      return SessionRecord(
        sequence: UInt64(sequence), time: Timestamp(milliseconds: 0), content: .event(event))
    }
  }

  @Test("STA-7 the attempts from the tenth on share one label", arguments: [8, 9, 10, 11, .max])
  func attemptLabel(attempt: UInt32) {
    let event = RecordedEvent(
      sequence: 1, time: Timestamp(milliseconds: 0),
      event: Self.failed(.server, attempt: attempt))
    let expected = [8: "8", 9: "9"][attempt] ?? "10+"
    #expect(SessionReport.event(event).labels["attempt"] == expected)
  }

  @Test("STA-7 STO-3 a log receives each event and warning, without a secret or a name")
  func live() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    bench.server.failNext(.refresh, with: .status(503), times: 2)
    for _ in 1...2 {
      _ = await failure { () async throws(SessionError) in try await session.refresh() }
    }
    // The reports start here, and earlier failures are still counted.
    let reports = session.reports
    bench.server.failNext(.refresh, with: .status(503))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    try await session.refresh()
    try await session.logout()
    try await session.close()

    var told: [SessionReport] = []
    for try await report in reports { told.append(report) }
    #expect(
      told.map(\.name) == [
        "session.refreshFailed", "session.warning.refreshFailing", "session.refreshSucceeded",
        "session.logout",
      ])
    #expect(told.map(\.isWarning) == [false, true, false, false])
    #expect(
      told.map(\.labels) == [
        ["attempt": "3", "failure": "server", "status": "503", "trigger": "manual"],
        ["class": "answered", "count": "3", "failure": "server"],
        ["attempt": "4", "rotated": "no", "trigger": "manual"], ["reason": "user"],
      ])
    let log = told.map { "\($0)" }
    #expect(log[0].hasSuffix(" refreshFailed attempt=3 failure=server status=503 trigger=manual"))
    #expect(
      log[1]
        == "warning: 3 refreshes in a row failed (answered), the last with: server 503 SERVER_ERROR"
    )
    var printed = log.joined()
    dump(told, to: &printed)
    for secret in bench.server.secrets where secret.utf8.count >= 6 {
      #expect(!printed.contains(secret))
    }
    #expect(!log.joined().contains(LoopbackUser.sample.id))
  }

  @Test("STA-7 reports begin when they are requested, without gaps or duplicates")
  func place() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let before = session.reports
    try await session.refresh()
    let after = session.reports
    try await session.logout()
    try await session.close()
    var names: [[String]] = [[], []]
    for try await report in before { names[0].append(report.name) }
    for try await report in after { names[1].append(report.name) }
    #expect(names == [["session.refreshSucceeded", "session.logout"], ["session.logout"]])
  }
}
