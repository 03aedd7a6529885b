import Foundation
import Testing

@testable import SessionTestKit

/// Requests that only a client of raw bytes can make.
@Suite struct LoopbackConnectionTests {
  private let server: LoopbackServer
  private let port: UInt16
  private static let login =
    #"{"email":"maria.sample@school.test","password":"correct-horse-9"}"#
  private static let get = "GET /materials HTTP/1.1\r\nHost: h\r\n\r\n"

  init() throws {
    server = try LoopbackServer.start()
    port = server.port
  }

  @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
    let port = port
    let head = "POST /auth/login HTTP/1.1\r\nHost: h\r\n"
    let body = Self.login
    let chunked =
      head + "Transfer-Encoding: chunked\r\n\r\n\(String(body.utf8.count, radix: 16))\r\n\(body)"
      + "\r\n0\r\n\r\n"
    let sized = head + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    let statuses = try await onThread {
      let client = try RawClient(port: port)
      try client.send(Self.get + chunked + sized + "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n")
      return try (0..<3).map { _ in try client.reply()?.status }
    }
    #expect(statuses == [401, 200, 200])
    await server.answered(.other)
    #expect(server.calls.map(\.status) == [401, 200, 200, 404])
    #expect(server.connectionCount == 1)
  }

  @Test func aPipelinedRequestWaitsForTheOneBeforeIt() async throws {
    let port = port
    let gate = server.hold(.materials)
    async let statuses = onThread {
      let client = try RawClient(port: port)
      try client.send(Self.get + "GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
      return try [client.reply()?.status, client.reply()?.status]
    }
    await server.received(.materials)
    #expect(server.calls.count == 1)
    gate.open()
    #expect(try await statuses == [401, 404])
  }

  @Test func aClientMayCloseItsSideAndStillBeAnswered() async throws {
    let port = port
    let text = try await onThread {
      let client = try RawClient(port: port)
      try client.send(Self.get)
      client.finishWriting()
      return try client.rest()
    }
    #expect(text.hasPrefix("HTTP/1.1 401 Unauthorized\r\n"))
  }

  @Test func itSaysContinueToWhoAsks() async throws {
    let port = port
    let statuses = try await onThread {
      let client = try RawClient(port: port)
      let body = Self.login
      try client.send(
        "POST /auth/login HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n")
      let first = try client.reply()?.status
      try client.send(body)
      return try [first, client.reply()?.status]
    }
    #expect(statuses == [100, 200])
  }

  @Test(arguments: [
    ("what is this\r\n\r\n", 400), ("GET / HTTP/3.0\r\n\r\n", 505),
    ("GET / HTTP/1.1\r\nHost: h\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n", 431),
    ("GET /\(String(repeating: "x", count: 10_000)) HTTP/1.1\r\n", 414),
  ])
  func malformedRequestsAreRefusedAndTheServerLivesOn(text: String, status: Int) async throws {
    let port = port
    let (refused, rest, next) = try await onThread {
      let client = try RawClient(port: port)
      try client.send(text)
      let refused = try client.reply()
      let rest = try client.rest()
      let other = try RawClient(port: port)
      return (refused, rest, try other.post("/auth/login", Self.login)?.status)
    }
    #expect(refused?.status == status)
    #expect(refused?.header("connection") == "close" && refused?.header("date") != nil)
    #expect(refused?.text.contains("BAD_HTTP") == true)
    #expect(rest.isEmpty)
    #expect(next == 200)
    #expect(server.calls.first?.endpoint == .unreadable)
    #expect(server.violations.map(\.violation) == [.http])
  }

  @Test func aHugeBodyIsRefusedAndTheRefusalArrives() async throws {
    let port = port
    let status = try await onThread {
      let client = try RawClient(port: port)
      try client.send("POST /auth/login HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n")
      let piece = [UInt8](repeating: 0x20, count: 80_000)
      for _ in 0..<100 { try client.send(piece) }
      return try client.reply()?.status
    }
    #expect(status == 413)
  }

  @Test func sixtyFourClientsAtOnce() async throws {
    let count = 64
    let port = port
    let gate = server.hold(.login)
    try await withThrowingTaskGroup(of: [Int?].self) { group in
      for _ in 0..<count {
        group.addTask {
          try await onThread {
            let client = try RawClient(port: port)
            guard let signedIn = try client.post("/auth/login", Self.login) else { return [] }
            let tokens = try TokenReply.read(signedIn.body)
            let body = #"{"refresh_token":"\#(tokens.refreshToken ?? "")"}"#
            let refreshed = try client.post("/auth/refresh", body)
            let out = try client.post("/auth/logout", body, bearer: tokens.accessToken)
            return [signedIn.status, refreshed?.status, out?.status]
          }
        }
      }
      #expect(await server.received(.login, count: count))
      #expect(server.calls.allSatisfy { $0.outcome == .waiting })
      gate.open()
      for try await statuses in group { #expect(statuses == [200, 200, 204]) }
    }
    #expect(server.connectionCount == count)
    #expect(server.count(of: .logout) == count)
    #expect(server.calls.map(\.number) == Array(1...(3 * count)))
  }

  @Test func aClientThatNeverReadsHoldsNobodyUp() async throws {
    let port = port
    async let deaf = onThread {
      let client = try RawClient(port: port)
      // Finally the responses fill every buffer, then the requests do; only the end frees it.
      while true {
        do { try client.send(Self.get) } catch { return true }
      }
    }
    await server.answered(.materials, count: 1000)
    let status = try await onThread {
      try RawClient(port: port).post("/auth/login", Self.login)?.status
    }
    #expect(status == 200)
    server.stop()
    #expect(try await deaf)
  }

  @Test func stoppingEndsOpenAndHeldConnections() async throws {
    let port = port
    let server = server
    _ = server.hold(.materials)
    async let idle = onThread {
      let client = try RawClient(port: port)
      try client.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n")
      return try [client.reply()?.text.isEmpty == false ? "answered" : "", client.rest()]
    }
    await server.answered(.other)
    async let held = onThread {
      let client = try RawClient(port: port)
      try client.send(Self.get)
      return try client.rest()
    }
    await server.received(.materials)
    try await onThread {
      server.stop()
      server.stop()
    }
    #expect(try await held == "")
    #expect(try await idle == ["answered", ""])
    await #expect(throws: RawClient.Failure.self) {
      try await onThread { _ = try RawClient(port: port) }
    }
    #expect(server.calls.count == 2)
  }

  @Test func thePortIsFreeAfterStopping() async throws {
    let first = try LoopbackServer.start()
    let port = first.port
    #expect(throws: LoopbackError.self) { try LoopbackServer.start(port: port) }
    first.stop()
    let second = try LoopbackServer.start(port: port)
    #expect(second.baseURL.absoluteString == "http://127.0.0.1:\(port)")
  }

  @Test func aPortIsNotGivenToASecondServer() throws {
    var ports: Set<UInt16> = []
    for _ in 0..<500 {
      let server = try LoopbackServer.start()
      #expect(ports.insert(server.port).inserted)
      server.stop()
    }
  }

  @Test func droppingTheLastReferenceStopsIt() async throws {
    let rest = try await onThread {
      var server: LoopbackServer? = try LoopbackServer.start()
      let client = try RawClient(port: server?.port ?? 0)
      try client.send(Self.get)
      _ = try client.reply()
      server = nil
      return try client.rest()
    }
    #expect(rest.isEmpty)
  }

  @Test func anErrorSaysWhatToDo() {
    let error = LoopbackError.socket(call: "bind", code: 98)
    #expect("\(error)".contains("bind on 127.0.0.1 failed with errno 98. Nothing listens."))
  }
}
