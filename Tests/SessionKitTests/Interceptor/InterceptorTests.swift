import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The interceptor, by URLSession over sockets", .timeLimit(.minutes(5)))
struct InterceptorTests {
  /// A session with a token server in memory, whose calls go to a server on sockets.
  private func signedIn(_ bench: CallBench, _ server: CallServer) async throws -> Session {
    try await bench.signedIn { $0.baseURL = server.url }
  }

  private func request(_ server: CallServer, _ path: String = "materials", _ method: String = "GET")
    -> URLRequest
  {
    var request = URLRequest(url: server.url.appending(path: path))
    request.httpMethod = method
    return request
  }

  private func status(_ response: URLResponse) -> Int? {
    (response as? HTTPURLResponse)?.statusCode
  }

  @Test("INT-1 INT-2 a call to the real server is refreshed after a 401, and fails after a logout")
  func wholeLife() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let steps = Mutex<[String]>([])
    let api = SessionInterceptor(session) { trace in steps.withLock { $0.append("\(trace)") } }
    let materials = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    let (data, first) = try await api.data(for: materials)
    #expect(status(first) == 200)
    #expect(String(decoding: data, as: UTF8.self).contains("Volcanoes"))

    bench.server.revokeAccessTokens()
    #expect(status(try await api.data(for: materials).1) == 200)
    #expect(session.currentToken?.generation == Generation(2))
    let triggers = try bench.records().compactMap { record -> RefreshTrigger? in
      guard case .refreshSucceeded(let refresh) = record.event else { return nil }
      return refresh.trigger
    }
    #expect(triggers == [.unauthorized])

