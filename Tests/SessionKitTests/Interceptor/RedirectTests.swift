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
    own.setValue("a=1", forHTTPHeaderField: "Cookie")
    _ = try await api.data(for: own)
    #expect(other.requests.last?.fields["cookie"] == nil)
    #expect(server.authorizations.last == "Basic eA==")
    #expect(other.authorizations == [nil, nil])
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

  @Test(
    "INT-8 STO-4 a redirect leads where its Location says, and the token stays within the origin",
    arguments: CallTables.locations)
  func location(row: CallTables.Row) async throws {
    let address = URIReference.address(ofLocation: row[0], at: "http://a.test/b/c/d;p?q")
    #expect(address ?? "nothing" == row[1])
    let location = SharedValue("")
    let other = try CallServer { _, _ in .answer(200) }
    let server = try CallServer { _, place in
      place > 0 ? .answer(200) : .answer(302, fields: ["Location": location.value ?? ""])
    }
    // Nothing listens at the third address.
    let hosts = [
      "a.test": "127.0.0.1:\(server.port)", "g.test": "127.0.0.1:\(other.port)",
      "s.test": "127.0.0.1:1",
    ]
    let real = hosts.reduce(row[0]) { $0.replacingOccurrences(of: $1.key, with: $1.value) }
    location.value = real
    let bench = try CallBench()
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    let call = URLRequest(url: try #require(URL(string: "\(server.url)/b/c/d;p?q")))
    var expected = ["GET /b/c/d;p?q Bearer A1"]
    let isCircle = row[0] == "#s"
    if isCircle || row[1].hasPrefix("https") {
      let error = await sessionError { try await api.data(for: call) }
      #expect(error?.isOfNetwork == true)
    } else {
      #expect(status(try await api.data(for: call).1) == (row[1] == "nothing" ? 302 : 200))
    }
    let lines = { (server: CallServer) in
      server.requests.map { "GET \($0.target) \($0.fields["authorization"] ?? "none")" }
    }
    let target = row[1].prefix { $0 != "#" }.dropFirst("http://a.test".count)
    let place = target.isEmpty ? "/" : target
    if row[1].hasPrefix("http://a.test"), !isCircle { expected.append("GET \(place) Bearer A1") }
    #expect(lines(server) == expected)
    #expect(lines(other) == (row[1].hasPrefix("http://g.test") ? ["GET \(place) none"] : []))
    try await session.close()
  }

  @Test(
    "INT-8 INT-3 a redirect keeps or changes the method as in the table",
    arguments: CallTables.methods)
  func method(row: CallTables.Row) async throws {
    let bench = try CallBench()
    let code = SharedValue(0)
    let server = try CallServer { request, _ in
      request.target == "/new"
        ? .answer(200) : .answer(code.value ?? 0, fields: ["Location": "/new"], body: "")
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    let list = { (cell: String) in cell.components(separatedBy: ", ") }
    let methods =
      row[1] == "all" ? ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] : list(row[1])
    var expected: [String] = []
    for status in list(row[0]).compactMap({ Int($0) }) {
      code.value = status
      for method in methods {
        var call = request(server, "old", method)
        call.timeoutInterval = 10
        let hasBody = method != "GET" && method != "HEAD"
        if hasBody {
          call.httpBody = Data("essay".utf8)
          call.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        }
        let next: String? =
          switch row[2] {
          case "nothing": nil
          case "GET without the body": "GET"
          default: method
          }
        let content = hasBody ? "text/plain essay" : "none "
        expected.append("\(method) /old \(content)")
        if let next {
          expected.append("\(next) /new \(row[2].hasPrefix("GET") ? "none " : content)")
        }
        #expect(self.status(try await api.data(for: call).1) == (next == nil ? status : 200))
      }
    }
    let found = server.requests.map {
      "\($0.method) \($0.target) \($0.fields["content-type"] ?? "none") "
        + String(decoding: $0.body, as: UTF8.self)
    }
    #expect(found == expected)
    try await session.close()
  }

  @Test("INT-8 redirects in a circle and endless ones end, and no POST is repeated")
  func circles() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, place in
      switch request.target {
      case "/path": .answer(307, fields: ["Location": "/path/"])
      case "/path/": .answer(308, fields: ["Location": "../path"])
      case "/self": .answer(307, fields: ["Location": ""], body: "")
      case "/again": .answer(307, fields: ["Location": "#top"])
      case "/cookie" where place == 0:
        .answer(302, fields: ["Location": "cookie", "Set-Cookie": "a=1"])
      case "/cookie" where place == 1: .answer(302, fields: ["Location": "check"])
      case "/check": .answer(302, fields: ["Location": "cookie"])
      case "/cookie": .answer(200)
      default: .answer(307, fields: ["Location": "\(request.target)0"])
      }
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    #expect(status(try await api.data(for: request(server, "cookie")).1) == 200)
    #expect(server.requests.count == 4)
    #expect(status(try await api.data(for: request(server, "self", "POST")).1) == 307)
    for (path, targets) in [
      ("path", ["/path", "/path/"]), ("again", ["/again"]),
      ("n", (0...10).map { "/n" + String(repeating: "0", count: $0) }),
    ] {
      let before = server.requests.count
      let error = await sessionError {
        try await api.upload(for: request(server, path, "POST"), from: Data("{}".utf8))
      }
      #expect(error?.code == .noReply)
      #expect(error?.description.contains("\(targets[0])/") == false, "a server's address")
      #expect(server.requests[before...].map(\.target) == targets)
    }
    let text = URIReference.address(ofLocation: "y", at: "http://a.test/x#part")
    #expect(text == "http://a.test/y#part")
    #expect(URIReference.address(ofLocation: "/a\r\nb", at: "http://a.test/") == nil)
    #expect(URIReference.address(ofLocation: "//[::1]:8080/x", at: "http://a.test/") != nil)
    for (location, isFollowed) in [("//g.test/x", true), ("http://a.test/x", false)] {
      let address = URIReference.address(
        ofLocation: location, at: "https://a.test/", isFollowed: true)
      #expect((address != nil) == isFollowed, "no body in the clear after HTTPS")
    }
    try await session.close()
  }
}
