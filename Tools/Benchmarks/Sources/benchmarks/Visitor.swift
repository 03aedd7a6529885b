internal import Foundation
internal import SessionCore
internal import SessionHTTP
internal import SessionJournal
@_spi(Internals) internal import SessionKit
internal import Synchronization

/// The location of a benchmark's session.
struct VisitorPlace: Sendable {
  /// The directory of the session.
  let directory: URL

  /// Creates a new location.
  init(_ stage: Stage) {
    directory = URL(filePath: stage.path("session"))
  }

  /// Creates the location of an existing journal, which has the name that a session gives it.
  init(journal: String) {
    directory = URL(filePath: journal).deletingLastPathComponent()
  }
}

/// A session whose backend answers at once.
enum Visitor {
  /// Opens a session on a journal, as an app does; the journal is never compacted.
  static func opened(
    _ place: VisitorPlace, secrets: (any SecretStore)? = nil,
    clock: (any SessionClock)? = nil
  ) async throws -> Session {
    guard let url = URL(string: "http://localhost") else { throw Problem("no address") }
    var backend = HTTPBackend.snakeCaseJSON(url)
    backend.tokenForm = .opaque
    backend.transport = InstantServer()
    let store: any SecretStore = secrets ?? MemorySecretStore()
    var configuration = SessionConfiguration(
      directory: place.directory, backend: backend, secrets: store,
      clock: clock, retention: nil)
    configuration.eventBuffer = 50_000
    return try await Session.open(configuration)
  }

  static func signedIn(
    at place: VisitorPlace, clock: (any SessionClock)? = nil
  ) async throws -> Session {
    let session = try await opened(place, clock: clock)
    try await signIn(session)
    return session
  }

  static func signIn(_ session: Session) async throws {
    try await session.login(.password("a@b.example", "a-word-or-two"))
    try expect(session.currentToken != nil, "nobody is signed in")
  }

  private struct InstantServer: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      // The length is that of tokens of real servers.
      let access = String(repeating: "x", count: 800)
      let answer = """
        {"access_token":"\(access)","refresh_token":"refresh","expires_in":86400,\
        "user":{"id":"9f2c1a7e-0000-4000-8000-000000000001","email":"a@b.example"}}
        """
      return HTTPResponse(status: 200, body: Array(answer.utf8))
    }
  }
}

/// A clock that a benchmark advances; it wakes no sleeper.
final class VisitorClock: SessionClock {
  private let passed = Atomic<Int64>(0)

  func pass(_ milliseconds: Int64) {
    passed.wrappingAdd(milliseconds, ordering: .relaxed)
  }

  func now() -> ClockReading {
    let uptime = passed.load(ordering: .relaxed)
    return ClockReading(
      time: Timestamp(milliseconds: 1_767_225_600_000 + uptime), elapsed: .milliseconds(uptime))
  }

  func sleep(until deadline: Duration) async throws(CancellationError) {
    while !Task.isCancelled {
      do { try await Task.sleep(for: .seconds(86_400)) } catch { break }
    }
    throw CancellationError()
  }
}
