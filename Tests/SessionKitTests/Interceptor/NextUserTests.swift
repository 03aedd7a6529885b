import Foundation
import SessionHTTP
import SessionKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Calls and the next user of the device", .timeLimit(.minutes(5)))
struct NextUserTests {
  @Test(
    "OUT-4 the next user gets no cached response and no cookie of the previous user")
  func keepsNothing() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in
      .answer(
        200,
        fields: [
          "Cache-Control": "private, max-age=3600", "Set-Cookie": "who=ana; Path=/",
          "ETag": "\"1\"",
        ], body: "{\"token\":\"\(request.token ?? "none")\"}")
    }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    let api = SessionInterceptor(session)
    let call = URLRequest(url: server.url.appending(path: "materials"))
    let first = try await api.data(for: call).0
    #expect(String(decoding: first, as: UTF8.self).contains("A1"))
    try await session.logout()
    bench.service.signIn(as: "u-2")
    try await bench.signIn(session)
    let second = try await api.data(for: call).0
    #expect(String(decoding: second, as: UTF8.self).contains("A2"))
    #expect(server.requests.map(\.token) == ["A1", "A2"])
    for request in server.requests {
      #expect(request.fields["cookie"] == nil)
      #expect(request.fields["if-none-match"] == nil)
    }
    try await session.close()
  }
}
