import Dispatch
public import Foundation
public import SessionCore
public import SessionKit
import Synchronization

/// An auth server for tests on 127.0.0.1, with real sockets, HTTP/1.1 and the EDU protocol.
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
/// A test can change its settings, make requests fail, and hold requests back.
///
/// The server supports HTTP/1.0 and 1.1 with keep-alive, pipelining and chunked bodies. It rejects
/// requests that are malformed (400), too long (413, 414, 431) or not supported (417, 501, 505).
///
/// One thread of its own serves all connections, so it uses no thread of the cooperative pool.
/// Every answer has a `Date`, unless the settings disable it. All members can be used from any
/// thread.
///
/// - Requirement: TST-2
public final class LoopbackServer: Sendable {
  /// The address of the server, `http://127.0.0.1:PORT`.
  public let baseURL: URL
  /// The port on which it listens.
  public let port: UInt16
  private let desk: LoopbackMailbox
  private let running: DispatchGroup

  /// Starts a server; it runs until ``stop()`` or until the last reference is released.
  ///
  /// - Parameters:
  ///   - backend: The service, with its users.
  ///   - port: The port to listen on. With 0 the system chooses a free one that no server of this
  ///     process had before.
  ///   - clock: The server's time, by default the system's. It decides expiry and `Date`. Latency
  ///     and delays use real time. It is called on the server's thread and must not block.
  /// - Throws: ``LoopbackError`` if the port is in use or the system gives no socket.
  public static func start(
    backend: LoopbackBackend = .edu(), port: UInt16 = 0,
    clock: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }
  ) throws(LoopbackError) -> LoopbackServer {
    try start(backend: backend, service: nil, port: port) { clock().milliseconds }
  }

  /// Starts a server for a service that a test scripts; call ``ring()`` after a fate has changed.
  package static func start(
    service: any LoopbackService, clock: @escaping @Sendable () -> Int64
  ) throws(LoopbackError) -> LoopbackServer {
    try start(backend: .edu(users: []), service: service, port: 0, clock: clock)
  }

  private static func start(
    backend: LoopbackBackend, service: (any LoopbackService)?, port: UInt16,
    clock: @escaping @Sendable () -> Int64
  ) throws(LoopbackError) -> LoopbackServer {
    let (listener, chosen): (Socket, port: UInt16)
    let pair: (reader: Socket, writer: Socket)
    do throws(SocketError) {
      (listener, chosen) = try Socket.listening(port: port)
      do throws(SocketError) { pair = try Socket.pair() } catch {
        listener.close()
        throw error
      }
    } catch {
      throw .socket(call: error.call, code: error.code)
    }
    let bell = Wakeup(writer: pair.writer)
    let desk = LoopbackMailbox(backend: backend, service: service, bell: bell, clock: clock)
    let server = LoopbackServer(desk: desk, port: chosen)
    let running = server.running
    running.enter()
    // The thread has no reference to the server, so that it does not keep the server alive.
    Thread.detachNewThread {
      var loop = LoopbackLoop(listener: listener, ringing: pair.reader, bell: bell, desk: desk)
      loop.run()
      running.leave()
    }
    return server
  }

  /// Returns the system's time in milliseconds since 1970, UTC.
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
    // A URL of scheme, host and port is always valid; the other branch satisfies the type checker.
    return components.url ?? URL(fileURLWithPath: "/")
  }

  /// Makes the server ask the service again about the requests that wait.
  package func ring() {
    desk.ring()
  }

  deinit {
    desk.stop()
  }

  /// Ends all connections and stops listening; the port is free when the call returns.
  ///
  /// A second call does nothing. Held requests end without an answer, and ``received(_:count:)``
  /// returns `false`.
  public func stop() {
    desk.stop()
    running.wait()
  }
}

// Settings, faults and gates.
extension LoopbackServer {
  /// The settings, which a test can read and change while the server runs.
  public var settings: LoopbackSettingsProxy { LoopbackSettingsProxy(desk: desk) }

  /// Makes the next requests of an endpoint fail; each request takes one fault from the queue.
  ///
  /// A request that waits at a gate before the server acts takes its fault when it passes.
  public func failNext(
    _ endpoint: LoopbackEndpoint, with fault: LoopbackFault, times: Int = 1
  ) {
    desk.change { $0.addFault(fault, to: endpoint, times: times) }
  }

  /// Removes the faults that no request has taken yet.
  public func clearFaults() {
    desk.change { $0.clearFaults() }
  }

  /// Holds requests of an endpoint back that arrive from now on, until the gate is opened.
  ///
  /// - Parameters:
  ///   - endpoint: The endpoint whose requests are held.
  ///   - moment: Whether to hold them before the server acts (the default), or to hold the answer
  ///     after it.
  public func hold(
    _ endpoint: LoopbackEndpoint, at moment: LoopbackFault.Moment = .beforeActing
  ) -> LoopbackGate {
    LoopbackGate(desk: desk, id: desk.change { $0.gates.close(endpoint, at: moment) })
  }

