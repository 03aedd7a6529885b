import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Calls and their descriptions", .timeLimit(.minutes(5)))
struct CallLeakTests {
  @Test("STO-3 no dump, description, error or trace shows a token, a query or a body")
  func leaks() async throws {
    let bench = try Bench()
    let session = try await bench.signedIn()
    let texts = Mutex<[String]>([])
    @Sendable func keep(_ something: Any) {
      var dumped = ""
      dump(something, to: &dumped)
      let all = "\(something) \(String(reflecting: something)) \(dumped)"
      texts.withLock { $0.append(all) }
    }
    let api = SessionInterceptor(session) { keep($0) }
    let calls = session.calls(by: TransportCalls()) { keep($0) }
    let query = "?card=canary-query"
    let url = try #require(URL(string: "\(bench.server.baseURL)/materials\(query)"))

    // During the call, while another object holds the request with the token.
    let gate = bench.server.hold(.materials)
    let call = Task { try await api.data(for: URLRequest(url: url)) }
    #expect(await bench.server.received(.materials))
    keep(api)
    keep(calls)
    call.cancel()
    do { _ = try await call.value } catch { keep(error) }
    gate.open()

    bench.server.failNext(.materials, with: .dropConnection(.beforeActing))
    do { _ = try await api.data(for: URLRequest(url: url)) } catch { keep(error) }
    bench.server.failNext(.materials, with: .dropConnection(.beforeActing))
    do { _ = try await calls.send(HTTPRequest(method: "GET", url: url)) } catch { keep(error) }
    bench.server.revokeAllTokens()
    var post = URLRequest(url: url)
    post.httpMethod = "POST"
    do { _ = try await api.upload(for: post, from: Data("canary-body".utf8)) } catch { keep(error) }
    do { _ = try await api.data(for: URLRequest(url: url)) } catch { keep(error) }

    let kept = texts.withLock { $0 }
    #expect(kept.count > 12)
    #expect(kept.contains { $0.contains("/materials") })
    for text in kept {
      #expect(!text.contains("canary"), "\(text)")
      for secret in bench.server.secrets { #expect(!text.contains(secret)) }
    }
    try await session.close()
  }
}
