import Foundation
import SessionTestKit
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The limits of a response to a call, over sockets", .timeLimit(.minutes(5)))
struct CallLimitTests {
  private func rules(bytes: Int? = nil, duration: Duration? = nil) -> CallRules {
    var rules = CallRules()
    (rules.maximumResponseSize, rules.timeout) = (bytes, duration)
    return rules
  }

  /// A session whose calls go to their own server.
  private struct Scene {
    let bench: CallBench
    let server: CallServer
    let session: Session

    init(
      _ answer: @escaping @Sendable (CallServer.Request, Int) -> CallServer.Reply
    ) async throws {
      let (bench, server) = (try CallBench(), try CallServer(answer))
      (self.bench, self.server) = (bench, server)
      session = try await bench.signedIn { $0.baseURL = server.url }
    }

    var call: URLRequest { URLRequest(url: server.url.appending(path: "materials")) }
  }

  /// A response that sends one byte at a time until `door` is open or the client has gone.
  ///
  /// The server ends it after 30 seconds, so that a test fails if its limit does not work.
  private static func drip(_ door: SharedValue<Bool>) -> CallServer.Reply {
    .stream(200, fields: ["Content-Length": "1000000"]) { send in
      for _ in 0..<600 where door.value != true {
        guard send([65]) else { return }
        usleep(50_000)
      }
    }
  }

  @Test("INT-6 the size limit counts the bytes of a response after decompression")
  func decompressed() async throws {
    let bomb = GzipBomb.small
    let scene = try await Scene { _, _ in bomb.reply }
    let exact = SessionInterceptor(scene.session, rules: rules(bytes: bomb.size))
    #expect(try await exact.data(for: scene.call).0 == Data(count: bomb.size))
    let short = SessionInterceptor(scene.session, rules: rules(bytes: bomb.size - 1))
    let error = await sessionError { try await short.data(for: scene.call) }
    #expect(error.isExactly(.responseTooLarge(call: "GET /materials", limit: bomb.size - 1)))
    #expect(scene.session.isAuthenticated)
    try await scene.session.close()
  }

  @Test("INT-6 a gzip bomb ends the call at its limit")
  func bomb() async throws {
    let bomb = GzipBomb.large
    let scene = try await Scene { _, _ in bomb.reply }
    let api = SessionInterceptor(scene.session, rules: rules(bytes: 1 << 20))
    let error = await sessionError { try await api.data(for: scene.call) }
    #expect(error.isExactly(.responseTooLarge(call: "GET /materials", limit: 1 << 20)))
    #expect(CallRules().maximumResponseSize == 16 << 20)
    #expect(CallRules().timeout == .seconds(600))
    let line = api.calls.carrier.line
    await eventually("the exchange is over") { line.callCount == 0 }
    try await scene.session.close()
  }

  @Test("INT-6 an exchange holds at most as many bytes as the limit, and none after exceeding it")
  func held() async throws {
    let request = URLRequest(url: try #require(URL(string: "https://api.school.test/materials")))
    let exchange = CallExchange(URLSessionCalls.Call(request: request), limit: 10)
    #expect(exchange.received(Data(count: 4)))
    #expect(exchange.received(Data(count: 6)))
    #expect(exchange.heldBytes == 10)
    #expect(!exchange.received(Data(count: 1)))
    #expect(exchange.heldBytes == 0)
    #expect(!exchange.received(Data(count: 1)))
    #expect(exchange.heldBytes == 0)
  }

  @Test(
    "INT-6 a slow response ends at the shorter timeout of the rules and of the configuration",
    arguments: [(1.5, 604_800), (60, 1.5), (nil, 1.5)] as [(Double?, Double)])
  func drip(ofRules: Double?, ofConfiguration: Double) async throws {
    let door = SharedValue(false)
    let scene = try await Scene { _, _ in Self.drip(door) }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForResource = ofConfiguration
    let api = SessionInterceptor(
      scene.session, configuration: configuration,
      rules: rules(duration: ofRules.map { .seconds($0) }))
    let error = await sessionError { try await api.data(for: scene.call) }
    #expect(error.isExactly(.responseTooSlow(call: "GET /materials", limit: .milliseconds(1_500))))
    #expect(api.calls.carrier.line.callCount <= 1)
    #expect(scene.session.isAuthenticated)
    door.value = true
    try await scene.session.close()
  }

  @Test("INT-6 a call and its redirects share one timeout")
  func redirects() async throws {
    let door = SharedValue(false)
    let scene = try await Scene { request, _ in
      request.target == "/materials"
        ? .answer(307, fields: ["Location": "/drip"]) : Self.drip(door)
    }
    let api = SessionInterceptor(scene.session, rules: rules(duration: .milliseconds(1_500)))
    var post = scene.call
    post.httpMethod = "POST"
    let error = await sessionError { try await api.upload(for: post, from: Data("{}".utf8)) }
    #expect(error.failure == .responseTooSlow)
    door.value = true
    try await scene.session.close()
  }

  @Test("INT-6 a response of any size is read if there are no limits")
  func unlimited() async throws {
    let bomb = GzipBomb.small
    let scene = try await Scene { _, _ in bomb.reply }
    let api = SessionInterceptor(scene.session, rules: rules())
    #expect(try await api.data(for: scene.call).0.count == bomb.size)
    try await scene.session.close()
  }

  @Test("INT-6 a response of exactly 1 MiB to a call by a token transport is read")
  func largestByTransport() async throws {
    struct Fixed: HTTPTransport {
      let size: Int
      func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        HTTPResponse(status: 200, body: [UInt8](repeating: 32, count: size))
      }
    }
    let request = HTTPRequest(
      method: "GET", url: try #require(URL(string: "https://api.school.test/materials")))
    let response = try await TransportCalls(Fixed(size: 1 << 20)).send(request)
    #expect(response.body.count == 1 << 20)
    await #expect(throws: SessionError.self) {
      try await TransportCalls(Fixed(size: (1 << 20) + 1)).send(request)
    }
  }

  @Test("INT-6 LOG-3 a request of the session itself reads little of a gzip bomb")
  func ownRequest() async throws {
    let server = try CallServer { _, _ in GzipBomb.large.reply }
    let response = try await URLSessionTransport().send(
      HTTPRequest(method: "POST", url: server.url.appending(path: "auth/login")))
    #expect(response.body.count > 1 << 20)
    #expect(response.body.count < 2 << 20)
  }

  @Test(
    "INT-6 LOG-3 a request of the session itself ends at its timeout while the response is slow")
  func ownDrip() async throws {
    let door = SharedValue(false)
    let server = try CallServer { _, _ in Self.drip(door) }
    await #expect(throws: TransportError.noReply("the server did not answer within 1500 ms")) {
      try await URLSessionTransport().send(
        HTTPRequest(
          method: "POST", url: server.url.appending(path: "auth/login"),
          timeout: .milliseconds(1_500)))
    }
    door.value = true
  }

  @Test("INT-6 the errors say what happened, what it means and what to do")
  func words() {
    #expect(
      SessionError.responseTooLarge(call: "GET /a", limit: 7).description
        == "The response to GET /a has more than 7 bytes, so the rest was not read. The server may "
        + "have acted on the request, and the session is unchanged. Request less data at a time, "
        + "or raise the limit (CallRules.maximumResponseSize).")
    #expect(
      SessionError.responseTooSlow(call: "GET /a", limit: .seconds(7)).description
        == "The response to GET /a was not complete after 7.0 seconds. The server may have acted on "
        + "the request, and the session is unchanged. Try again, or raise the limit "
        + "(CallRules.timeout)."
    )
  }
}
