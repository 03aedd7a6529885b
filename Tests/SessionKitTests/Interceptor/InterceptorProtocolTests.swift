import Foundation
import SessionKit
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The interceptor and an app's URL protocols")
struct InterceptorProtocolTests {
  /// A URL protocol between `URLSession` and the network, like an app's logger.
  private final class Watcher: URLProtocol {
    static let seen = Mutex<[String]>([])

    override static func canInit(with request: URLRequest) -> Bool { true }

    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      let field = request.value(forHTTPHeaderField: "Authorization") ?? "none"
      Watcher.seen.withLock { $0.append(field) }
      guard let url = request.url,
        let response = HTTPURLResponse(
          url: url, statusCode: field == "Bearer A2" ? 200 : 401, httpVersion: "HTTP/1.1",
          headerFields: nil)
      else { return }
      client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      client?.urlProtocol(self, didLoad: Data("{}".utf8))
      client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
  }

  @Test("INT-4 a protocol class of the configuration receives each request as it is sent")
  func watcher() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [Watcher.self]
    let api = SessionInterceptor(session, configuration: configuration)
    let url = try #require(URL(string: "https://api.school.test/materials"))
    let (data, response) = try await api.data(for: URLRequest(url: url))
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(String(decoding: data, as: UTF8.self) == "{}")
    #expect(Watcher.seen.withLock { $0 } == ["Bearer A1", "Bearer A2"])
    try await session.close()
  }
}
