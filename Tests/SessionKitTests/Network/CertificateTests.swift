import ChildProcesses
import Foundation
import SessionHTTP
import SessionKit
import SessionMessages
import Testing

@testable import SessionTestKit

/// A server on loopback with a self-signed certificate, by `openssl`.
private final class SelfSignedServer {
  let port: UInt16
  private let process: ChildProcess
  private let folder: URL

  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // The port is free from here on, and no other process on this machine requests it by number.
    let (listener, port) = try Socket.listening(port: 0)
    listener.close()
    self.port = port
    // One process, started without waiting: the client tries until it listens.
    let script =
      "/usr/bin/openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem "
      + "-days 2 -subj /CN=localhost && exec /usr/bin/openssl s_server "
      + "-accept 127.0.0.1:\(port) -key key.pem -cert certificate.pem -www -quiet"
    process = try ChildProcess(
      "/bin/sh", ["-c", script], folder: folder.path(percentEncoded: false), output: .null,
      errors: .null)
  }

  func stop() {
    process.send(SIGKILL)
    // The system cleans its temporary folder if this fails.
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }
}

@Suite("Certificates", .timeLimit(.minutes(5)))
struct CertificateTests {
  @Test(
    "LOG-13 an untrusted certificate is reported as such, and nothing was sent",
    .enabled(if: SelfSignedServer.isAvailable, "there is no openssl on this machine"))
  func selfSigned() async throws {
    let server = try SelfSignedServer()
    defer { server.stop() }
    let bench = try Bench()
    var configuration = bench.configuration()
    let base = try #require(URL(string: "https://localhost:\(server.port)"))
    configuration.http = .snakeCaseJSON(base)
    configuration.http.transport = URLSessionTransport()
    let session = try await Session.open(configuration)
    var error: SessionError?
    // Repeats until the server listens.
    repeat {
      error = await failure { () async throws(SessionError) in
        try await session.login(bench.credentials)
      }
      try await Task.sleep(for: .milliseconds(20))
    } while "\(String(describing: error))".contains("does not accept connections")
    #expect(error?.description.contains("certificate") == true, "\(String(describing: error))")
    #expect(error?.description.contains("Nothing was sent") == true)
    #expect(error?.description.contains("may have acted") == false)
    #expect(error?.message == .insecureConnection)
    try await session.close()
  }
}
