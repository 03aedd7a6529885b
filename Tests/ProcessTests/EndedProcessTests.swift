import Foundation
import SessionTestKit
import Testing

#if os(Linux)
  /// `URLSession` on Linux ends the process at a trailer field, which every server may send.
  ///
  /// `Specs/URLSession.md` describes the bugs. If a test fails because the process survives, the
  /// bug is fixed: remove it from that page, and kill the process instead.
  @Suite("Processes that the response to a refresh ends", .timeLimit(.minutes(3)))
  struct EndedProcessTests {
    @Test("REF-7 after a response has ended two processes, the third one waits before its refresh")
    func endedTwice() async throws {
      let bench = try ProcessBench {
        ($0.rotatesRefreshTokens, $0.rotationGrace) = (true, .seconds(3_600))
      }
      let third = try await bench.endTwice()
      // The token's lifetime of a second is over by then, and a call needs a newer one.
      try await Task.sleep(for: .seconds(2))
      let answer = try await third.ask("token")
      #expect(answer.error != nil)
      #expect(answer.state == "authenticated")
      #expect(bench.server.count(of: .refresh) == 2)
      // A manual refresh still sends a request.
      let refreshed = try await third.ask("refresh")
      #expect(refreshed.error == nil && refreshed.generation == 2)
      try bench.check()
    }

    @Test("a server that closes the connection after the status line also ends the process")
    func cutAfterStatusLine() async throws {
      let server = try CutServer()
      let worker = try WorkerProcess([
        FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString)").path,
        FileManager.default.temporaryDirectory.appending(path: "cut-\(UUID().uuidString)").path,
        "http://127.0.0.1:\(server.port)",
      ])
      #expect(try await worker.ask("open").error == nil)
      #expect(await worker.lastAsk("login ada@school.test password") == nil)
      try await worker.ended()
    }
  }

  extension ProcessBench {
    /// A third process, after the response to a refresh of Ada's expired token has ended two.
    func endTwice() async throws -> WorkerProcess {
      server.settings.update { $0.accessTokenLifetime = .seconds(1) }
      let user = LoopbackUser.sample
      server.failNext(.refresh, with: .trailer("Server-Timing", "db;dur=53"), times: 2)
      let first = try await open()
      #expect(try await first.ask("login \(user.email) \(user.password)").error == nil)
      #expect(await first.lastAsk("refresh") == nil)
      try await first.ended()
      // Opening the session retries the lost reply at once.
      let second = try start()
      _ = await second.lastAsk("open")
      try await second.ended()
      #expect(server.count(of: .refresh) == 2)
      return try await open()
    }
  }

  /// Closes each connection in order, after the first line of a response.
  private final class CutServer: Sendable {
    let port: UInt16
    private let socket: Int32

    init() throws {
      let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && listen(listener, 5) == 0
            && getsockname(listener, $0, &size) == 0
        }
      }
      try #require(isBound)
      (socket, port) = (listener, UInt16(bigEndian: address.sin_port))
      Thread.detachNewThread {
        while true {
          let connection = accept(listener, nil, nil)
          guard connection >= 0 else { return }
          var bytes = [UInt8](repeating: 0, count: 4_096)
          _ = recv(connection, &bytes, bytes.count, 0)
          let line = Array("HTTP/1.1 200 OK\r\n".utf8)
          _ = send(connection, line, line.count, 0)
          close(connection)
        }
      }
    }

    deinit {
      shutdown(socket, Int32(SHUT_RDWR))
      close(socket)
    }
  }
#endif
