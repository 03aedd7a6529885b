import Foundation
import SessionHTTP
import SessionKit
import Testing

@Suite("Unusual HTTP responses", .timeLimit(.minutes(10)))
struct OddAnswerTests {
  private func send(_ answer: String) async throws(TransportError) -> HTTPResponse {
    let server: CallServer
    do { server = try CallServer { _, _ in .raw(answer) } } catch {
      throw .noConnection("\(error)")
    }
    defer { withExtendedLifetime(server) {} }
    guard let url = URL(string: "http://127.0.0.1:\(server.port)/") else {
      throw .noConnection("no address")
    }
    let wire = HTTPBackend.snakeCaseJSON(url)
    guard var request = wire.refresh(Secret("rt")) else { throw .noConnection("no refresh") }
    request.timeout = .seconds(20)
    return try await URLSessionTransport().send(request)
  }

  private func error(_ answer: String) async -> TransportError? {
    do throws(TransportError) {
      _ = try await send(answer)
      return nil
    } catch { return error }
  }

  @Test(
    "REF-7 a response that is not HTTP does not prove that nothing was sent",
    arguments: ["SSH-2.0-OpenSSH\r\n", "220 mail.school.test ESMTP\r\n", "\r\n\r\n", "\u{15}\u{3}"])
  func notHTTP(answer: String) async {
    let error = await error(answer)
    guard case .noReply(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!reason.contains { $0.isNumber }, "\(reason)")
    #expect(reason != "the server did not answer within 20000 ms")
  }

  @Test(
    "REF-6 a 401 with an authentication challenge is returned as the response",
    arguments: [
      "Basic realm=\"school\"", "Basic realm=school", "Digest realm=\"s\", nonce=\"n\"",
      "Bearer realm=\"school\"", "Negotiate", "Basic", "",
    ])
  func challenge(scheme: String) async throws {
    let body = #"{"error":{"code":"TOKEN_EXPIRED"}}"#
    let response = try await send(
      "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: \(scheme)\r\nX-Note: 1\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(response.status == 401)
    #expect(response.header("x-note") == "1")
    #expect(response.body == Array(body.utf8))
    let url = try #require(URL(string: "http://127.0.0.1/"))
    do throws(AnswerFailure) {
      _ = try HTTPBackend.snakeCaseJSON(url).readRefresh(response)
      Issue.record("it was read")
    } catch {
      #expect(
        error.failure == RequestFailure(kind: .rejected, status: 401, serverCode: "TOKEN_EXPIRED"))
    }
  }

  @Test(
    "STO-4 a redirect without a target is returned as the response",
    arguments: [300, 301, 302, 303, 304, 307, 308])
  func redirect(status: Int) async throws {
    for rest in ["Content-Length: 0\r\n\r\n", "Content-Length: 2\r\nLocation: \r\n\r\n{}"] {
      let response = try await send("HTTP/1.1 \(status) Somewhere\r\nX-Note: 1\r\n\(rest)")
      #expect(response.status == status)
      #expect(response.header("x-note") == "1")
    }
  }

  @Test(
    "REF-7 the error of a lost connection has words and no numbers",
    arguments: [
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{", "",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func lost(answer: String) async {
    let error = await error(answer)
    guard case .noReply(let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(!reason.contains { $0.isNumber || $0 == "(" }, "\(reason)")
  }
}
