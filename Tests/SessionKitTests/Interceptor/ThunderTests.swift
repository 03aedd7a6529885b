import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Ten thousand calls at once", .serialized, .timeLimit(.minutes(5)))
struct ThunderTests {
  private static let count = 10_000

  /// The memory of the process in KiB, or `nil` if the system does not report it.
  private static func memory() throws -> Int? {
    #if os(Linux)
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    #else
    return nil
    #endif
  }

  @Test(
    "REF-3 INT-1 10,000 calls with an expired token share one refresh and use bounded memory")
  func expired() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    await bench.expire(session)
    let backend = CallBench.FakeServer.accepting(from: 2)
    let calls = session.calls(by: TransportCalls(backend))
    let request = bench.get()
    let before = try Self.memory()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<Self.count { group.addTask { try await calls.send(request).status } }
      await eventually("all wait") { session.waiterCount == Self.count }
      let during = try Self.memory()
      bench.service.gate.open()
      var good = 0
      for try await status in group where status == 200 { good += 1 }
      #expect(good == Self.count)
      if let before, let during {
        // A call needs some KiB: a task, a continuation, a request. Other tests run at the same
        // time, so the limit is far above that. A use that is quadratic in the number of callers
        // would exceed the limit by far.
        #expect(during - before < 512 << 10, "\((during - before) >> 10) MiB for the waiting calls")
      }
    }
    #expect(bench.service.refreshCount == 1)
    #expect(Set(backend.authorizations) == ["Bearer A2"])
    #expect(session.waiterCount == 0)
    try await session.close()
  }

  @Test(
    "REF-3 INT-1 2,000 calls by URLSession with an expired token share one refresh and succeed"
  )
  func sockets() async throws {
    let bench = try CallBench()
    let server = try CallServer { request, _ in .answer(request.token == "A2" ? 200 : 401) }
    let session = try await bench.signedIn { $0.baseURL = server.url }
    await bench.expire(session)
    let api = SessionInterceptor(session)
    let request = URLRequest(url: server.url.appending(path: "materials"))
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<2_000 {
        group.addTask { (try await api.data(for: request).1 as? HTTPURLResponse)?.statusCode }
      }
      await eventually("all wait") { session.waiterCount == 2_000 }
      bench.service.gate.open()
      var good = 0
      for try await status in group where status == 200 { good += 1 }
      #expect(good == 2_000)
    }
    #expect(bench.service.refreshCount == 1)
    #expect(server.requests.count == 2_000)
    #expect(Set(server.requests.map(\.token)) == ["A2"])
    try await session.close()
  }

  @Test("REF-3 INT-2 10,000 refused calls share one refresh, and each is sent again once")
  func refused() async throws {
    let bench = try CallBench()
    let session = try await bench.signedIn()
    let hall = Gate()
    let backend = CallBench.FakeServer { (authorization, _) throws(TransportError) in
      if authorization == "Bearer A1" { await hall.pass() }
      return HTTPResponse(status: authorization == "Bearer A2" ? 200 : 401)
    }
    let calls = session.calls(by: TransportCalls(backend))
    let request = bench.get()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<Self.count { group.addTask { try await calls.send(request).status } }
      await eventually("all are out") { hall.count == Self.count }
      hall.open()
      var good = 0
      for try await status in group where status == 200 { good += 1 }
      #expect(good == Self.count)
    }
    #expect(bench.service.refreshCount == 1)
    #expect(backend.authorizations.count == 2 * Self.count)
    try await session.close()
  }
}
