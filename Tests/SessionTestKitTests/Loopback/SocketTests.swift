import Testing

@testable import SessionTestKit

/// The parts of the server that cannot be tested from outside.
@Suite struct SocketTests {
  @Test func writingToAClosedPeerFailsAndKillsNobody() throws {
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

  @Test func aConnectionReadsNoFurtherWhileItsRequestIsHeld() throws {
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

  @Test func anAnswerIsFramedAsItsMethodAndStatusWant() {
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
