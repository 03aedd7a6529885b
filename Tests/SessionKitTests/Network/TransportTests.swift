import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("Transport", .timeLimit(.minutes(10)))
struct TransportTests {
  let server: LoopbackServer
  let wire: HTTPBackend
  let transport = URLSessionTransport()
  let login: HTTPRequest

  init() throws {
    server = try LoopbackServer.start(backend: .edu(users: [.sample]))
    wire = .snakeCaseJSON(server.baseURL)
    login = try #require(wire.loginRequest(.sample))
  }

  private func error(of request: HTTPRequest) async -> TransportError? {
    do throws(TransportError) {
      _ = try await transport.send(request)
      return nil
    } catch {
      return error
    }
  }

  private func isNoReply(_ error: TransportError?) -> Bool {
    if case .noReply = error { true } else { false }
  }

  private func isNoConnection(_ error: TransportError?) -> Bool {
    if case .noConnection = error { true } else { false }
  }

  @Test("LOG-3 REF-4 CTX-1 OUT-1 the four kinds of request work with a real server")
  func wholeLife() async throws {
    let first = try wire.readLogin(try await transport.send(login))
    #expect(first.user?.id.description == LoopbackUser.sample.id)
    #expect(first.context == first.tokenContext)
    #expect(first.serverTime != nil)
    let refresh = try #require(first.refresh)
    let again = try #require(wire.refresh(refresh))
    let second = try wire.readRefresh(try await transport.send(again))
    #expect(second.access != first.access)
    let other = LoopbackContext.coordinator
    let target = ContextTarget(role: Identifier(other.roleID), school: Identifier(other.schoolID))
    let change = try #require(wire.switchContext(target, access: second.access))
    let third = try wire.readSwitch(try await transport.send(change))
    #expect(third.context?.role.id == target.role)
    let revocation = try #require(wire.revoke(access: third.access, refresh: third.refresh))
    let last = try await transport.send(revocation)
    #expect(last.status == 204)
    #expect(last.body.isEmpty)
    try wire.readRevocation(last)
    #expect(server.violations.isEmpty)
    #expect(server.connectionCount == 4)
  }

