import AsyncHTTPClient
import Foundation
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Requests for tokens by AsyncHTTPClient", .timeLimit(.minutes(2)))
struct AsyncHTTPTransportTests {
  private let transport = AsyncHTTPTransport()

  /// Sends a request, and returns the reason why it has no response.
  private func failure(
    _ request: HTTPRequest, by transport: AsyncHTTPTransport? = nil
  ) async -> TransportError? {
    do throws(TransportError) {
      _ = try await (transport ?? self.transport).send(request)
      return nil
    } catch {
      return error
    }
  }

  private func get(_ url: URL, timeout: Duration = .seconds(20)) -> HTTPRequest {
    HTTPRequest(method: "GET", url: url, timeout: timeout)
  }

  @Test("a session logs in, refreshes and logs out, each request on a connection of its own")
  func session() async throws {
    let bench = try Bench()
    let session = try await bench.session()
    try await session.refresh()
    try await session.refresh()
    #expect(try await session.logout() == .success)
    try await session.close()
    #expect(bench.server.calls.map(\.status) == [200, 200, 200, 204])
    #expect(bench.server.connectionCount == 4)
    #expect(bench.server.violations.isEmpty)
  }

  @Test("a server that refuses connections received nothing")
  func refused() async throws {
    let server = try LoopbackServer.start()
    let url = server.baseURL
    server.stop()
    #expect(
      await failure(get(url)) == .noConnection("the server does not accept connections"))
    let named = try #require(URL(string: "http://localhost:\(server.port)/"))
    #expect(
      await failure(get(named)) == .noConnection("the server does not accept connections"))
  }

  @Test("a name that does not exist received nothing")
  func unknownName() async throws {
    let url = try #require(URL(string: "https://no-such-host.invalid/"))
    #expect(await failure(get(url)) == .noConnection("the server's name was not found"))
  }

  @Test("if no secure connection is established, nothing was sent")
  func plainServer() async throws {
    let bench = try Bench()
    let url = try #require(URL(string: "https://127.0.0.1:\(bench.server.port)/"))
    let error = await failure(get(url))
    guard case .noConnection = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(
    "an untrusted certificate is reported as such",
    .enabled(if: SelfSignedServer.isAvailable, "there is no openssl on this machine"))
  func untrusted() async throws {
    let server = try SelfSignedServer()
    defer { server.stop() }
    let url = try #require(URL(string: "https://localhost:\(server.port)/"))
    var error: TransportError?
    // Repeats until the server listens.
    repeat {
      error = await failure(get(url))
      try await Task.sleep(for: .milliseconds(50))
    } while error == .noConnection("the server does not accept connections")
    #expect(error == .notTrusted("the server's certificate is not trusted"))
  }

  @Test("after a lost response the server may have acted")
  func lost() async throws {
    let bench = try Bench()
    let request = HTTPRequest(
      method: "POST", url: bench.server.baseURL.appending(path: "auth/refresh"),
      headers: [HTTPHeader("Content-Type", "application/json")], body: Array("{}".utf8))
    for moment in [LoopbackFault.Moment.beforeActing, .afterActing] {
      bench.server.failNext(.refresh, with: .dropConnection(moment))
      guard case .noReply = await failure(request) else {
        Issue.record("a dropped connection is no noReply")
        return
      }
    }
    bench.server.failNext(.refresh, with: .cutAnswer(afterBytes: 150))
    guard case .noReply = await failure(request) else {
      Issue.record("half a response is no noReply")
      return
    }
    #expect(bench.server.count(of: .refresh) == 3, "no request was repeated")
  }

  @Test(
    "a session journals a lost refresh as noReply, and goes on with the token that it asks for again"
  )
  func lostRefresh() async throws {
    let bench = try Bench()
    bench.server.settings.update {
      ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(60))
    }
    let session = try await bench.session()
    let events = session.events
    bench.server.failNext(.refresh, with: .dropConnection(.afterActing))
    let token = try await session.refresh()
    #expect(token.generation.number == 2 && bench.server.count(of: .refresh) == 2)
    var failures: [RequestFailure] = []
    for try await event in events {
      if case .refreshFailed(let failed) = event.event { failures.append(failed.failure) }
      if case .refreshSucceeded = event.event { break }
    }
    #expect(failures.map(\.kind) == [.noReply])
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test("a connection that ends without a response is lost, and nothing is sent again")
  func closed() async throws {
    for bytes in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
      let server = try await ScriptedServer { _ in .init(bytes: bytes, closes: true) }
      let error = await failure(get(try server.url))
      guard case .noReply = error else {
        Issue.record("\(bytes.debugDescription): \(String(describing: error))")
        return
      }
      #expect(server.requests.count == 1)
    }
  }

  @Test("a redirect is an answer, not followed", arguments: [301, 302, 303, 307, 308])
  func redirect(status: Int) async throws {
    let server = try await ScriptedServer { _ in
      .init(bytes: "HTTP/1.1 \(status) Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
    }
    let response = try await transport.send(get(try server.url))
    #expect(response.status == status && response.header("location") == "/other")
    #expect(server.requests.count == 1)
  }

  @Test("a server that stays silent ends with the time limit, also in the middle of a body")
  func timeLimit() async throws {
    let beginning = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
    for bytes in ["", beginning] {
      let server = try await ScriptedServer { _ in .init(bytes: bytes) }
      let start = ContinuousClock.now
      let error = await failure(get(try server.url, timeout: .milliseconds(300)))
      #expect(error == .noReply("the server did not answer within 0.3 seconds"))
      #expect(ContinuousClock.now - start < .seconds(10))
    }
  }

  @Test("a cancelled request ends at once")
  func cancelled() async throws {
    let server = try await ScriptedServer { _ in .init(bytes: "") }
    let request = get(try server.url)
    let sending = Task { await failure(request) }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
    let start = ContinuousClock.now
    sending.cancel()
    #expect(await sending.value == .cancelled)
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  @Test("of a body with more than 1 MiB one byte more is read")
  func large() async throws {
    let size = 3 << 20
    let server = try await ScriptedServer { _ in
      .init(
        bytes: "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
          + String(repeating: "x", count: size))
    }
    #expect(try await transport.send(get(try server.url)).body.count == (1 << 20) + 1)
  }

  @Test("addresses that no token may go to are refused before a connection")
  func addresses() async throws {
    let bench = try Bench()
    let port = bench.server.port
    for (text, expected) in [
      ("http://example.org/", TransportError.insecure(host: "example.org")),
      ("http://127.0.0.1.example.org/", .insecure(host: "127.0.0.1.example.org")),
      ("ftp://127.0.0.1/", .insecure(host: "127.0.0.1")),
      ("https:///path", .badAddress("the address has no host")),
      (
        "http://ana:word@127.0.0.1:\(port)/",
        .badAddress("the address contains a user name or password, which no URL may contain")
      ),
    ] {
      let url = try #require(URL(string: text))
      #expect(await failure(get(url)) == expected, "\(text)")
    }
    #expect(bench.server.calls.isEmpty)
    let capitals = try #require(URL(string: "HTTP://LocalHost:\(port)/materials"))
    #expect(try await transport.send(get(capitals)).status == 401)
  }

  @Test("a header field with a line break is refused, and nothing was sent")
  func headerField() async throws {
    let bench = try Bench()
    var request = get(bench.server.baseURL)
    request.headers = [HTTPHeader("X-Key", "a\r\nB: c")]
    #expect(
      await failure(request)
        == .badAddress("a header field has a character that is not allowed"))
    #expect(bench.server.calls.isEmpty)
  }

  @Test("the client closes its connections when the transport is released")
  func released() async throws {
    let bench = try Bench()
    do {
      let transport = AsyncHTTPTransport()
      #expect(try await transport.send(bench.materials).status == 401)
    }
    // In a debug build the client traps if it is released while it is running.
    #expect(bench.server.calls.count == 1)
  }
}
