import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// One server, one journal, and any number of processes on it.
final class ProcessBench {
  let server: LoopbackServer
  private let home: SessionFolder
  private let disk: MountedDisk?

  init(
    users: [LoopbackUser] = [.sample], on disk: MountedDisk? = nil,
    _ settings: (inout LoopbackSettings) -> Void = { _ in }
  ) throws {
    self.disk = disk
    server = try LoopbackServer.start(backend: .edu(users: users))
    server.settings.update { settings(&$0) }
    home = try disk.map { try SessionFolder(in: URL(filePath: $0.folder)) } ?? SessionFolder()
  }

  deinit { server.stop() }

  var folder: URL { home.url }
  var journal: String { home.journal }
  var secrets: String { home.secrets }

  /// Ada signs in and the process ends; `hours` ago, by this device's clock.
  func signIn(hoursAgo hours: Int64 = 0) async throws {
    let now = SystemClock().now().time
    let session = try await Session.open(
      SessionConfiguration(
        journal: journal, secrets: FileSecretStore(folder: secrets),
        backend: HTTPBackend.snakeCaseJSON(server.baseURL), policy: .edu(.development),
        clock: ManualClock(time: now.advanced(by: -hours * 3_600_000))))
    try await session.login(.sample)
    try await session.close()
  }

  /// A process; its requests take at most `timeout` milliseconds.
  func start(timeout: Int64 = 300_000, _ options: String...) throws -> WorkerProcess {
    try start(timeout, options)
  }

  private func start(_ timeout: Int64, _ options: [String], isIsolated: Bool = false) throws
    -> WorkerProcess
  {
    try WorkerProcess(
      [journal, secrets, server.baseURL.absoluteString, "timeout=\(timeout)"] + options,
      isIsolated: isIsolated)
  }

  private func opened(_ worker: WorkerProcess) async throws -> WorkerProcess {
    let answer = try await worker.ask("open")
    #expect(answer.error == nil, "\(answer)")
    return worker
  }

  /// A process that has opened the session.
  func open(timeout: Int64 = 300_000, _ options: String...) async throws -> WorkerProcess {
    try await opened(try start(timeout, options))
  }

  /// A process in a PID namespace of its own, which has opened the session.
  func openIsolated(timeout: Int64 = 300_000, _ options: String...) async throws -> WorkerProcess {
    try await opened(try start(timeout, options, isIsolated: true))
  }

  /// Whether the sent request has no end yet.
  ///
  /// On a busy machine its deadline may pass before the process is suspended.
  func isFirstRequestOpen() throws -> Bool {
    let names = try records().map(\.name)
    return names.count { $0 == "requestSent" } == 1
      && !names.contains { $0 == "refreshFailed" || $0 == "requestEnded" }
  }

  /// Every record of the journal as it is now.
  func records() throws -> [SessionRecord] { try home.records() }

  /// The answers of all of them.
  func fold() throws -> SessionFold {
    var fold = SessionFold()
    for record in try records() { try fold.apply(record) }
    return fold
  }

  /// How many events of a kind there are.
  func count(of kind: SessionEvent.Kind) throws -> Int {
    try records().count { $0.event?.kind == kind }
  }

  /// The access tokens that calls showed the server, oldest first.
  var shown: [Int?] { server.calls.filter { $0.endpoint == .materials }.map(\.accessToken) }

  /// The journal contains no secret, and the wire rules were followed.
  func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(server.violations.isEmpty, sourceLocation: sourceLocation)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: journal))
    for secret in server.secrets where secret.utf8.count >= 6 {
      #expect(bytes.range(of: Data(secret.utf8)) == nil, sourceLocation: sourceLocation)
    }
  }
}
