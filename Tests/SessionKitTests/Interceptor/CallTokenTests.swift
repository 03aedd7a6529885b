import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Which calls carry the token, and where", .timeLimit(.minutes(5)))
struct CallTokenTests {
  typealias FakeServer = CallBench.FakeServer

  private static let key = CallTokenPlace.header("X-Auth-Token")
  private static let member = CallTokenPlace.member("AccessToken")

  private func rules(_ place: CallTokenPlace) -> CallRules {
    var rules = CallRules()
    rules.token = place
    return rules
  }

  private func post(_ bench: CallBench, _ path: String, _ body: String? = nil) -> HTTPRequest {
    var request = bench.get(path)
    request.method = "POST"
    request.body = body.map { Array($0.utf8) }
    return request
  }

  /// The header field, the member, or an empty text.
  private func token(_ request: CallServer.Request) -> String {
    if let value = request.fields["x-auth-token"] { return value }
    if request.fields["authorization"] != nil { return "authorization" }
    return String(decoding: request.body, as: UTF8.self)
  }

  @Test("INT-5 a marked call carries the token to a public path, and never to another origin")
  func authenticated() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let backend = FakeServer()
    var rules = CallRules()
    rules.publicPaths = ["status"]
    let calls = session.calls(by: TransportCalls(backend), rules: rules)
    _ = try await calls.send(bench.get("status"))
    _ = try await calls.send(bench.get("status"), as: .authenticated)
    let url = try #require(URL(string: "https://elsewhere.test/a?card=canary"))
    let call = HTTPRequest(method: "GET", url: url)
    let error = await sessionError { try await calls.send(call, as: .authenticated) }
    #expect(
      error
        == .unusableCall(
          call: "GET /a",
          problem: "the token does not belong to elsewhere.test; add its origin to "
            + "CallRules.origins if it does"))
    #expect(backend.authorizations == [nil, "Bearer A1"])
    try await session.close()
  }

  @Test(
    "INT-5 the token is inserted as a member of the body, or the call is refused",
    arguments: CallTables.bodies)
  func bodies(row: CallTables.Row) async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let seen = CallBench.Service()
    let calls = session.calls(by: TransportCalls(seen), rules: rules(.member(row[0])))
    let call = post(bench, "rpc", row[1] == "nothing" ? nil : row[1])
    guard row[2] != "unusableCall" else {
      let error = await sessionError { try await calls.send(call) }
      #expect(
        error.failure == .unusableCall && error?.description.hasPrefix("POST /rpc cannot") == true)
      #expect(seen.book.withLock { $0.requests.isEmpty })
      try await session.close()
      return
    }
    _ = try await calls.send(call)
    let sent = try #require(seen.book.withLock { $0.requests.first })
    #expect(
      String(decoding: sent.body ?? [], as: UTF8.self) == (row[2] == "as it is" ? row[1] : row[2]))
    #expect(sent.header("Authorization") == nil)
    #expect(sent.url == call.url)
    try await session.close()
  }

  @Test(
    "INT-5 INT-2 a token in another place is refreshed too, and the app's own header stays",
    arguments: [key, .header("Authorization", scheme: "Token"), member])
  func otherPlace(place: CallTokenPlace) async throws {
    let bench = try CallBench()
    let server = try CallServer { request, place in .answer(place == 0 ? 401 : 200) }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session, rules: rules(place))
    var call = URLRequest(url: server.url.appending(path: "rpc"))
    call.httpMethod = "POST"
    call.setValue("7", forHTTPHeaderField: "Content-Length")
    let body = Data(#"{"a":1}"#.utf8)
    _ = try await api.upload(for: call, from: body)
    if case .header(let name, let scheme) = place {
      let prefix = scheme.map { "\($0) " } ?? ""
      #expect(
        server.requests.map { $0.fields[name.lowercased()] } == ["\(prefix)A1", "\(prefix)A2"])
      #expect(server.requests.allSatisfy { Data($0.body) == body })
      call.setValue("mine", forHTTPHeaderField: name)
      _ = try await api.upload(for: call, from: body)
      #expect(server.requests.last?.fields[name.lowercased()] == "mine")
    } else {
      #expect(
        server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
          #"{"AccessToken":"A1","a":1}"#, #"{"AccessToken":"A2","a":1}"#,
        ])
      #expect(server.authorizations == [nil, nil])
    }
    #expect(bench.service.refreshCount == 1)
    try await session.close()
  }

  @Test(
    "INT-5 STO-4 a redirect to another origin carries no token, wherever the token is sent",
    arguments: [key, member], [301, 302, 303, 307, 308])
  func redirectElsewhere(place: CallTokenPlace, status: Int) async throws {
    let bench = try CallBench()
    let home = SharedValue<URL>()
    let other = try CallServer { request, _ in
      request.target == "/back"
        ? .answer(status, fields: ["Location": "\(home.value?.absoluteString ?? "")/again"])
        : .answer(401)
    }
    let server = try CallServer { request, _ in
      switch request.target {
      case "/again": .answer(401)
      case "/there": .answer(status, fields: ["Location": "\(other.url)/elsewhere"])
      default: .answer(status, fields: ["Location": "\(other.url)/back"])
      }
    }
    home.value = server.url
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session, rules: rules(place))
    let body = Data(#"{"a":1}"#.utf8)
    for path in ["there", "and-back"] {
      var call = URLRequest(url: server.url.appending(path: path))
      call.httpMethod = "POST"
      call.timeoutInterval = 10
      let (_, response) = try await api.upload(for: call, from: body)
      // A refusal by the other origin says nothing about the token.
      #expect((response as? HTTPURLResponse)?.statusCode == 401)
    }
    let bare = status == 307 || status == 308 ? #"{"a":1}"# : ""
    let first = place == Self.key ? "A1" : #"{"AccessToken":"A1","a":1}"#
    #expect(server.requests.map(token) == [first, first, bare])
    #expect(other.requests.map(token) == [bare, bare])
    #expect(bench.service.refreshCount == 0)
    try await session.close()
  }

  @Test(
    "INT-5 a redirect within the origin keeps the token in its place", arguments: [key, member])
  func redirectHome(place: CallTokenPlace) async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      request.target == "/rpc" ? .answer(307, fields: ["Location": "/new"]) : .answer(200)
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    var call = URLRequest(url: server.url.appending(path: "rpc"))
    call.httpMethod = "POST"
    call.timeoutInterval = 10
    call.httpBody = Data("{}".utf8)
    _ = try await SessionInterceptor(session, rules: rules(place)).data(for: call)
    let sent = place == Self.key ? "A1" : #"{"AccessToken":"A1"}"#
    #expect(server.requests.map(token) == [sent, sent])
    #expect(server.requests.map(\.target) == ["/rpc", "/new"])
    try await session.close()
  }

  @Test("INT-5 a call with a stream cannot carry the token in its body, and is not sent")
  func stream() async throws {
    let bench = try CallBench()
    let server = try CallServer { _, _ in .answer(200) }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    var call = URLRequest(url: server.url.appending(path: "rpc"))
    call.httpMethod = "POST"
    call.httpBodyStream = InputStream(data: Data("{}".utf8))
    let error = await sessionError {
      try await SessionInterceptor(session, rules: rules(Self.member)).data(for: call)
    }
    #expect(
      error
        == .unusableCall(
          call: "POST /rpc", problem: "its token belongs in the body, which is a stream"))
    #expect(server.requests.isEmpty)
    try await session.close()
  }
}
