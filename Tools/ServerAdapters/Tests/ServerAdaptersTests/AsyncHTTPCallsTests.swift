import Foundation
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Calls by AsyncHTTPClient", .timeLimit(.minutes(2)))
struct AsyncHTTPCallsTests {
  @Test("calls carry the token, share connections, and share one refresh after a refusal")
  func calls() async throws {
    let bench = try Bench()
    let session = try await bench.session()
    let calls = session.calls(by: AsyncHTTPCalls())
    for _ in 0..<5 { #expect(try await calls.send(bench.materials).response.status == 200) }
    #expect(bench.server.connectionCount == 2, "one for the login, one for the calls")
    bench.server.revokeAccessTokens()
    let request = bench.materials
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<50 { group.addTask { try await calls.send(request).response.status } }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.count == 50 && Set(statuses) == [200])
    #expect(bench.server.count(of: .refresh) == 1)
    try await session.close()
  }

  @Test("within its origin a redirect is followed with the token")
  func sameOrigin() async throws {
    let server = try await ScriptedServer { request in
      request.hasPrefix("GET /next ") ? .ok : .redirect(302, to: "/next")
    }
    let answer = try await AsyncHTTPCalls().send(
      HTTPRequest(
        method: "POST", url: try server.url,
        headers: [
          HTTPHeader("Authorization", "Bearer t"), HTTPHeader("Content-Type", "text/plain"),
        ],
        body: Array("hello".utf8)))
    #expect(answer.response.status == 200 && answer.url.path == "/next" && !answer.isForeign)
    let second = try #require(server.requests.last)
    #expect(second.contains("Bearer t"))
    #expect(!second.contains("hello") && !second.lowercased().contains("content-type"))
  }

  @Test("a redirect with 307 repeats method and body within the origin")
  func repeated() async throws {
    let server = try await ScriptedServer { request in
      request.hasPrefix("PUT /next ") ? .ok : .redirect(307, to: "/next")
    }
    let answer = try await AsyncHTTPCalls().send(
      HTTPRequest(method: "PUT", url: try server.url, body: Array("hello".utf8)))
    #expect(answer.response.status == 200)
    #expect(try #require(server.requests.last).hasSuffix("hello"))
  }

  @Test("another origin gets no token, no field of the app and no body, even if it leads back")
  func otherOrigin() async throws {
    let back = Mutex("")
    let other = try await ScriptedServer { _ in .redirect(302, to: back.withLock { $0 }) }
    let home = try await ScriptedServer { request in
      request.hasPrefix("GET /back ") ? .ok : .redirect(302, to: "http://127.0.0.1:\(other.port)/x")
    }
    back.withLock { $0 = "http://127.0.0.1:\(home.port)/back" }
    let client = AsyncHTTPCalls()
    let answer = try await client.send(
      HTTPRequest(
        method: "GET", url: try home.url,
        headers: [
          HTTPHeader("Authorization", "Bearer t"), HTTPHeader("X-Auth-Token", "secret"),
          HTTPHeader("Cookie", "a=b"), HTTPHeader("Accept", "text/plain"),
        ]))
    #expect(answer.response.status == 200 && answer.isForeign)
    #expect(client.status(of: answer) == nil)
    for request in other.requests + home.requests.suffix(1) {
      #expect(request.contains("text/plain"))
      for secret in ["Bearer", "secret", "a=b"] { #expect(!request.contains(secret)) }
    }
    let upload = try await client.send(
      HTTPRequest(method: "PUT", url: try home.url, body: Array("hello".utf8)))
    #expect(upload.response.status == 302, "the body does not go to another origin")
    #expect(other.requests.count == 1)
  }

  @Test("a circle of redirects ends")
  func circle() async throws {
    let server = try await ScriptedServer { _ in .redirect(302, to: "/start") }
    let url = try server.url
    let reason = "the server redirects in a circle, or more than 10 times"
    await #expect(throws: TransportError.noReply(reason)) {
      try await AsyncHTTPCalls().send(HTTPRequest(method: "GET", url: url))
    }
    #expect(server.requests.count == 1)
  }

  @Test("a response that is too large is an error")
  func large() async throws {
    let server = try await ScriptedServer { _ in .ok }
    let url = try server.url
    let error = await #expect(throws: SessionError.self) {
      try await AsyncHTTPCalls(maximumResponseSize: 3).send(HTTPRequest(method: "GET", url: url))
    }
    #expect(error?.code == .invalidResponse)
  }

  @Test("a failure of the network may help if it is tried again; a large response does not")
  func transient() {
    let client = AsyncHTTPCalls()
    #expect(client.isTransient(TransportError.noReply("")))
    #expect(client.isTransient(TransportError.noConnection("")))
    #expect(!client.isTransient(TransportError.notTrusted("")))
    #expect(!client.isTransient(SessionError(.invalidResponse)))
  }
}

extension ScriptedServer.Reply {
  static let ok = Self(bytes: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nokay")

  static func redirect(_ status: Int, to location: String) -> Self {
    Self(bytes: "HTTP/1.1 \(status) Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
  }
}
