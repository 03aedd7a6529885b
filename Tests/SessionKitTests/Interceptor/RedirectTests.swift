import Foundation
import SessionHTTP
import SessionKit
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("Redirects of protected calls, by URLSession over sockets", .timeLimit(.minutes(5)))
struct RedirectTests {
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

  @Test(
    "STO-4 INT-1 a redirect to another origin carries no token, and its 401 is returned",
    arguments: [301, 302, 303, 307, 308])
  func redirectElsewhere(status code: Int) async throws {
    let bench = try CallBench()
    let other = try CallServer { _, _ in .answer(401) }
    let address = other.url.appending(path: "elsewhere").absoluteString
    let server = try CallServer { _, _ in .answer(code, fields: ["Location": address]) }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    let (_, response) = try await api.data(for: request(server))
    #expect(status(response) == 401)
    #expect(server.authorizations == ["Bearer A1"])
    #expect(other.authorizations == [nil])
    #expect(bench.service.refreshCount == 0)
    // The caller's own Authorization is not sent there either.
    var own = request(server)
    own.setValue("Basic eA==", forHTTPHeaderField: "Authorization")
    _ = try await api.data(for: own)
    #expect(server.authorizations.last == "Basic eA==")
    #expect(other.authorizations == [nil, nil])
    try await session.close()
  }

  @Test("INT-1 a redirect within the origin keeps the token")
  func redirectHome() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      request.target == "/materials"
        ? .answer(302, fields: ["Location": "/elsewhere?page=2"])
        : .answer(request.token == "A2" ? 200 : 401)
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    #expect(status(try await api.data(for: request(server)).1) == 200)
    #expect(
      server.requests.map { "\($0.target) \($0.token ?? "none")" } == [
        "/materials A1", "/elsewhere?page=2 A1", "/materials A2", "/elsewhere?page=2 A2",
      ])
    try await session.close()
  }

  @Test(
    "INT-3 a redirect that keeps the method keeps the body, also when the call is repeated",
    arguments: [307, 308], ["memory", "file", "request"])
  func body(status code: Int, place: String) async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      request.target == "/essays"
        ? .answer(code, fields: ["Location": "/elsewhere"])
        : .answer(request.token == "A2" ? 201 : 401)
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    var call = request(server, "essays", "POST")
    call.timeoutInterval = 10
    let answer = try await bench.send(call, body, from: place, by: api)
    #expect(status(answer.1) == 201)
    #expect(
      server.requests.map { "\($0.method) \($0.target) \($0.token ?? "none")" } == [
        "POST /essays A1", "POST /elsewhere A1", "POST /essays A2", "POST /elsewhere A2",
      ])
    // One by one, as a failed comparison of large bodies would take minutes to print.
    for request in server.requests {
      let isWhole = Data(request.body) == body
      #expect(isWhole, "\(request.body.count) bytes came to \(request.target)")
    }
    try await session.close()
  }

  @Test("INT-3 a redirect that needs a second copy of a stream is returned to the caller")
  func stream() async throws {
    let bench = try CallBench()
    let server = try CallServer { _, _ in .answer(308, fields: ["Location": "/elsewhere"]) }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    var call = request(server, "essays", "POST")
    call.timeoutInterval = 10
    call.httpBodyStream = InputStream(data: Data("once".utf8))
    #expect(status(try await SessionInterceptor(session).data(for: call).1) == 308)
    #expect(server.requests.map(\.target) == ["/essays"])
    try await session.close()
  }

  @Test("INT-3 a 303 redirect is followed by a GET without the body")
  func seeOther() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      request.target == "/essays" ? .answer(303, fields: ["Location": "/elsewhere"]) : .answer(200)
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    var call = request(server, "essays", "POST")
    call.timeoutInterval = 10
    let (_, response) = try await SessionInterceptor(session).upload(
      for: call, from: Data("essay".utf8))
    #expect(status(response) == 200)
    #expect(server.requests.map(\.method) == ["POST", "GET"])
    #expect(server.requests.last?.body.isEmpty == true)
    try await session.close()
  }
}
