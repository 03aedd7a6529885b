import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import Synchronization
import Testing

/// A session at a backend whose next responses a test gives one by one.
final class AnswerBench: HTTPTransport {
  private struct Answer {
    /// `nil` for a response that is lost.
    var response: HTTPResponse?
    var gate: Gate?
  }

  /// The responses, oldest first.
  private let waiting = Mutex<[Answer]>([])
  private let sent = Mutex<[HTTPRequest]>([])
  let bench: Bench
  let wire: HTTPBackend

  init(_ wire: HTTPBackend) throws {
    (bench, self.wire) = (try Bench(), wire)
  }

  private init(_ bench: Bench, _ wire: HTTPBackend) {
    (self.bench, self.wire) = (bench, wire)
  }

  /// The same journal and secrets, with a session that uses another backend.
  func speaking(_ wire: HTTPBackend) -> AnswerBench { AnswerBench(bench, wire) }

  static func url() throws -> URL { try #require(URL(string: "https://backend.test")) }

  /// A backend in camel case with a profile, and a logout that the access token authenticates.
  static func camelCaseWire() throws -> HTTPBackend { camelCaseWire(at: try url()) }

  /// The same at another address.
  static func camelCaseWire(at url: URL) -> HTTPBackend {
    var wire = AppPreset.api(url.appending(path: "api")).backend
    wire.profile = .get(
      "auth/me", accessToken: .bearer)
    return wire
  }

  /// The requests that were sent, oldest first.
  var requests: [HTTPRequest] { sent.withLock { $0 } }

  /// The body of the newest request.
  var lastBody: String {
    String(decoding: requests.last?.body ?? [], as: UTF8.self)
  }

  func answer(_ body: String, headers: [HTTPHeader] = []) {
    answer(200, body, headers: headers)
  }

  func answer(_ status: Int, _ body: String, headers: [HTTPHeader] = []) {
    let response = HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    waiting.withLock { $0.append(Answer(response: response)) }
  }

  /// The next request gets this response after the gate was opened.
  func hold(_ status: Int, _ body: String) -> Gate {
    let gate = Gate()
    let response = HTTPResponse(status: status, body: Array(body.utf8))
    waiting.withLock { $0.append(Answer(response: response, gate: gate)) }
    return gate
  }

  /// The next request is sent, and its response is lost.
  func lose() {
    waiting.withLock { $0.append(Answer()) }
  }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    sent.withLock { $0.append(request) }
    let next = waiting.withLock { $0.isEmpty ? [] : [$0.removeFirst()] }
    guard let answer = next.first else { throw .noConnection("no answer was said") }
    await answer.gate?.pass()
    guard let response = answer.response else { throw .noReply("the answer was lost") }
    return response
  }

  func open(_ policy: SessionPolicy = .bench) async throws -> Session {
    var configuration = bench.configuration(policy)
    configuration.http = wire
    configuration.http.transport = self
    return try await Session.open(configuration)
  }

  /// The error of a login that gets this response.
  func signInError(_ status: Int, _ body: String) async throws -> SessionError? {
    answer(status, body)
    return try await signInError()
  }

  /// The error of a login that gets the next response.
  func signInError() async throws -> SessionError? {
    let session = try await open()
    let error = await failure { () async throws(SessionError) in
      try await session.login(.password("a@b.test", "secreta-9"))
    }
    try await session.close()
    return error
  }
}
