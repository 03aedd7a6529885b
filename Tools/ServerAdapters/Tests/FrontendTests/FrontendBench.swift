import Foundation
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// An auth server on loopback, and a folder for the accounts of a frontend.
final class FrontendBench: Sendable {
  let backend: LoopbackServer
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "frontend-\(UUID().uuidString)")

  init() throws {
    backend = try LoopbackServer.start()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    backend.stop()
    // The system cleans its temporary folder if this fails.
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }

  /// The folders of the accounts.
  var accounts: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
  }

  var configuration: @Sendable (URL) -> SessionConfiguration {
    { [base = backend.baseURL, transport = AsyncHTTPTransport()] folder in
      var http = HTTPBackend.snakeCaseJSON(base)
      http.transport = transport
      return SessionConfiguration(
        directory: folder, backend: http, secrets: FileSecretStore(folder: folder.path))
    }
  }

  /// Starts the program, and waits until it listens.
  func start() async throws -> FrontendProcess {
    try await FrontendProcess(backend: backend.baseURL, folder: folder)
  }
}

/// The program `frontendserver`, which is built together with the tests.
final class FrontendProcess {
  let port: Int
  private let process = Process()

  init(backend: URL, folder: URL) async throws {
    process.executableURL = try Self.binary()
    process.arguments = ["0", backend.absoluteString, folder.path]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    var text = ""
    while !text.contains("\n") {
      let bytes = output.fileHandleForReading.availableData
      try #require(!bytes.isEmpty, "the server ended: \(text)")
      text += String(decoding: bytes, as: UTF8.self)
    }
    port = try #require(
      text.split(separator: "\n").first?.split(separator: " ").last.flatMap { Int($0) })
  }

  /// Sends SIGTERM, waits for the end, and returns the exit code.
  @discardableResult
  func stop() async -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }

  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  private static func binary() throws -> URL {
    var folders = [URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
    folders.append(Bundle.main.bundleURL)
    folders += Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    let found = folders.map { $0.absoluteURL.appending(path: "frontendserver") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    return try #require(found, "frontendserver is not built beside the tests")
  }
}

/// A browser: it keeps the cookie, and sends it to the server.
final class Browser: Sendable {
  private struct State {
    var port: Int
    var cookie: String?
    var isOwnPage = true
  }

  private let state: Mutex<State>
  private let transport = AsyncHTTPTransport()

  init(port: Int) { state = Mutex(State(port: port)) }

  var port: Int {
    get { state.withLock { $0.port } }
    set { state.withLock { $0.port = newValue } }
  }
  var cookie: String? {
    get { state.withLock { $0.cookie } }
    set { state.withLock { $0.cookie = newValue } }
  }
  /// Whether requests come from a page of the server.
  var isOwnPage: Bool {
    get { state.withLock { $0.isOwnPage } }
    set { state.withLock { $0.isOwnPage = newValue } }
  }

  func get(_ path: String) async throws -> HTTPResponse { try await send("GET", path) }

  func post(_ path: String) async throws -> HTTPResponse { try await send("POST", path) }

  func login(_ password: String) async throws -> HTTPResponse {
    let email = LoopbackUser.sample.email
    return try await send(
      "POST", "login", body: #"{"email":"\#(email)","password":"\#(password)"}"#)
  }

  private func send(_ method: String, _ path: String, body: String? = nil) async throws
    -> HTTPResponse
  {
    let state = state.withLock { $0 }
    let url = try #require(URL(string: "http://127.0.0.1:\(state.port)/\(path)"))
    var headers = [HTTPHeader("Content-Type", "application/json")]
    if let cookie = state.cookie {
      headers.append(HTTPHeader("Cookie", "__Host-session=\(cookie)"))
    }
    if state.isOwnPage { headers.append(HTTPHeader("X-Frontend", "1")) }
    let response = try await transport.send(
      HTTPRequest(method: method, url: url, headers: headers, body: body.map { Array($0.utf8) }))
    if let set = response.header("Set-Cookie") {
      let value = set.dropFirst("__Host-session=".count).prefix { $0 != ";" }
      cookie = set.contains("Max-Age=0") ? nil : String(value)
    }
    return response
  }
}
