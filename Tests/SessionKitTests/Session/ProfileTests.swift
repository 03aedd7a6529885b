import Foundation
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// Sign-ins whose answer does not say who the user is, at a backend that can be asked.
@Suite("A session: who signed in")
struct ProfileTests {
  /// A backend whose answers are fixed by path.
  private final class Backend: HTTPTransport {
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

  private func signIn(_ profile: (status: Int, body: String)?) async throws
    -> (Backend, Result<UserProfile?, SessionError>, Bool)
  {
    var answers = [
      "/api/auth/login": (200, #"{"accessToken":"A1","refreshToken":"R1","expiresIn":900}"#),
      "/api/auth/logout": (204, ""),
    ]
    answers["/api/auth/me"] = profile
    let bench = try Bench()
    let backend = Backend(answers)
    let url = try #require(URL(string: "https://tik.test"))
    var configuration = SessionConfiguration(
      journal: bench.journal, secrets: MemorySecretStore(), preset: .tik(url))
    (configuration.transport, configuration.clock) = (backend, bench.clock)
    let session = try await Session.open(configuration)
    let result: Result<UserProfile?, SessionError>
    do throws(SessionError) {
      result = .success(
        try await session.login(
          PasswordCredentials(userName: "ana", password: Secret("secreta"))))
    } catch {
      result = .failure(error)
    }
    let isAuthenticated = session.isAuthenticated
    try await session.close()
    return (backend, result, isAuthenticated)
  }

  @Test("LOG-6 LOG-4 an answer without a user: the backend is asked, and then the login counts")
  func asked() async throws {
    let (backend, result, isAuthenticated) = try await signIn(
      (200, #"{"id":42,"email":"ana@tik.test","status":"active"}"#))
    #expect(try result.get()?.id == "42")
    #expect(isAuthenticated)
    #expect(backend.paths == ["/api/auth/login", "/api/auth/me"])
  }

  @Test("LOG-6 LOG-10 inactive, deleted or not to be asked: nobody is signed in, tokens given back")
  func refused() async throws {
    let cases: [((status: Int, body: String)?, (SessionError) -> Bool)] = [
      ((200, #"{"id":42,"status":"inactive"}"#), { $0 == .userInactive }),
      ((200, #"{"id":42,"status":"deleted"}"#), { $0 == .userDeleted }),
      ((503, ""), { if case .server = $0 { true } else { false } }),
      (nil, { if case .noConnection = $0 { true } else { false } }),
    ]
    for (profile, isExpected) in cases {
      let (backend, result, isAuthenticated) = try await signIn(profile)
      guard case .failure(let error) = result else {
        Issue.record("signed in")
        continue
      }
      #expect(isExpected(error), "\(error)")
      #expect(!isAuthenticated)
      await eventually("the tokens are given back") { backend.paths.last == "/api/auth/logout" }
    }
  }
}
