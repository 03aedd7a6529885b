import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("A session's own calls", .timeLimit(.minutes(5)))
struct SessionDataTests {
  private func status(_ response: URLResponse) -> Int? {
    (response as? HTTPURLResponse)?.statusCode
  }

  @Test(
    "INT-1 a call carries the token, a newer one after a 401, and none if marked as plain"
  )
  func calls() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let materials = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    #expect(status(try await session.data(for: materials).1) == 200)
    bench.server.revokeAccessTokens()
    #expect(status(try await session.data(for: materials).1) == 200)
    #expect(session.currentToken?.generation == Generation(2))
    #expect(status(try await session.data(for: materials, as: .plain).1) == 401)
    try await session.close()
  }

  @Test("INT-5 calls follow the configuration's rules, or the rules that they are given")
  func rules() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.calls.publicPaths = ["materials"]
    let session = try await Session.open(configuration)
    try await session.login(bench.credentials)
    let materials = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
    #expect(status(try await session.data(for: materials).1) == 401)
    #expect(status(try await session.data(for: materials, as: .authenticated).1) == 200)
    #expect(status(try await SessionInterceptor(session).data(for: materials).1) == 401)
    let own = SessionInterceptor(session, rules: CallRules())
    #expect(status(try await own.data(for: materials).1) == 200)
    let request = HTTPRequest(method: "GET", url: bench.server.baseURL.appending(path: "materials"))
    let client = TransportCalls()
    #expect(try await session.calls(by: client).send(request).status == 401)
    #expect(try await session.calls(by: client, rules: CallRules()).send(request).status == 200)
    try await session.close()
  }

  @Test(
    "INT-1 a hundred first calls at once share one client, which does not keep the session alive")
  func shared() async throws {
    let bench = try Bench()
    weak var gone: Session?
    do {
      let session = try await bench.signedIn()
      gone = session
      let materials = URLRequest(url: bench.server.baseURL.appending(path: "materials"))
      try await withThrowingTaskGroup(of: Int?.self) { group in
        for _ in 0..<100 { group.addTask { status(try await session.data(for: materials).1) } }
        for try await status in group { #expect(status == 200) }
      }
      let isOne = session.sharedClient === session.sharedClient
      #expect(isOne)
      try await session.close()
    }
    await eventually("the session is gone") { gone == nil }
  }
}