  /// Revokes all access and refresh tokens issued so far: 401 `TOKEN_REVOKED`.
  public func revokeAllTokens() {
    desk.change { $0.backend.revoke(access: true, refresh: true) }
  }

  /// Revokes all access tokens issued so far; refresh tokens stay valid.
  ///
  /// - Requirement: REF-2
  public func revokeAccessTokens() {
    desk.change { $0.backend.revoke(access: true, refresh: false) }
  }

  /// Changes a user, such as the permissions of a context; tokens issued later contain the change.
  ///
  /// The closure runs under the server's lock, so it must not call the server.
  ///
  /// - Returns: Whether a user with this id exists.
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

// Recorded calls.
extension LoopbackServer {
  /// All received calls, in order of arrival; they contain no secret.
  public var calls: [LoopbackCall] { desk.read(\.calls) }

  /// The calls that broke a rule of the protocol, such as a refresh with `Authorization`.
  ///
  /// - Requirement: REF-4
  public var violations: [LoopbackCall] { calls.filter { $0.violation != nil } }

  /// The calls as text, one per line; it contains no secret.
  public var log: String { calls.map(\.description).joined(separator: "\n") }

  /// Returns the number of requests of an endpoint that were received, answered or not.
  public func count(of endpoint: LoopbackEndpoint) -> Int {
    desk.read { $0.count(.received(endpoint)) }
  }

  /// The changes that were sent to `POST /changes`, without repetitions, in order of arrival.
  public var changes: [LoopbackChange] { desk.read(\.backend.changes) }

  /// The number of connections of all calls so far.
  public var connectionCount: Int { Set(calls.map(\.connection)).count }

  /// Waits until `count` requests of an endpoint were received since the start.
  ///
  /// - Returns: `true` if they were received; `false` if the server stopped or the task was
  ///   cancelled before.
  @discardableResult
  public func received(_ endpoint: LoopbackEndpoint, count: Int = 1) async -> Bool {
    await desk.wait(for: .received(endpoint), count: count)
  }

  /// Waits until `count` requests of an endpoint were answered or dropped since the start.
  ///
  /// The server has acted then. The answer may not have arrived yet.
  ///
  /// - Returns: `true` if they were answered; `false` if the server stopped or the task was
  ///   cancelled before.
  @discardableResult
  public func answered(_ endpoint: LoopbackEndpoint, count: Int = 1) async -> Bool {
    await desk.wait(for: .finished(endpoint), count: count)
  }

  /// All tokens, passwords and e-mail addresses issued or received so far; no file may contain one.
  ///
  /// The second and third part of a token with three parts are included, since the claims contain
  /// the e-mail address.
  public var secrets: Set<String> { desk.read(\.backend.secrets) }
}

/// A gate that holds requests of one endpoint back until a test lets them pass.
///
/// It is closed when ``LoopbackServer/hold(_:at:)`` returns it. Requests pass in order of arrival.
/// Dropping the value does not open the gate. If the server stops, the held connections end.
public struct LoopbackGate: Sendable {
  let desk: LoopbackMailbox
  let id: Int

  /// The number of requests that wait at the gate now.
  public var waiting: Int { desk.waiting(atGate: id) }

  /// Opens the gate permanently: all requests pass, now and later.
  ///
  /// A second call does nothing.
  public func open() { desk.openGate(id) }

  /// Lets this many requests pass: first those that wait, the oldest first, then the next to
  /// arrive.
  public func admit(_ count: Int) { desk.admit(count, atGate: id) }

  /// Lets the request pass that arrived last; does nothing if none waits.
  ///
  /// A gate before acting holds a request from its arrival on: after
  /// ``LoopbackServer/received(_:count:)`` the request waits. At a gate after acting it may wait later.
  public func admitNewest() { desk.admitNewest(atGate: id) }
}

/// Access to a running server's settings.
@dynamicMemberLookup
public struct LoopbackSettingsProxy: Sendable {
  let desk: LoopbackMailbox

  /// The current settings.
  public var current: LoopbackSettings { desk.read(\.settings) }

  /// Changes the settings in one step.
  ///
  /// The new settings apply to requests that the server has not acted on yet. The closure runs
  /// under the server's lock, so it must not call the server.
  public func update(_ change: (inout LoopbackSettings) -> Void) {
    desk.change { change(&$0.settings) }
  }

  /// The current value of one setting.
  public subscript<Value>(dynamicMember path: KeyPath<LoopbackSettings, Value>) -> Value {
    current[keyPath: path]
  }
}
