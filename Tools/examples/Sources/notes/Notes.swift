import Foundation
import SessionHTTP
import SessionKit

@main
struct Notes {
  #if STATIC  // The package in `static`, which links without libcurl.
  static let transport = AsyncHTTPTransport()
  #else
  static let transport = URLSessionTransport()
  #endif

  static func main() async throws {
    let words = CommandLine.arguments
    guard words.count == 4, let server = URL(string: words[3]) else { usage() }
    // configuration
    var backend = HTTPBackend.camelCaseJSON(server)
    backend.transport = transport
    var configuration = SessionConfiguration(
      directory: URL(filePath: words[2]), backend: backend, service: "org.example.notes")
    // Only a command that needs a token refreshes it.
    configuration.policy.refresh.beforeExpiry = nil
    configuration.policy.refresh.timeout = .seconds(10)
    // end of configuration
    let session = try await Session.open(configuration)
    session.finishRequests(on: [SIGINT, SIGTERM], within: .seconds(10))
    var code: Int32 = 0
    do { try await run(words[1], with: session, at: server) } catch {
      print("\(error)")
      code = 1
    }
    // On every path: a response on the wire may hold the only token that the server accepts.
    try await session.close(within: .seconds(10))
    exit(code)
  }

  static func run(_ command: String, with session: Session, at server: URL) async throws {
    switch command {
    case "login":
      try await session.login(.password(readLine() ?? "", readLine() ?? ""))
    case "whoami":  // reads what is stored, and asks no server
      print(session.state.user?.description ?? "nobody")
    case "list":
      let notes = HTTPRequest(method: "GET", url: server.appending(path: "notes"))
      let response = try await session.calls(by: TransportCalls(transport)).send(notes)
      print(String(decoding: response.body, as: UTF8.self))
    case "logout":
      print(try await session.logout())
    default: usage()
    }
  }

  static func usage() -> Never {
    print("Usage: notes login|whoami|list|logout FOLDER URL")
    exit(64)
  }
}
