import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A session whose server and protected calls are closures in memory.
///
/// Each response comes at once, or when the test says so.
final class CallBench: Sendable {
  /// Issues `A1`, `A2` … at each login and refresh.
  final class Service: HTTPTransport {
    struct Book {
      var requests: [HTTPRequest] = []
      var tokens = 0
      var faults: [Result<HTTPResponse, TransportError>] = []
      var user = "u-1"
      /// The end of each access token.
      var tail = ""
    }

    let book = Mutex(Book())
    /// Refreshes wait here while the gate is shut.
    let gate = Gate(isShut: false)

    var refreshCount: Int { book.withLock { $0.requests.count { $0.url.path == "/auth/refresh" } } }

    func fail(_ fault: Result<HTTPResponse, TransportError>) {
      book.withLock { $0.faults.append(fault) }
    }

    func signIn(as user: String) { book.withLock { $0.user = user } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      let isRefresh = request.url.path == "/auth/refresh"
      let fault = book.withLock { book in
        book.requests.append(request)
        return isRefresh && !book.faults.isEmpty ? book.faults.removeFirst() : nil
      }
      if isRefresh { await gate.pass() }
      if let fault { return try fault.get() }
      let gives = ["/auth/login", "/auth/refresh", "/auth/switch-context"]
      guard gives.contains(request.url.path) else { return HTTPResponse(status: 204) }
      let (number, user, tail) = book.withLock { book in
        book.tokens += 1
        return (book.tokens, book.user, book.tail)
      }
      let answer = """
        {"access_token":"A\(number)\(tail)","refresh_token":"R\(number)","expires_in":3600,\
        "user":{"id":"\(user)","email":"a@b.test"},"context":{"role_id":"r-2","role_name":"two",\
        "school_id":"s-2","school_name":"two","permissions":[]}}
        """
      return HTTPResponse(status: 200, body: Array(answer.utf8))
    }
  }

  /// The protected resource: responds according to the token, and records which tokens came.
  final class FakeServer: HTTPTransport {
    struct Book {
      var authorizations: [String?] = []
      var paths: [String] = []
    }

    let book = Mutex(Book())
    private let answer: @Sendable (String?, Int) async throws(TransportError) -> HTTPResponse

    /// The response depends on the `Authorization` and on the number of earlier calls.
    init(
      _ answer: @escaping @Sendable (String?, Int) async throws(TransportError) -> HTTPResponse = {
        (_, _) throws(TransportError) in HTTPResponse(status: 200)
      }
    ) { self.answer = answer }

    /// Accepts tokens from this number on.
    static func accepting(from number: Int) -> FakeServer {
      FakeServer { (authorization, _) throws(TransportError) in
        let token = Int(authorization?.dropFirst("Bearer A".count) ?? "") ?? 0
        return HTTPResponse(status: token >= number ? 200 : 401)
      }
    }

    var authorizations: [String?] { book.withLock { $0.authorizations } }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      let place = book.withLock { book in
        book.authorizations.append(request.header("Authorization"))
        book.paths.append(request.url.path)
        return book.authorizations.count - 1
      }
      return try await answer(request.header("Authorization"), place)
    }
  }

  let service = Service()
  let clock = ManualClock()
  private let home: SessionFolder
  let wire: HTTPBackend

  init() throws {
    home = try SessionFolder()
    var wire = HTTPBackend.snakeCaseJSON(try #require(URL(string: "https://api.school.test")))
    wire.tokenForm = .opaque
    self.wire = wire
  }

  var folder: URL { home.url }

  func open(_ policy: SessionPolicy = .bench, _ change: (inout HTTPBackend) -> Void = { _ in })
    async throws -> Session
  {
    var backend = wire
    backend.transport = service
    change(&backend)
    return try await Session.open(
      SessionConfiguration(
        journal: home.journal, secrets: MemorySecretStore(), backend: backend, policy: policy,
        clock: clock))
  }

  func signedIn(_ policy: SessionPolicy = .bench, _ change: (inout HTTPBackend) -> Void = { _ in })
    async throws -> Session
  {
    let session = try await open(policy, change)
    try await signIn(session)
    return session
  }

  func signIn(_ session: Session) async throws {
    try await session.login(.password("a@b.test", "correct-horse"))
  }

  func get(_ path: String = "materials", _ headers: [HTTPHeader] = []) -> HTTPRequest {
    HTTPRequest(method: "GET", url: wire.baseURL.appending(path: path), headers: headers)
  }

  /// Makes a call with a body from `memory`, from a `file`, or in the `request`.
  func send(_ call: URLRequest, _ body: Data, from place: String, by api: SessionInterceptor)
    async throws -> (Data, URLResponse)
  {
    switch place {
    case "memory": return try await api.upload(for: call, from: body)
    case "file":
      let file = folder.appending(path: "essay")
      try body.write(to: file)
      return try await api.upload(for: call, fromFile: file)
    default:
      var call = call
      call.httpBody = body
      return try await api.data(for: call)
    }
  }

  /// Lets the token expire, without a refresh by the session itself.
  func expire(_ session: Session) async {
    service.gate.shut()
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(3_600))
  }
}

/// The error of a call, if it is the session's.
func sessionError<Value>(
  of call: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> SessionError? {
  do {
    _ = try await call()
    Issue.record("it did not fail", sourceLocation: sourceLocation)
    return nil
  } catch { return error as? SessionError }
}
