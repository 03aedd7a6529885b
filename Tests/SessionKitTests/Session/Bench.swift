import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
@_spi(Internals) import SessionKit
import SessionTestKit
import Testing

/// A real session in a real folder, with a real server on loopback and a clock that a test moves.
final class Bench: Sendable {
  let server: LoopbackServer
  let clock = ManualClock()
  private let home: SessionFolder

  init(
    users: [LoopbackUser] = [.sample], _ settings: (inout LoopbackSettings) -> Void = { _ in }
  ) throws {
    // Tokens live long by the server's own clock, so that they expire only by the manual one.
    server = try LoopbackServer.start(backend: .edu(users: users))
    server.settings.update {
      // The server's clock differs from the manual one, which every session would note.
      $0.tellsTime = false
      settings(&$0)
    }
    home = try SessionFolder()
  }

  deinit { server.stop() }

  var folder: URL { home.url }
  var journal: String { home.journal }
  var secrets: String { home.secrets }
  var credentials: Credential {
    Credential.password(LoopbackUser.sample.email, LoopbackUser.sample.password)
  }
  var coordinator: ContextTarget {
    let context = LoopbackContext.coordinator
    return ContextTarget(
      role: Identifier(context.roleID), school: Identifier(context.schoolID),
      unit: context.unit.map { Identifier($0.id) })
  }

  func configuration(
    _ policy: SessionPolicy = .bench, store: (any SecretStore)? = nil, eventBuffer: Int = 1024
  ) -> SessionConfiguration {
    var configuration = SessionConfiguration(
      journal: journal, secrets: store ?? FileSecretStore(folder: secrets),
      backend: HTTPBackend.snakeCaseJSON(server.baseURL), policy: policy, clock: clock)
    configuration.eventBuffer = eventBuffer
    // A test decides when a session sees the events of others.
    configuration.followsOthers = false
    return configuration
  }

  func open(
    _ policy: SessionPolicy = .bench, store: (any SecretStore)? = nil, eventBuffer: Int = 1024
  ) async throws -> Session {
    try await Session.open(configuration(policy, store: store, eventBuffer: eventBuffer))
  }

  /// Opens a session that has secrets and no journal, which is looked for again (RES-7).
  func openMissing(_ policy: SessionPolicy = .bench, store: (any SecretStore)? = nil)
    async throws -> Session
  {
    let configuration = configuration(policy, store: store)
    return try await clock.running { try await Session.open(configuration) }
  }

  /// Lets the time pass after which an absence is accepted, and makes the session look again
  /// (RES-7).
  func passDoubt(_ session: Session) async {
    for pause in [1_000, 3_000] as [Int64] {
      clock.advance(by: .milliseconds(pause))
      await session.retry()
    }
  }

  /// An open session in which the sample user is logged in.
  func signedIn(_ policy: SessionPolicy = .bench, store: (any SecretStore)? = nil)
    async throws -> Session
  {
    let session = try await open(policy, store: store)
    try await session.login(credentials)
    return session
  }

  /// Every record that is now in the journal file.
  func records() throws -> [SessionRecord] { try home.records() }

  func eventNames() throws -> [String] {
    try records().compactMap { $0.event?.kind.description }
  }

  func files() throws -> [String] {
    guard FileManager.default.fileExists(atPath: secrets) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: secrets).sorted()
  }
}

extension LoopbackUser {
  /// A user other than the sample.
  static let bob = LoopbackUser(
    id: "1b9f6f0e-1d5a-4c39-9d4e-6a1f3c2b7a11", email: "bob@school.test",
    password: "correct-horse-8", firstName: "Bob", lastName: "Other", contexts: [.teacher])
}

extension SessionPolicy {
  /// EDU's rules with short requests.
  static var bench: SessionPolicy {
    var policy = SessionPolicy.edu(.staging)
    policy.refresh.timeout = .seconds(60)
    // On a busy machine a logout may take long to reach the server.
    policy.ending.revocationTimeout = .seconds(60)
    policy.limits.loginsPerMinute = nil
    return policy
  }

  /// The same policy, with expired sessions kept.
  static var keeping: SessionPolicy {
    var policy = SessionPolicy.bench
    policy.name = "EDU staging, keeps expired sessions"
    policy.ending.onRejection = .keep
    return policy
  }
}

/// The error of a call that is expected to fail.
func failure<Value>(
  of call: () async throws(SessionError) -> Value,
  sourceLocation: SourceLocation = #_sourceLocation
) async -> SessionError? {
  do {
    _ = try await call()
    Issue.record("it did not fail", sourceLocation: sourceLocation)
    return nil
  } catch {
    return error
  }
}
