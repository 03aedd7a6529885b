import Backend
import Foundation
import SessionHTTP
import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@main
struct Daemon {
  static let usage = """
    Usage: daemon FOLDER           Works until SIGTERM; its session is in FOLDER.
           daemon follow JOURNAL   Writes what happens in a journal, in words, until the daemon is closed.
    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.count {
    case 1 where !arguments[0].hasPrefix("-") && arguments[0] != "follow":
      try await run(in: URL(filePath: arguments[0]))
    case 2 where arguments[0] == "follow": follow(arguments[1])
    default:
      say(usage)
      exit(64)
    }
  }

  static func run(in folder: URL) async throws {
    // This comes first, so that an early SIGTERM ends the daemon in order too. The source receives
    // the signal only if the process ignores it.
    signal(SIGTERM, SIG_IGN)
    let (terminations, continuation) = AsyncStream.makeStream(of: Void.self)
    let source = DispatchSource.makeSignalSource(signal: SIGTERM)
    source.setEventHandler { continuation.yield() }
    source.resume()
    defer { source.cancel() }

    let service = Service(tokenLifetime: .seconds(1))
    let server = try Server(service.answer)
    let session = try await openSession(in: folder, service: server.url)
    let worker = Worker(session: session, service: server.url)
    say("signed in: \(session.state.user?.description ?? "nobody")")

    try await Task.sleep(for: .seconds(1.1))
    service.setTokenLifetime(.seconds(3600))
    let answered = await worker.work(concurrently: 200)
    say("\(answered) calls answered, \(service.count(of: "/auth/refresh")) refresh")

    let working = Task { await worker.workOn() }
    say("ready")
    for await _ in terminations { break }
    working.cancel()
    await working.value
    try await session.close()
    say("closed")
  }

  static func openSession(in folder: URL, service: URL) async throws -> Session {
    // configuration
    var configuration = SessionConfiguration(
      directory: folder, backend: HTTPBackend.camelCaseJSON(service),
      service: "org.example.daemon")
    // Calls ask for a token when they need one; nothing refreshes on a timer.
    configuration.policy.refresh.beforeExpiry = nil
    // end of configuration
    let session = try await Session.open(configuration)
    if !session.isAuthenticated {
      try await session.login(.password(Service.user.name, Service.user.password))
    }
    return session
  }

  /// Replaces this process by `sessionreplay follow`, which is next to this program; a signal then
  /// ends both.
  static func follow(_ journal: String) -> Never {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let replay = folder.appending(path: "sessionreplay").path
    let arguments = [replay, "follow", journal, "--until-kind", "closed"]
    execv(replay, arguments.map { strdup($0) } + [nil])
    say("cannot run \(replay): \(String(cString: strerror(errno)))")
    exit(71)
  }
}

/// The work of the daemon: jobs of the service, with the token of its account.
struct Worker: Sendable {
  let session: Session
  let service: URL

  /// Runs jobs concurrently, and returns how many had status 200.
  func work(concurrently count: Int) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
      for number in 1...count { group.addTask { await run(number) } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
  }

  /// Runs a job each second until the task is cancelled.
  func workOn() async {
    var number = 0
    while !Task.isCancelled {
      number += 1
      _ = await run(number)
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
    }
  }

  private func run(_ number: Int) async -> Bool {
    do throws(SessionError) {
      let (_, response) = try await session.data(
        for: URLRequest(url: service.appending(path: "jobs/\(number)")))
      return (response as? HTTPURLResponse)?.statusCode == 200
    } catch {
      if error.code != .cancelled { say("job \(number): \(error)") }
      return false
    }
  }
}
