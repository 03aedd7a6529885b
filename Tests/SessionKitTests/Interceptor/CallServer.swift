import Foundation
import SessionKit
import Synchronization
import Testing

@testable import SessionTestKit

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A backend of one closure on real sockets.
///
/// It receives each request with its whole body, and answers or hangs up on a kept connection. Unlike
/// a `LoopbackServer` it has a thread for each connection, so that the closure may block.
final class CallServer: Sendable {
  struct Request: Sendable {
    /// The number of the server's connection, from 1.
    let connection: Int
    let method: String
    let target: String
    let fields: [String: String]
    let body: [UInt8]

    init(_ request: ReceivedRequest, on connection: Int) {
      (self.connection, method, body) = (connection, request.method, request.body)
      target = request.path + (request.query.map { "?\($0)" } ?? "")
      fields = Dictionary(request.fields.map { ($0.name, $0.value) }) { $1 }
    }

    var token: String? { fields["authorization"]?.components(separatedBy: "Bearer ").last }
  }

  enum Reply: Sendable {
    case answer(Int, fields: [String: String] = [:], body: String = "{}")
    /// The head, and the body as the closure sends it.
    ///
    /// The fields state the body's length.
    ///
    /// `send` returns whether the client took the bytes.
    case stream(Int, fields: [String: String], @Sendable (_ send: ([UInt8]) -> Bool) -> Void)
    /// These bytes, which no correct server gives; then it hangs up.
    case raw(String)
    /// The connection closes without a byte.
    case hangUp
  }

  private struct State {
    var requests: [Request] = []
    var connections: [Int32: Int] = [:]
    var connectionCount = 0
    var isOver = false
  }

  let url: URL
  let port: UInt16
  private let listener: Socket
  private let state: Shelf

  /// The state that the threads share.
  ///
  /// They do not keep the server alive.
  private final class Shelf: Sendable {
    let state = Mutex(State())
    let handler: @Sendable (Request, Int) -> Reply

    init(_ handler: @escaping @Sendable (Request, Int) -> Reply) { self.handler = handler }
  }

  /// The handler receives the request and the number of earlier ones, and may block.
  init(_ handler: @escaping @Sendable (Request, Int) -> Reply) throws {
    let (listener, port) = try Socket.listening(port: 0)
    // Its thread waits for connections, and those for bytes.
    try #require(fcntl(listener.descriptor, F_SETFL, 0) == 0)
    (self.listener, self.port) = (listener, port)
    url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    let shelf = Shelf(handler)
    state = shelf
    Thread.detachNewThread { CallServer.serve(listener, shelf) }
  }

  deinit {
    // Wakes the threads, which close their own connections. All of it is under the lock: the number of a
    // closed connection may be another test's by then.
    state.state.withLock { state in
      if !state.isOver { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
      state.isOver = true
      for connection in state.connections.keys { shutdown(connection, Int32(SHUT_RDWR)) }
    }
  }

  /// The requests that came, in order.
  ///
  /// A request whose body was incomplete is not included.
  var requests: [Request] { state.state.withLock { $0.requests } }

  /// The values of the `Authorization` fields, in order.
  var authorizations: [String?] { requests.map { $0.fields["authorization"] } }

  private static func serve(_ listener: Socket, _ shelf: Shelf) {
    defer {
      shelf.state.withLock { state in
        state.isOver = true
        listener.close()
      }
    }
    while true {
      let connection = accept(listener.descriptor, nil, nil)
      guard connection >= 0 else { return }
      let number = shelf.state.withLock { state -> Int? in
        guard !state.isOver else { return nil }
        state.connectionCount += 1
        state.connections[connection] = state.connectionCount
        return state.connectionCount
      }
      guard let number else {
        close(connection)
        return
      }
      Thread.detachNewThread {
        CallServer.serve(connection, number: number, shelf)
        shelf.state.withLock { $0.connections[connection] = nil }
        close(connection)
      }
    }
  }

  private static func serve(_ connection: Int32, number: Int, _ shelf: Shelf) {
    var limits = HTTPLimits()
    limits.bodyBytes = 1 << 30
    var parser = HTTPRequestParser(limits: limits)
    while let received = read(connection, &parser) {
      let request = Request(received, on: number)
      let place = shelf.state.withLock { state in
        state.requests.append(request)
        return state.requests.count - 1
      }
      func head(_ status: Int, _ fields: [String: String]) -> String {
        "HTTP/1.1 \(status) Said\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
      }
      switch shelf.handler(request, place) {
      case .hangUp: return
      case .raw(let text):
        send(Array(text.utf8), to: connection)
        shutdown(connection, Int32(SHUT_WR))
        var sink = [UInt8](repeating: 0, count: 4096)
        while recv(connection, &sink, sink.count, 0) > 0 {}
        return
      case .answer(let status, let fields, let body):
        // One call for both: an answer to HEAD has no body, and its client drops what comes with it.
        let length = ["Content-Length": "\(body.utf8.count)"]
        let text = head(status, length.merging(fields) { $1 }) + body
        guard send(Array(text.utf8), to: connection) else { return }
      case .stream(let status, let fields, let body):
        guard send(Array(head(status, fields).utf8), to: connection) else { return }
        body { send($0, to: connection) }
      }
    }
  }

  private static func read(_ connection: Int32, _ parser: inout HTTPRequestParser)
    -> ReceivedRequest?
  {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      switch parser.next() {
      case .request(let request): return request
      case .rejected: return nil
      case .expectsContinue: send(Array("HTTP/1.1 100 Go on\r\n\r\n".utf8), to: connection)
      case .needsMoreBytes:
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        parser.feed(buffer[..<count])
      }
    }
  }

  /// Sends all bytes.
  ///
  /// Returns `false` if the client has hung up, which must not end the process.
  @discardableResult
  private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    #if canImport(Darwin)
    let quietly: Int32 = 0x80000
    #else
    let quietly = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { bytes in
        #if canImport(Darwin)
        Darwin.send(connection, bytes.baseAddress, bytes.count, quietly)
        #else
        Glibc.send(connection, bytes.baseAddress, bytes.count, quietly)
        #endif
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }
}

/// A value that the threads of a test share.
final class SharedValue<Value: Sendable>: Sendable {
  private let held: Mutex<Value?>

  init(_ value: Value? = nil) { held = Mutex(value) }

  var value: Value? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
