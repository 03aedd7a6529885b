import Foundation
import SessionKit
import Testing

/// A server on loopback whose certificate nobody has signed, by `openssl`.
private final class SelfSignedServer {
  let port: UInt16
  private let process = Process()
  private let folder: URL

  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let make = Process()
    make.executableURL = URL(filePath: "/usr/bin/openssl")
    make.currentDirectoryURL = folder
    make.arguments =
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem"]
      + ["-out", "certificate.pem", "-days", "2", "-subj", "/CN=localhost"]
    (make.standardOutput, make.standardError) = (nil, nil)
    try make.run()
    make.waitUntilExit()
    // The port is free a moment later: nobody else on this machine asks for one by number.
    let (listener, port) = try PlainSocket.listener(backlog: 1)
    close(listener)
    self.port = port
    process.executableURL = make.executableURL
    process.currentDirectoryURL = folder
    process.arguments =
      ["s_server", "-accept", "127.0.0.1:\(port)", "-key", "key.pem", "-cert", "certificate.pem"]
      + ["-www", "-quiet"]
    (process.standardOutput, process.standardError, process.standardInput) = (nil, nil, nil)
    try process.run()
  }

  deinit {
    process.terminate()
    // What a test leaves in the system's temporary folder is the system's to clean.
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }
}

@Suite("Certificates", .timeLimit(.minutes(5)))
struct CertificateTests {
  @Test(
    "LOG-13 a certificate that is not trusted is told as that, and nothing was sent",
    .enabled(if: SelfSignedServer.isAvailable, "there is no openssl on this machine"))
  func selfSigned() async throws {
    let server = try SelfSignedServer()
    let bench = try Bench()
    var configuration = bench.configuration()
    let base = try #require(URL(string: "https://localhost:\(server.port)"))
    configuration.wire = .edu(baseURL: base)
    configuration.transport = URLSessionTransport()
    let session = try await Session.open(configuration)
    var error: SessionError?
    // Until the server listens.
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
