import Dispatch
public import Foundation
public import SessionCore
public import SessionKit
import Synchronization

/// An auth server on 127.0.0.1 for tests: real sockets, real HTTP/1.1, the EDU wire, and levers.
///
/// ```swift
/// let server = try LoopbackServer.start(backend: .edu(users: [.sample]))
/// server.settings.update { $0.accessTokenLifetime = .seconds(2) }
/// server.failNext(.refresh, with: .status(503, retryAfter: 1))
///
/// let gate = server.hold(.refresh)           // the next refreshes wait…
/// await server.received(.refresh, count: 2)  // …both are here…
/// gate.open()                                // …go
///
/// #expect(server.count(of: .login) == 1 && server.violations.isEmpty)
/// print(server.log)  // no token, no password, no e-mail address
/// server.stop()
/// ```
///
/// It speaks HTTP/1.0 and 1.1 with keep-alive, pipelining and chunked bodies, and refuses what is
/// malformed (400), too long (413, 414, 431) or beyond it (417, 501, 505). One thread of its own
/// serves all connections, so nothing it does takes a thread of the cooperative pool. Every answer
/// has a `Date`. Usable from any thread.
///
/// - Requirement: TST-2
public final class LoopbackServer: Sendable {
  /// Where it listens, `http://127.0.0.1:PORT`.
  public let baseURL: URL
  /// The port, as the system chose it.
  public let port: UInt16
  private let desk: LoopbackMailbox
  private let running: DispatchGroup

  /// Starts a server; it runs until ``stop()`` or until the last reference is gone.
  ///
  /// - Parameters:
  ///   - backend: the service, with its users.
  ///   - port: the port to listen on; 0 lets the system choose a free one, which no server of this process
  ///     had before.
  ///   - clock: the server's time, the system's by default. It decides expiry and `Date`; latency and delays
  ///     go by real time. Called on the server's thread; must not block.
  /// - Throws: ``LoopbackError`` when the port is taken or the system gives no socket.
  public static func start(
    backend: LoopbackBackend = .edu(), port: UInt16 = 0,
    clock: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
  ) throws(LoopbackError) -> LoopbackServer {
    try start(backend: backend, service: nil, port: port) { clock().milliseconds }
  }

  /// Starts a server before a service that a test scripts; ``ring()`` has it asked again.
  package static func start(
    service: any LoopbackService, clock: @escaping @Sendable () -> Int64
  ) throws(LoopbackError) -> LoopbackServer {
    try start(backend: .edu(users: []), service: service, port: 0, clock: clock)
  }

  private static func start(
    backend: LoopbackBackend, service: (any LoopbackService)?, port: UInt16,
    clock: @escaping @Sendable () -> Int64
  ) throws(LoopbackError) -> LoopbackServer {
    let (listener, chosen) = try Socket.listening(port: port)
    let pair: (reader: Socket, writer: Socket)
    do {
      pair = try Socket.pair()
    } catch {
      listener.close()
      throw error
    }
    let bell = Wakeup(writer: pair.writer)
    let desk = LoopbackMailbox(backend: backend, service: service, bell: bell, clock: clock)
    let server = LoopbackServer(desk: desk, port: chosen)
    let running = server.running
    running.enter()
    // Without a reference to the server: the thread must not keep it alive.
    Thread.detachNewThread {
      var loop = LoopbackLoop(listener: listener, ringing: pair.reader, bell: bell, desk: desk)
      loop.run()
      running.leave()
    }
    return server
  }

  /// The system's time in milliseconds since 1970, UTC.
  package static let systemTime: @Sendable () -> Int64 = {
    Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
  }

  private init(desk: LoopbackMailbox, port: UInt16) {
    self.desk = desk
    self.port = port
    running = DispatchGroup()
    baseURL = Self.address(port)
  }

  private static func address(_ port: UInt16) -> URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = "127.0.0.1"
    components.port = Int(port)
    // Scheme, host and port always make an address; the other branch is for the type checker.
    return components.url ?? URL(fileURLWithPath: "/")
  }

  /// Has the service asked again what becomes of the requests that wait.
  package func ring() {
    desk.ring()
  }

  deinit {
    desk.stop()
  }

  /// Ends all connections and stops listening; when it returns the port is free.
  ///
  /// Calling it again does nothing. Held requests end without an answer, and ``received(_:count:)`` returns false.
  public func stop() {
    desk.stop()
    running.wait()
  }
}

