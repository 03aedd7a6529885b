import Foundation
import Frontend
import Hummingbird
import Logging
import ServerAdapters
import ServiceLifecycle
import SessionHTTP
import SessionKit
import UnixSignals

// Serves browsers on a port of this machine until SIGTERM; a proxy before it adds TLS.
let arguments = CommandLine.arguments
guard arguments.count == 4, let port = Int(arguments[1]), let backend = URL(string: arguments[2]),
  backend.scheme != nil
else {
  print("Usage: frontendserver PORT BACKEND FOLDER")
  exit(64)
}

let logger = Logger(label: "frontend")
let transport = AsyncHTTPTransport()
let accounts = Accounts(in: URL(filePath: arguments[3]), logger: logger) { folder in
  var http = HTTPBackend.snakeCaseJSON(backend)
  http.transport = transport
  var configuration = SessionConfiguration(
    directory: folder, backend: http, secrets: FileSecretStore(folder: folder.path))
  // Requests ask for a token when they need one; nothing refreshes on a timer.
  configuration.policy.refresh.beforeExpiry = nil
  return configuration
}
let routes = FrontendRouter(accounts: accounts, backend: backend, calls: AsyncHTTPCalls())
let server = Application(
  router: routes.router(),
  configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
  onServerRunning: { channel in
    // The port, which the system chose if the argument is 0.
    let line = "listening on \(channel.localAddress?.port ?? 0)\n"
    do { try FileHandle.standardOutput.write(contentsOf: Data(line.utf8)) } catch {}
  }, logger: logger)
// The server ends first, then the sessions close.
let group = ServiceGroup(
  services: [accounts, server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
try await group.run()