  @Test("LOG-3 an error status is returned with its header fields and its body")
  func errorStatus() async throws {
    server.failNext(.login, with: .status(503, code: "DB_TIMEOUT", retryAfter: 7))
    let response = try await transport.send(login)
    #expect(response.status == 503)
    #expect(response.header("RETRY-after") == "7")
    #expect(
      throws: AnswerFailure(
        failure: RequestFailure(
          kind: .server, status: 503, serverCode: "DB_TIMEOUT", retryAfter: .seconds(7)))
    ) {
      try wire.readLogin(response)
    }
  }

  @Test("LOG-3 a captive portal's page is unreadable, and not a token")
  func portal() async throws {
    server.failNext(.login, with: .html)
    let response = try await transport.send(login)
    #expect(throws: AnswerFailure.self) { try wire.readLogin(response) }
  }

  @Test("REF-6 a refused connection proves that nothing was sent")
  func refused() async {
    server.stop()
    let error = await error(of: login)
    #expect(isNoConnection(error), "\(String(describing: error))")
  }

  @Test(
    "REF-7 after a dropped connection the server may have acted",
    arguments: [
      LoopbackFault.dropConnection(.beforeActing), .dropConnection(.afterActing),
      .cutAnswer(afterBytes: 0), .cutAnswer(afterBytes: 200),
    ])
  func dropped(fault: LoopbackFault) async {
    server.failNext(.login, with: fault)
    let error = await error(of: login)
    #expect(isNoReply(error), "\(String(describing: error))")
    // The request is not repeated automatically: a repeated refresh would use a rotating token
    // twice.
    #expect(server.count(of: .login) == 1)
  }

  @Test(
    "REF-7 a dropped connection is reported also after a successful exchange, as none is reused")
  func droppedLater() async throws {
    _ = try await transport.send(login)
    server.failNext(.login, with: .cutAnswer(afterBytes: 0))
    #expect(isNoReply(await error(of: login)))
    #expect(server.count(of: .login) == 2)
  }

  @Test("REF-6 a request fails after its timeout if the server does not answer")
  func timeout() async {
    let gate = server.hold(.login)
    var request = login
    request.timeout = .milliseconds(300)
    #expect(
      await error(of: request) == .noReply("the server did not answer within 300 ms"))
    gate.open()
  }

  @Test("REF-6 a timeout below 1 ms counts as 1 ms")
  func noTime() async {
    let gate = server.hold(.login)
    var request = login
    request.timeout = .milliseconds(Int64.min)
    #expect(isNoReply(await error(of: request)))
    gate.open()
  }

  @Test("REF-3 a cancelled caller returns at once, although the server has the request")
  func cancelled() async {
    let gate = server.hold(.login)
    let call = Task { await error(of: login) }
    await server.received(.login)
    call.cancel()
    #expect(await call.value == .cancelled)
    gate.open()
  }

  @Test("REF-3 a caller that was cancelled before sends no request")
  func cancelledBefore() async {
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await error(of: login)
    }
    #expect(await call.value == .cancelled)
    #expect(server.count(of: .login) == 0)
  }

  @Test("STO-4 a redirect is an answer, not followed", arguments: [301, 302, 303, 307, 308])
  func redirect(status: Int) async throws {
    let target = server.baseURL.appendingPathComponent("materials").absoluteString
    // The server has no setting for a Location, so a second line in the content type adds one.
    let type = "text/plain\r\nLocation: \(target)"
    server.failNext(.login, with: .body([], contentType: type, status: status))
    let response = try await transport.send(login)
    #expect(response.status == status)
    #expect(response.header("location") == target)
    #expect(server.count(of: .materials) == 0)
  }

  @Test("LOG-3 a huge body is not read to its end")
  func longBody() async throws {
    let body = [UInt8](repeating: UInt8(ascii: " "), count: 6 << 20)
    server.failNext(.login, with: .body(body))
    let response = try await transport.send(login)
    #expect(response.body.count > 1 << 20)
    #expect(throws: AnswerFailure.self) { try wire.readLogin(response) }
  }

  @Test(
    "STO-4 plain HTTP to another machine is refused before a DNS lookup",
    arguments: [
      "http://school.test", "http://127.0.0.1.evil.test", "http://localhost.evil.test",
      "http://128.0.0.1", "http://127.0.0", "http://127.0.0.256", "http://127.0.0.1@evil.test",
      "http://[::2]", "HTTP://school.test", "ftp://127.0.0.1",
      "ws://127.0.0.1",
    ])
  func insecure(address: String) async throws {
    let url = try #require(URL(string: address))
    let error = await error(of: HTTPRequest(method: "GET", url: url))
    guard case .insecure = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(
    "STO-4 loopback addresses in all spellings are allowed without HTTPS",
    arguments: [
      "http://127.0.0.1:1", "http://127.9.8.7:1", "http://localhost:1", "http://[::1]:1",
      "HTTP://LOCALHOST:1", "https://127.0.0.1:1",
    ])
  func loopback(address: String) async throws {
    let url = try #require(URL(string: address))
    let error = await error(of: HTTPRequest(method: "GET", url: url))
    #expect(isNoConnection(error), "\(String(describing: error))")
  }

  @Test("STO-4 a scheme in capitals is the same scheme")
  func capitals() async throws {
    var request = login
    request.url = try #require(URL(string: "HTTP://127.0.0.1:\(server.port)/auth/login?a=%20b"))
    #expect(try await transport.send(request).status == 200)
  }

  @Test("REF-4 STO-3 an address with a password in it is refused before anything is sent")
  func userInfo() async throws {
    let port = server.port
    let url = try #require(URL(string: "http://canary:canary-word@127.0.0.1:\(port)/auth/refresh"))
    let error = await error(of: HTTPRequest(method: "POST", url: url))
    guard case .badAddress = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!String(describing: error).contains("canary"))
    #expect(server.calls.isEmpty)
  }

  @Test(
    "STO-4 an address without a host is reported as such",
    arguments: ["x", "file:///etc/passwd", "https:///auth/login", "mailto:a@school.test"])
  func noHost(address: String) async throws {
    let url = try #require(URL(string: address))
    for transport in [transport, URLSessionTransport(allowsInsecure: true)] {
      await #expect(throws: TransportError.badAddress("the address has no host")) {
        try await transport.send(HTTPRequest(method: "GET", url: url))
      }
    }
    #expect("\(TransportError.insecure(host: ""))" == "nothing was sent: the address has no host")
  }

  @Test("STO-4 plain HTTP can be allowed, and other schemes cannot")
  func allowed() async throws {
    let open = URLSessionTransport(allowsInsecure: true)
    let other = try #require(URL(string: "ftp://127.0.0.1/etc/passwd"))
    await #expect(throws: TransportError.insecure(host: "127.0.0.1")) {
      try await open.send(HTTPRequest(method: "GET", url: other))
    }
    #expect(try await open.send(login).status == 200)
  }
}