// Levers.
extension LoopbackServer {
  /// The knobs, to be read and turned while the server runs.
  public var settings: LoopbackSettingsProxy { LoopbackSettingsProxy(desk: desk) }

  /// Makes the next requests of an endpoint go wrong; faults queue up, each request takes one.
  ///
  /// A request that waits at a gate takes its fault when it passes.
  public func failNext(
    _ endpoint: LoopbackEndpoint, with fault: LoopbackFault, times: Int = 1
  ) {
    desk.change { $0.addFault(fault, to: endpoint, times: times) }
  }

  /// Forgets the faults that no request has taken yet.
  public func clearFaults() {
    desk.change { $0.clearFaults() }
  }

  /// Holds back the requests of an endpoint that arrive from now on, until the gate is opened.
  ///
  /// - Parameters:
  ///   - endpoint: whose requests.
  ///   - moment: before the server acts on them (the default), or after, with the answer withheld.
  public func hold(
    _ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment = .beforeActing
  ) -> LoopbackGate {
    LoopbackGate(desk: desk, id: desk.change { $0.gates.close(endpoint, at: moment) })
  }

  /// Makes every access and refresh token issued so far worthless: 401 `TOKEN_REVOKED`.
  public func revokeAllTokens() {
    desk.change { $0.backend.revoke(access: true, refresh: true) }
  }

  /// Makes every access token issued so far worthless; refresh tokens stay good.
  ///
  /// - Requirement: REF-2
  public func revokeAccessTokens() {
    desk.change { $0.backend.revoke(access: true, refresh: false) }
  }

  /// Changes a user, such as the permissions of a context; tokens issued later tell it.
  ///
  /// The closure runs under the server's lock: it must not call the server.
  ///
  /// - Returns: whether there is a user of that id.
  /// - Requirement: STA-5
  @discardableResult
  public func updateUser(_ id: String, _ change: (inout LoopbackUser) -> Void) -> Bool {
    desk.change { state in
      guard let index = state.backend.users.firstIndex(where: { $0.id == id }) else {
        return false
      }
      change(&state.backend.users[index])
      state.backend.learn(state.backend.users[index])
      return true
    }
  }
}

// What happened.
extension LoopbackServer {
  /// Every call received, in order of arrival; without secrets.
  public var calls: [LoopbackCall] { desk.read(\.calls) }

  /// The calls that broke a rule of the wire, such as a refresh with `Authorization`.
  ///
  /// - Requirement: REF-4
  public var violations: [LoopbackCall] { calls.filter { $0.violation != nil } }

  /// The calls as text, one a line; without secrets.
  public var log: String { calls.map(\.description).joined(separator: "\n") }

  /// How many requests of an endpoint were received, answered or not.
  public func count(of endpoint: LoopbackEndpoint) -> Int {
    desk.read { $0.count(.received(endpoint)) }
  }

  /// What was changed at `POST /changes`: each once, however often it came, in the order of coming.
  public var changes: [LoopbackChange] { desk.read(\.backend.changes) }

  /// How many connections the calls so far came on.
  public var connectionCount: Int { Set(calls.map(\.connection)).count }

  /// Waits until so many requests of an endpoint were received since the start.
  ///
  /// - Returns: true once they were; false when the server stopped or the task was cancelled first.
  @discardableResult
  public func received(_ endpoint: LoopbackEndpoint, count: Int = 1) async -> Bool {
    await desk.wait(for: .received(endpoint), count: count)
  }

  /// Waits until so many requests of an endpoint were answered, or dropped, since the start.
  ///
  /// The server has acted then; the answer may still be on its way.
  ///
  /// - Returns: true once they were; false when the server stopped or the task was cancelled first.
  @discardableResult
  public func answered(_ endpoint: LoopbackEndpoint, count: Int = 1) async -> Bool {
    await desk.wait(for: .finished(endpoint), count: count)
  }

  /// Every token, password and e-mail address issued or seen so far: none may be in your files.
  ///
  /// Of a three-part token the second and the third part are listed as well, for the claims hold the
  /// e-mail address.
  public var secrets: Set<String> { desk.read(\.backend.vault.secrets) }
}
