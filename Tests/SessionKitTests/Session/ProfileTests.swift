import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

/// Logins whose response does not name the user, at a backend with a profile.
@Suite("A session: who logged in")
struct ProfileTests {
  /// A backend with a fixed response for each path.
  private final class BackendIdentity: HTTPTransport {
    let answers: [String: (status: Int, body: String)]
    private let sent = Mutex<[String]>([])

    init(_ answers: [String: (status: Int, body: String)]) {
      self.answers = answers
    }

    var paths: [String] { sent.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      let path = request.url.path
      sent.withLock { $0.append(path) }
      guard let answer = answers[path] else { throw .noConnection("no \(path)") }
      return HTTPResponse(status: answer.status, body: Array(answer.body.utf8))
    }
  }

  private struct Ending {
    let backend: BackendIdentity
    let result: Result<UserProfile?, SessionError>
    let state: SessionState
  }

  private static let plain = #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900}"#
  private static let named =
    #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900,"user":{"id":42,"email":"a@b.c"}}"#

  private func signIn(
    _ profile: (status: Int, body: String)?, login: String = plain,
    change: (inout SessionConfiguration) -> Void = { _ in }
  ) async throws -> Ending {
    var answers = ["/api/auth/login": (200, login), "/api/auth/logout": (204, "")]
    answers["/api/auth/me"] = profile
    let bench = try Bench()
    let backend = BackendIdentity(answers)
    let url = try #require(URL(string: "https://tik.test"))
    var configuration = SessionConfiguration(
      journal: bench.journal, secrets: MemorySecretStore(),
      backend: AnswerBench.camelCaseWire(at: url), policy: .tik)
    configuration.http.transport = backend
    configuration.clock = bench.clock
    change(&configuration)
    let session = try await Session.open(configuration)
    let result: Result<UserProfile?, SessionError>
    do throws(SessionError) {
      result = .success(
        try await session.login(.password("ana", "secreta")).user)
    } catch {
      result = .failure(error)
    }
    let state = session.state
    try await session.close()
    return Ending(backend: backend, result: result, state: state)
  }

  @Test(
    "LOG-6 LOG-4 a login without a user in its response succeeds after the profile names the user")
  func asked() async throws {
    let ending = try await signIn((200, #"{"id":42,"email":"ana@tik.test","status":"active"}"#))
    #expect(try ending.result.get()?.id == "42")
    #expect(ending.state.user == "42")
    #expect(ending.backend.paths == ["/api/auth/login", "/api/auth/me"])
  }

  @Test("LOG-6 the profile is requested also after a response with a user, and completes the user")
  func askedAllTheSame() async throws {
    let ending = try await signIn(
      (200, #"{"id":42,"firstName":"Ana","status":"active"}"#), login: Self.named)
    let user = try #require(try ending.result.get())
    #expect(user.firstName == "Ana" && user.email == "a@b.c")
    #expect(ending.backend.paths == ["/api/auth/login", "/api/auth/me"])
    let unasked = try await signIn(nil, login: Self.named) {
      $0.policy.limits.profileCheck = .whenUnknown
    }
    #expect(unasked.backend.paths == ["/api/auth/login"])
    #expect(unasked.state.user == "42")
  }
}
