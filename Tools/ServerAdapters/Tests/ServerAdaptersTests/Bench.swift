import Foundation
import NIOCore
import NIOPosix
import ServerAdapters
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

/// An auth server on loopback, and a folder for a session.
final class Bench: Sendable {
  let server: LoopbackServer
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "adapters-\(UUID().uuidString)")

  init() throws {
    server = try LoopbackServer.start()
  }

  deinit {
    server.stop()
    // The system cleans its temporary folder if this fails.
    do { try FileManager.default.removeItem(at: folder) } catch {}
  }

  func configuration(_ transport: any HTTPTransport = AsyncHTTPTransport()) -> SessionConfiguration
  {
    var backend = HTTPBackend.snakeCaseJSON(server.baseURL)
    backend.transport = transport
    return SessionConfiguration(
      directory: folder, backend: backend, secrets: MemorySecretStore())
  }

  /// A session whose user is logged in.
  func session(_ transport: any HTTPTransport = AsyncHTTPTransport()) async throws -> Session {
    let session = try await Session.open(configuration(transport))
    try await session.login(.password(LoopbackUser.sample.email, LoopbackUser.sample.password))
    return session
  }

  /// A request for the protected resource, without a token.
  var materials: HTTPRequest {
    HTTPRequest(method: "GET", url: server.baseURL.appending(path: "materials"))
  }
}

/// A server that answers each request with bytes, which may be no correct response.
final class ScriptedServer: Sendable {
  /// What the server does with a request.
  struct Reply: Sendable {
    var bytes: String
    /// Whether it closes the connection after the bytes.
    var closes = false
  }

  let port: Int
  private let channel: any Channel
  private let received: Received

  /// The requests so far, with their bodies.
  var requests: [String] { received.texts }

  var url: URL {
    get throws { try #require(URL(string: "http://127.0.0.1:\(port)/start")) }
  }

  init(_ reply: @escaping @Sendable (String) -> Reply) async throws {
    let received = Received()
    channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 16)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            ScriptHandler(received: received, reply: reply))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    self.received = received
    port = channel.localAddress?.port ?? 0
  }

  deinit { channel.close(promise: nil) }

  final class Received: Sendable {
    private let state = Mutex<[String]>([])
    var texts: [String] { state.withLock { $0 } }
    func append(_ text: String) { state.withLock { $0.append(text) } }
  }
}

/// Collects the bytes of a request until its body is complete.
private final class ScriptHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let received: ScriptedServer.Received
  private let reply: @Sendable (String) -> ScriptedServer.Reply
  private var text = ""

  init(
    received: ScriptedServer.Received,
    reply: @escaping @Sendable (String) -> ScriptedServer.Reply
  ) {
    (self.received, self.reply) = (received, reply)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    text += String(buffer: unwrapInboundIn(data))
    let parts = text.components(separatedBy: "\r\n\r\n")
    guard parts.count > 1 else { return }
    let length = text.lowercased().components(separatedBy: "content-length: ").last
      .flatMap { Int($0.prefix { $0.isNumber }) }
    let body = parts.dropFirst().joined(separator: "\r\n\r\n")
    guard body.utf8.count >= (length ?? 0) else { return }
    received.append(text)
    let reply = reply(text)
    text = ""
    context.write(wrapOutboundOut(ByteBuffer(string: reply.bytes)), promise: nil)
    context.flush()
    if reply.closes { context.close(promise: nil) }
  }
}
