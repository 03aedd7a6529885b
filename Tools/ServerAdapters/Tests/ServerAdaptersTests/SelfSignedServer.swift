import Foundation

/// A server on loopback with a self-signed certificate, by `openssl`.
final class SelfSignedServer {
  let port: Int
  private let process = Process()
  private let folder: URL

  static let isAvailable = FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Below the ports that the system hands out.
    port = .random(in: 20_000..<30_000)
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = [
      "-c",
      "/usr/bin/openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out certificate.pem "
        + "-days 2 -subj /CN=localhost 2> log && exec /usr/bin/openssl s_server "
        + "-accept 127.0.0.1:\(port) -key key.pem -cert certificate.pem -www -quiet",
    ]
    process.currentDirectoryURL = folder
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    // The system cleans its temporary folder if this fails.
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }
}
