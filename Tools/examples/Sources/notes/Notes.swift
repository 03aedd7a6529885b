import Foundation
import SessionHTTP
import SessionKit
import SessionWebSignIn

@main
struct Notes {
  #if STATIC  // The package in `static`, which links without libcurl.
  static let transport = AsyncHTTPTransport()
  #else
  static let transport = URLSessionTransport()
  #endif
  static let client = ClientAuthentication.form(id: "notes")

  static func main() async throws {
    let words = CommandLine.arguments
    guard 4...5 ~= words.count, let server = URL(string: words[3]) else { usage() }
    let folder = URL(filePath: words[2])
    // configuration
    var backend = HTTPBackend.camelCaseJSON(server)
    var provider: OpenIDProvider?
    if words.count == 5 {
      provider = try await .discover(words[4], cache: folder, transport: transport)
      backend = try provider?.backend(client: client) ?? backend
    }
    backend.transport = transport
    var configuration = SessionConfiguration(
      directory: folder, backend: backend, service: "org.example.notes")
    // Only a command that needs a token refreshes it.
    configuration.policy.refresh.beforeExpiry = nil
    configuration.policy.refresh.timeout = .seconds(10)
    // end of configuration
    let session = try await Session.open(configuration)
    session.finishRequests(on: [SIGINT, SIGTERM], within: .seconds(10))
    var code: Int32 = 0
    do {
      if let login = try login(words[1], at: provider) {
        try await session.login(login)
      } else {
        try await run(words[1], with: session, at: server)
      }
    } catch {
      print("\(error)")
      code = 1
    }
    // On every path: a response on the wire may hold the only token that the server accepts.
    try await session.close(within: .seconds(10))
    exit(code)
  }

  /// Returns the login of a command at a provider; `nil` if the command is none.
  static func login(_ command: String, at provider: OpenIDProvider?) throws -> WebLogin? {
    switch (command, provider) {
    case ("browser", let provider?):
      let redirect = "http://127.0.0.1/login"
      let code = try provider.authorizationCode(client: client, redirect: redirect)
      return .authorizationCode(code, on: LoopbackPage(), transport: transport)
    case ("device", let provider?):
      let grant = try provider.deviceGrant(client: client)
      return .deviceGrant(grant, transport: transport) { prompt in
        print("Open \(prompt.address) and enter \(prompt.userCode)")
        fflush(nil)
      }
    default: return nil
    }
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
    print(
      """
      Usage: notes login|whoami|list|logout FOLDER URL
             notes browser|device|whoami|list|logout FOLDER URL ISSUER
      """)
    exit(64)
  }
}
