import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import Testing

@testable import SessionTestKit

/// Complete requests through `URLSession`: each endpoint and each setting.
@Suite
struct LoopbackEndpointTests {
  private let server: LoopbackServer
  private let client: WebClient

  init() throws {
    server = try LoopbackServer.start(clock: { Timestamp(milliseconds: 1_700_000_000_000) })
    client = WebClient(server)
  }

  @Test
  func aWholeSession() async throws {
    let signedIn = try await client.login().tokens
    #expect(try await client.materials(signedIn.accessToken).status == 200)
    let refreshed = try await client.refresh(signedIn.refreshToken).tokens
    #expect(refreshed.accessToken != signedIn.accessToken)
    let switched = try await client.send(
      "POST", "auth/switch-context",
      [
        "role_id": LoopbackContext.teacher.roleID, "school_id": LoopbackContext.teacher.schoolID,
        "academic_unit_id": LoopbackContext.teacher.unit?.id ?? "",
      ], bearer: refreshed.accessToken
    ).tokens
    #expect(switched.context?.roleName == "teacher")
    let out = try await client.send(
      "POST", "auth/logout", ["refresh_token": switched.refreshToken ?? ""],
      bearer: switched.accessToken)
    #expect(out.status == 204 && out.body.isEmpty)
    let refused = try await client.materials(switched.accessToken)
    #expect(try refused.status == 401 && refused.code == "TOKEN_REVOKED")
    #expect(try await client.send("GET", "nowhere").status == 404)

    #expect(
      server.calls.map(\.endpoint) == [
        .login, .materials, .refresh, .switchContext, .logout, .materials, .other,
      ])
    #expect(server.calls.map(\.status) == [200, 200, 200, 200, 204, 401, 404])
    #expect(server.calls.map(\.number) == Array(1...7))
    #expect(server.calls.map(\.accessToken) == [nil, 1, nil, 2, 3, 3, nil])
    #expect(server.calls.map(\.refreshToken) == [nil, nil, 1, nil, 2, nil, nil])
    #expect(server.calls[0].headers["content-type"] == "application/json")
    #expect(server.violations.isEmpty)
    for endpoint in LoopbackEndpoint.allCases {
      #expect(server.count(of: endpoint) == server.calls.count { $0.endpoint == endpoint })
    }
  }

  /// With a client of one connection: `URLSession` reuses its connections at unpredictable times.
  @Test
  func sequentialCallsShareOneConnection() async throws {
    let (server, port) = (server, server.port)
    let (connections, rest) = try await onThread {
      let client = try RawClient(port: port)
      func get() throws -> String? {
        try client.send("GET /materials HTTP/1.1\r\nHost: h\r\n\r\n")
        return try client.reply()?.header("connection")
      }
      var connections = try (0..<5).map { _ in try get() }
      server.settings.update { $0.keepsConnections = false }
      connections.append(try get())
      return (connections, try client.rest())
    }
    #expect(connections == [nil, nil, nil, nil, nil, "close"])
    // The first response after the new setting ends the connection.
    #expect(rest.isEmpty)
    #expect(server.connectionCount == 1)
    for _ in 0..<2 { #expect(try await client.materials("x").status == 401) }
    #expect(server.calls.map(\.connection) == [1, 1, 1, 1, 1, 1, 2, 3])
  }

  @Test
  func everyAnswerHasTheSkewedDate() async throws {
    #expect(
      try await client.send("GET", "nowhere").headers["date"] == "Tue, 14 Nov 2023 22:13:20 GMT")
    server.settings.update { $0.clockSkew = .seconds(-3600) }
    let reply = try await client.login()
    #expect(reply.headers["date"] == "Tue, 14 Nov 2023 21:13:20 GMT")
    #expect(try reply.tokens.claims().iat == 1_700_000_000 - 3600)
  }

  @Test
  func latencyPostponesTheAct() async throws {
    let signedIn = try await client.login().tokens
    server.settings.update { $0.latency = .seconds(3600) }
    let call = Task { try await client.materials(signedIn.accessToken) }
    await server.received(.materials)
    #expect(server.calls.last?.outcome == .waiting)
    call.cancel()
    _ = await call.result
    server.settings.update { $0.latency = .milliseconds(20) }
    #expect(try await client.materials(signedIn.accessToken).status == 200)
  }

  @Test
  func revokedTokensAreRefused() async throws {
    let signedIn = try await client.login().tokens
    server.revokeAccessTokens()
    #expect(try await client.materials(signedIn.accessToken).code == "TOKEN_REVOKED")
    let refreshed = try await client.refresh(signedIn.refreshToken).tokens
    #expect(try await client.materials(refreshed.accessToken).status == 200)
    server.revokeAllTokens()
    #expect(try await client.materials(refreshed.accessToken).status == 401)
    #expect(try await client.refresh(signedIn.refreshToken).code == "TOKEN_REVOKED")
    #expect(try await client.login().status == 200)
  }

  @Test
  func aChangedUserShowsInTheNextToken() async throws {
    let signedIn = try await client.login().tokens
    let changed = server.updateUser(LoopbackUser.sample.id) { user in
      user.contexts[0].permissions = ["materials:read"]
      user.password = "another-horse-1"
    }
    #expect(changed)
    let refreshed = try await client.refresh(signedIn.refreshToken).tokens
    #expect(try refreshed.claims().activeContext?.permissions == ["materials:read"])
    #expect(try await client.login().code == "INVALID_CREDENTIALS")
    #expect(server.secrets.contains("another-horse-1"))
    #expect(!server.updateUser("nobody") { $0.password = "x" })
  }

  @Test
  func aRefreshWithAuthorizationIsAViolation() async throws {
    let signedIn = try await client.login().tokens
    let reply = try await client.send(
      "POST", "auth/refresh", ["refresh_token": signedIn.refreshToken ?? ""],
      bearer: signedIn.accessToken)
    #expect(try reply.status == 400 && reply.code == "INVALID_REQUEST")
    #expect(server.violations.map(\.violation) == [.authorizationOnRefresh])
    #expect(server.violations.first?.hasAuthorization == true)
  }

  @Test
  func theLogHoldsNoSecretAndTheSecretsAreAllThere() async throws {
    let signedIn = try await client.login().tokens
    _ = try await client.send(
      "POST", "auth/login", ["email": "typo@school.test", "password": "mistyped-1"])
    _ = try await client.materials("A.stolen.token")
    _ = try await client.send("GET", "reset/Secret42-in-the-path")
    server.failNext(.refresh, with: .patch(["access_token": "patched-token"]))
    server.failNext(.refresh, with: .body(Array(#"{"refresh_token":"raw-token"}"#.utf8)))
    let expected = try [
      LoopbackUser.sample.email, LoopbackUser.sample.password, "typo@school.test", "mistyped-1",
      "A.stolen.token", "patched-token", "raw-token", #require(signedIn.accessToken),
      #require(signedIn.refreshToken),
    ]
    #expect(server.secrets.isSuperset(of: expected))
    #expect(!server.secrets.contains(""))
    var text = server.log + "\(server.calls)"
    dump(server.calls, to: &text)
    dump(server, to: &text)
    for secret in server.secrets.union(["Secret42"]) { #expect(!text.contains(secret)) }
    #expect(server.log.contains("#1 conn 1 POST /auth/login → 200\n"))
    #expect(server.log.contains("access#0 → 401 TOKEN_INVALID"))
    #expect(server.log.contains("GET /reset/… → 404"))
  }
}

@Suite
struct LoopbackTokenTests {
  @Test
  func aTokenIsThreePartsOfUnpaddedBase64URL() throws {
    let token = LoopbackToken.make(claims: ["sub": "ü?>", "exp": 12])
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    #expect(parts.count == 3)
    #expect(try decoded(parts[0]) == #"{"alg":"HS256","typ":"JWT"}"#)
    #expect(try decoded(parts[1]) == #"{"exp":12,"sub":"ü?>"}"#)
    #expect(parts[2].count == 43)
    #expect(!token.contains("=") && !token.contains("+") && !token.contains("/"))
    #expect(token == LoopbackToken.make(claims: ["exp": 12, "sub": "ü?>"]))
    #expect(token != LoopbackToken.make(claims: ["exp": 13, "sub": "ü?>"]))
  }

  @Test
  func base64URLAgreesWithFoundation() {
    var stream = ByteStream(seed: 7)
    for length in 0..<70 {
      let bytes = stream.take(length)
      let expected = Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
        .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
      #expect(LoopbackToken.base64URL(bytes) == expected)
    }
  }

  @Test
  func identifiersAreCanonicalVersion4() throws {
    var stream = ByteStream(seed: 1)
    let texts = (0..<100).map { _ in stream.uuid() }
    #expect(Set(texts).count == 100)
    for text in texts {
      let uuid = try #require(UUID(uuidString: text))
      #expect(uuid.uuidString.lowercased() == text)
      #expect(uuid.uuid.6 >> 4 == 4 && uuid.uuid.8 >> 6 == 2)
    }
  }

  @Test
  func dateIsWrittenAsTheRFCWantsIt() {
    #expect(Timestamp(milliseconds: 784_111_777_999).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(Timestamp(milliseconds: 0).httpDate == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(Timestamp(milliseconds: -1).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(Timestamp(milliseconds: 951_782_400_000).httpDate == "Tue, 29 Feb 2000 00:00:00 GMT")
    #expect(Timestamp(milliseconds: 4_107_542_400_000).httpDate == "Mon, 01 Mar 2100 00:00:00 GMT")
  }

  @Test
  func jsonTextEscapesWhatItMust() throws {
    let value: WireValue = [
      "b": ["\"\\\n\u{1}é", 1, -2.5, true, nil], "a": .double(.nan), "c": [:],
    ]
    let text = String(decoding: value.bytes, as: UTF8.self)
    #expect(text == #"{"a":null,"b":["\"\\\n\u0001é",1,-2.5,true,null],"c":{}}"#)
    _ = try JSONSerialization.jsonObject(with: Data(value.bytes))
  }

  private func decoded(_ part: Substring) throws -> String {
    var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(
      of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return String(decoding: try #require(Data(base64Encoded: text)), as: UTF8.self)
  }
}

/// The parts of the server that cannot be tested from outside.
@Suite
struct SocketTests {
  @Test
  func writingToAClosedPeerFailsAndKillsNobody() throws {
    let (reader, writer) = try Socket.pair()
    reader.close()
    defer { writer.close() }
    for _ in 0..<2 {
      guard case .failed = writer.write([1]) else {
        Issue.record("a write went through")
        return
      }
    }
  }

  @Test
  func aConnectionReadsNoFurtherWhileItsRequestIsHeld() throws {
    let (client, socket) = try Socket.pair()
    let (ringing, ringer) = try Socket.pair()
    defer {
      client.close()
      ringing.close()
    }
    let bell = Wakeup(writer: ringer)
    defer { bell.remove() }
    let desk = LoopbackMailbox(backend: .edu(), bell: bell) { 0 }
    let gate = desk.change { $0.gates.close(.other, at: .beforeActing) }
    var connection = LoopbackConnection(socket, number: 1, desk: desk)
    defer { connection.close() }

    #expect(connection.wantsToRead)
    _ = client.write("GET /a HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    connection.work(isReadable: true, at: 0)
    #expect(!connection.wantsToRead && !connection.wantsToWrite && connection.wakes == nil)
    desk.openGate(gate)
    connection.work(isReadable: false, at: 0)
    #expect(connection.wantsToRead && !connection.isClosed)
    guard case .bytes(let bytes) = client.read() else {
      Issue.record("there is no answer")
      return
    }
    #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("HTTP/1.1 404 Not Found\r\n"))
  }

  @Test
  func anAnswerIsFramedAsItsMethodAndStatusWant() {
    func text(_ response: SentResponse, _ method: String, closing: Bool = false) -> String {
      String(decoding: response.bytes(answering: method, closing: closing), as: UTF8.self)
    }
    let fields = [HTTPField("retry-after", "3")]
    let busy = SentResponse(status: 503, fields: fields, body: Array("no".utf8))
    let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\nContent-Length: 2\r\n"
    #expect(text(busy, "GET") == head + "\r\nno")
    #expect(text(busy, "HEAD") == head + "\r\n")
    #expect(text(busy, "GET", closing: true) == head + "Connection: close\r\n\r\nno")
    #expect(text(SentResponse(status: 204), "POST") == "HTTP/1.1 204 No Content\r\n\r\n")
    #expect(text(SentResponse(status: 299), "GET").hasPrefix("HTTP/1.1 299 Status\r\n"))
  }
}
