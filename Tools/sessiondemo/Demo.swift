import Foundation
import ReplayCommands
import SessionHTTP
import SessionKit
import SessionTestKit

/// The life of one real session over HTTP; each event is printed when a subscriber receives it.
struct Demo {
  let journal: URL
  let server: LoopbackServer
  let session: Session
  private let watch: Watch

  /// A policy with short delays that keeps an expired session, so that one run shows all six
  /// events.
  static var policy: SessionPolicy {
    var policy = SessionPolicy.development
    policy.refresh.firstRetryDelay = .milliseconds(300)
    policy.refresh.timeout = .seconds(5)
    return policy
  }

  static func run(journal: URL) async throws {
    let server = try LoopbackServer.start()
    server.settings.update { $0.accessTokenLifetime = .seconds(2) }
    defer { server.stop() }
    let secrets = Stage.secretsFolder()
    defer { Stage.clear() }
    Stage.say("server   \(server.baseURL) (in this process; tokens live 2 s)")
    Stage.say("policy   development, with short delays; an expired session is kept")
    Stage.say("journal  \(journal.path)")

    var configuration = SessionConfiguration(
      journal: journal.path, secrets: FileSecretStore(folder: secrets.path),
      backend: HTTPBackend.snakeCaseJSON(server.baseURL), policy: policy)
    configuration.appVersion = AppVersion("1.0.0+demo")
    let session = try await Session.open(configuration)
    let demo = Demo(
      journal: journal, server: server, session: session, watch: Watch(session.events))
    try await demo.live()
    try await session.close()
    demo.settle()
  }

  private func live() async throws {
    say("A wrong password: a typed error, and nothing is journaled")
    do throws(SessionError) {
      try await session.login(credentials(password: "not-the-password"))
    } catch {
      Stage.say("    \(error)")
    }

    say("Signing in")
    try await session.login(credentials())
    try await watch.expect(.login)

    say("Waiting: the token is refreshed by itself after half its life")
    try await watch.expect(.refreshSucceeded)

    say("The server fails the next refresh; the session stays and tries again by itself")
    server.failNext(.refresh, with: .status(503))
    try await watch.expect(.refreshFailed)
    try await watch.expect(.refreshSucceeded)

    say("Switching to another role in another school")
    try await session.switchContext(to: coordinator)
    try await watch.expect(.contextSwitched)

    say("The server revokes every token: the next refresh is refused, the session expires")
    server.revokeAllTokens()
    try await watch.expect(.refreshFailed)
    try await watch.expect(.sessionExpired)
    Stage.say("    still known: \(session.currentUser.map { "\($0)" } ?? "nobody")")

    say("The same user signs in again, and logs out")
    try await session.login(credentials())
    try await watch.expect(.login)
    let outcome = try await session.logout()
    try await watch.expect(.logout)
    Stage.say("    outcome: \(outcome)")
  }

  /// Prints the requests and the journal's timeline, after the session is closed.
  private func settle() {
    let counts = [
      ("login", LoopbackEndpoint.login), ("refresh", .refresh),
      ("switch-context", .switchContext), ("logout", .logout),
    ].map { "\($0) \(server.count(of: $1))" }
    Stage.say("\nThe server was asked: \(counts.joined(separator: ", "))")
    Stage.say("\nThe same life, replayed from the file (sessionreplay timeline):\n")
    let code = ReplayTool.run(["timeline", journal.path])
    Stage.say("\n\(journal.path)")
    if code != 0 { Stage.leave(code) }
  }

  private func credentials(password: String = LoopbackUser.sample.password) -> Credential {
    .password(LoopbackUser.sample.email, password)
  }

  private var coordinator: ContextTarget {
    let context = LoopbackContext.coordinator
    return ContextTarget(
      role: Identifier(context.roleID), school: Identifier(context.schoolID), unit: nil)
  }

  private func say(_ text: String) {
    Stage.say("\n\(text)")
  }
}

/// A subscriber that prints each event, and lets the demo wait for one.
final class Watch {
  private var iterator: SessionEvents.Iterator

  init(_ events: SessionEvents) {
    iterator = events.makeAsyncIterator()
  }

  /// Prints events up to and including the first of this kind.
  func expect(_ kind: SessionEvent.Kind) async throws {
    while let recorded = try await iterator.next() {
      Stage.say("←\(ReplayTool.line(recorded))")
      if recorded.event.kind == kind { return }
    }
  }
}