    try await session.logout()
    #expect(await sessionError { try await api.data(for: materials) } == .notSignedIn)
    #expect(bench.server.count(of: .materials) == 3)
    #expect(bench.server.violations.isEmpty)
    let told = steps.withLock { $0 }
    #expect(
      told == [
        "GET /materials is sent with tok#1", "GET /materials was answered with 200",
        "GET /materials is sent with tok#1", "GET /materials was answered with 401",
        "GET /materials waits for a newer token", "GET /materials is sent with tok#2",
        "GET /materials was answered with 200", "GET /materials waits for a newer token",
        "GET /materials failed",
      ])
    for secret in bench.server.secrets { #expect(!told.joined().contains(secret)) }
    try await session.close()
  }

  @Test(
    "INT-3 a repeated call sends its whole body again, from memory, a file or the request",
    arguments: ["memory", "file", "request"])
  func bodies(place: String) async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      .answer(request.token == "A2" ? 201 : 401, body: request.token == "A2" ? "stored" : "no")
    }
    let session = try await signedIn(bench, server)
    let api = SessionInterceptor(session)
    let block = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let body = (0..<1_000).reduce(into: Data()) { body, _ in body.append(contentsOf: block) }
    let call = request(server, "essays", "POST")
    let answer = try await bench.send(call, body, from: place, by: api)
    #expect(status(answer.1) == 201)
    #expect(String(decoding: answer.0, as: UTF8.self) == "stored")
    #expect(server.requests.map(\.token) == ["A1", "A2"])
    for request in server.requests { #expect(Data(request.body) == body) }
    try await session.close()
  }

  @Test("INT-3 a missing body file is an error, and nothing is sent")
  func noFile() async throws {
    let bench = try CallBench()
    let server = try CallServer { _, _ in .answer(200) }
    let session = try await signedIn(bench, server)
    let file = bench.folder.appending(path: "no-such-file")
    let call = request(server, "essays", "POST")
    let error = await sessionError {
      try await SessionInterceptor(session).upload(for: call, fromFile: file)
    }
    #expect(error == .noConnection("the file with the body cannot be read"))
    #expect(server.requests.isEmpty)
    try await session.close()
  }

  @Test("INT-3 a stream is not sent twice: its 401 is returned, and the token is refreshed")
  func stream() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in .answer(request.token == "A2" ? 201 : 401) }
    let session = try await signedIn(bench, server)
    let api = SessionInterceptor(session)
    for expected in [401, 201] {
      var call = request(server, "essays", "POST")
      call.httpBodyStream = InputStream(data: Data("once".utf8))
      #expect(status(try await api.data(for: call).1) == expected)
    }
    #expect(server.requests.map(\.token) == ["A1", "A2"])
    #expect(bench.service.refreshCount == 1)
    try await session.close()
  }

  @Test(
    "INT-2 a 401 with an authentication challenge is handled like any other",
    arguments: [
      "Bearer realm=\"school\", error=\"invalid_token\"", "Basic realm=\"school\"",
      "Digest realm=\"school\", nonce=\"n\"", "Bearer",
    ])
  func challenge(scheme: String) async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      request.token == "A2" && request.target == "/materials"
        ? .answer(200) : .answer(401, fields: ["WWW-Authenticate": scheme], body: "{\"why\":1}")
    }
    let session = try await signedIn(bench, server)
    let api = SessionInterceptor(session)
    #expect(status(try await api.data(for: request(server)).1) == 200)
    let (_, last) = try await api.data(for: request(server, "never"))
    #expect(status(last) == 401)
    #expect(server.requests.map(\.token) == ["A1", "A2", "A2", "A3"])
    try await session.close()
  }

  @Test(
    "INT-3 a call whose kept connection drops ends without a reply, and does not hang")
  func dropped() async throws {
    let bench = try CallBench()
    let server = try CallServer { _, place in place == 0 ? .answer(200) : .hangUp }
    let session = try await signedIn(bench, server)
    let api = SessionInterceptor(session)
    #expect(status(try await api.data(for: request(server)).1) == 200)
    var call = request(server, "essays", "POST")
    call.timeoutInterval = 2
    let error = await sessionError { try await api.upload(for: call, from: Data("essay".utf8)) }
    guard case .noReply = error.failure else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(session.isAuthenticated)
    // The refresh has its own connection, and waits for no call.
    #expect(try await session.refresh().generation == Generation(2))
    try await session.close()
  }

  @Test("INT-3 a call ends after its timeout if the server does not answer")
  func silent() async throws {
    let bench = try CallBench()
    let door = DispatchSemaphore(value: 0)
    let server = try CallServer { _, _ in
      door.wait()
      return .hangUp
    }
    let session = try await signedIn(bench, server)
    var call = request(server)
    call.timeoutInterval = 1
    let error = await sessionError { try await SessionInterceptor(session).data(for: call) }
    #expect(error == .noReply("the server did not answer in time"))
    door.signal()
    try await session.close()
  }

  @Test("INT-2 a cancelled call ends at once, even if the server does not answer")
  func cancelled() async throws {
    let bench = try CallBench()
    let door = DispatchSemaphore(value: 0)
    let server = try CallServer { _, _ in
      door.wait()
      return .hangUp
    }
    let session = try await signedIn(bench, server)
    let api = SessionInterceptor(session)
    let call = request(server)
    let task = Task { await sessionError { try await api.data(for: call) } }
    await eventually("it is out") { server.requests.count == 1 }
    task.cancel()
    #expect(await task.value == .cancelled)
    door.signal()
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await sessionError { try await api.data(for: call) }
    }
    #expect(await early.value == .cancelled)
    try await session.close()
  }

  @Test(
    "INT-1 an address without a host is reported as such",
    arguments: ["materials", "mailto:a@school.test", "https:///materials"])
  func nowhere(address: String) async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let url = try #require(URL(string: address))
    let error = await sessionError {
      try await SessionInterceptor(session).data(for: URLRequest(url: url))
    }
    #expect(error == .wrongAddress("the address has no host"))
    try await session.close()
  }

  @Test(
    "INT-3 a call is repeated after a network failure only if allowed and idempotent"
  )
  func attempts() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = CallBench.FakeServer { (_, place) throws(TransportError) in
      if place % 3 != 2 { throw .noReply("lost") }
      return HTTPResponse(status: 200)
    }
    var rules = CallRules()
    rules.attempts = 3
    let calls = session.calls(by: TransportCalls(backend), rules: rules)
    let call = Task { try await calls.send(bench.get()).status }
    for attempt in 1...2 {
      // The session's own timer also sleeps.
      await bench.clock.waitForSleepers(2)
      #expect(backend.authorizations.count == attempt)
      bench.clock.advance(by: .seconds(60))
    }
    #expect(try await call.value == 200)
    #expect(backend.authorizations.count == 3)
    var post = bench.get()
    post.method = "POST"
    await #expect(throws: TransportError.noReply("lost")) { try await calls.send(post) }
    let once = session.calls(by: TransportCalls(backend))
    await #expect(throws: TransportError.noReply("lost")) { try await once.send(bench.get()) }
    #expect(backend.authorizations.count == 5)
    try await session.close()
  }

  @Test("INT-4 a wrapped transport receives the token, and the request's description hides it")
  func behind() async throws {
    final class Logger: HTTPTransport {
      let lines = Mutex<[String]>([])
      let inner = CallBench.FakeServer()

      func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let hasToken = request.header("Authorization") == "Bearer A1"
        lines.withLock { $0.append("\(request) \(request.headers) \(hasToken)") }
        return try await inner.send(request)
      }
    }
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let logger = Logger()
    _ = try await session.calls(by: TransportCalls(logger)).send(bench.get())
    #expect(logger.lines.withLock { $0 } == ["GET /materials [Authorization] true"])
    try await session.close()
  }
}
