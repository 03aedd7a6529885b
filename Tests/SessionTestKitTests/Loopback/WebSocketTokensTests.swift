import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

/// The port of the server that runs for this test, if there is one.
private let port = ProcessInfo.processInfo.environment["SESSION_WEBSOCKET"].flatMap { UInt16($0) }

/// A connection to a real WebSocket server, which closes it when its token has ended.
///
/// `Tools/thirdparty/run` starts the server (Python's websockets) and runs this test alone, so its calls
/// may block: the server answers at once.
@Suite("A connection that outlives its tokens", .enabled(if: port != nil), .timeLimit(.minutes(5)))
struct WebSocketTokensTests {
  private func connected() throws -> RawClient {
    let client = try RawClient(port: try #require(port))
    try client.send(
      "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
    #expect(try client.reply()?.status == 101)
    return client
  }

  /// A masked frame of RFC 6455 §5.2; the mask of zeros changes no byte.
  private func frame(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    let length =
      bytes.count < 126
      ? [0x80 | UInt8(bytes.count)] : [0xFE, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)]
    return [0x80 | kind] + length + [0, 0, 0, 0] + bytes
  }

  /// Sends a token; returns what the server answers, `ok` or the code of its close.
  ///
  /// A ping is answered.
  private func present(_ token: String, on client: RawClient) throws -> String {
    try client.send(frame(1, Array(token.utf8)))
    return try answer(client)
  }

  private func answer(_ client: RawClient) throws -> String {
    let head = try client.bytes(2)
    let body = try client.bytes(Int(head[1]))
    if head[0] == 0x89 {
      try client.send(frame(10, body))
      return try answer(client)
    }
    guard head[0] == 0x88 else { return String(decoding: body, as: UTF8.self) }
    return "\(Int(body[0]) << 8 | Int(body[1]))"
  }

  @Test("INT-7 a connection lives through 20 token lives, and ends with the logout")
  func lives() async throws {
    let (server, folder) = (try LoopbackServer.start(), try SessionFolder())
    server.settings.update { $0.accessTokenLifetime = .seconds(3) }
    let session = try await Session.open(
      SessionConfiguration(
        directory: folder.url, backend: HTTPBackend.snakeCaseJSON(server.baseURL),
        secrets: MemorySecretStore()))
    try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
    let first = try #require(session.currentToken).plaintext
    // A connection that is given no newer token is closed: the server does what it should.
    let left = try connected()
    #expect(try present(first, on: left) == "ok")

    let client = try connected()
    var answers: [String] = []
    for await token in session.tokens {
      answers.append(try present(token.plaintext, on: client))
      if answers.count == 21 { try await session.logout() }
    }
    #expect(answers == Array(repeating: "ok", count: 21))
    // The sequence has ended with the session, so the app closes the connection.
    try client.send(frame(8, [0x03, 0xE8]))
    #expect(try answer(client) == "1000")
    #expect(try answer(left) == "4401")
    try await session.close()
    server.stop()
  }
}
