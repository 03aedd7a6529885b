import Foundation
import Synchronization
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A backend of one closure on real sockets.
///
/// It receives each request with its whole body, and answers or hangs up on a kept connection.
final class CallServer: Sendable {
  struct Request: Sendable {
    /// The number of the server's connection, from 1.
    var connection = 0
    var method = ""
    var target = ""
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    var token: String? { fields["authorization"]?.components(separatedBy: "Bearer ").last }
  }

  enum Reply: Sendable {
    case answer(Int, fields: [String: String] = [:], body: String = "{}")
    /// The head, and the body as the closure sends it.
    ///
    /// The fields state the body's length.
    ///
    /// `send` returns whether the client took the bytes.
    case stream(
      Int, fields: [String: String], @Sendable (_ send: ([UInt8]) -> Bool) -> Void)
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
  private let listener: Int32
  private let state: Shelf

  /// The state that the threads share.
  ///
  /// They do not keep the server alive.
  private final class Shelf: Sendable {
    let state = Mutex(State())
    let handler: @Sendable (Request, Int) -> Reply

    init(_ handler: @escaping @Sendable (Request, Int) -> Reply) {
      self.handler = handler
    }
  }

  /// The handler receives the request and the number of earlier ones, and may block.
  init(_ handler: @escaping @Sendable (Request, Int) -> Reply) throws {
    let (listener, port) = try PlainSocket.listener(backlog: 64)
    (self.listener, self.port) = (listener, port)
    url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    let shelf = Shelf(handler)
    state = shelf
    Thread.detachNewThread { CallServer.serve(listener, shelf) }
  }

  deinit {
    // Wakes the threads, which close their own connections.
    let open = state.state.withLock { state in
      state.isOver = true
      return state.connections.keys.map { $0 }
    }
    for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// The requests that came, in order.
  ///
  /// A request whose body was incomplete is not included.
  var requests: [Request] { state.state.withLock { $0.requests } }

  /// The values of the `Authorization` fields, in order.
  var authorizations: [String?] { requests.map { $0.fields["authorization"] } }

  private static func serve(_ listener: Int32, _ shelf: Shelf) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      let number = shelf.state.withLock { state -> Int? in
        guard !state.isOver else { return nil }
        state.connectionCount += 1
        state.connections[connection] = state.connectionCount
        return state.connectionCount
      }
      guard let number else {
        close(connection)
        break
      }
      Thread.detachNewThread {
        CallServer.serve(connection, number: number, shelf)
        shelf.state.withLock { $0.connections[connection] = nil }
        close(connection)
      }
    }
    close(listener)
  }

  private static func serve(_ connection: Int32, number: Int, _ shelf: Shelf) {
    while let request = read(connection, number) {
      let place = shelf.state.withLock { state in
        state.requests.append(request)
        return state.requests.count - 1
      }
      switch shelf.handler(request, place) {
      case .hangUp: return
      case .answer(let status, let fields, let body):
        var text = "HTTP/1.1 \(status) Said\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        guard PlainSocket.send(Array((text + "\r\n" + body).utf8), to: connection) else { return }
      case .stream(let status, let fields, let body):
        var text = "HTTP/1.1 \(status) Said\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        guard PlainSocket.send(Array((text + "\r\n").utf8), to: connection) else { return }
        body { PlainSocket.send($0, to: connection) }
      }
    }
  }

  private static func read(_ connection: Int32, _ number: Int) -> Request? {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      guard recv(connection, &byte, 1, 0) == 1 else { return nil }
      head.append(byte)
    }
    let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ").map(String.init)
    guard words.count == 3 else { return nil }
    var request = Request(connection: number, method: words[0], target: words[1])
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      request.fields[line[..<colon].lowercased()] = value
    }
    if request.fields["expect"] != nil {
      PlainSocket.send(Array("HTTP/1.1 100 Go on\r\n\r\n".utf8), to: connection)
    }
    if request.fields["transfer-encoding"] == "chunked" {
      guard let body = readChunks(connection) else { return nil }
      request.body = body
      return request
    }
    guard let body = readBytes(connection, Int(request.fields["content-length"] ?? "0") ?? 0) else {
      return nil
    }
    request.body = body
    return request
  }

  private static func readBytes(_ connection: Int32, _ count: Int) -> [UInt8]? {
    var body = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let got = body.withUnsafeMutableBytes {
        recv(connection, $0.baseAddress?.advanced(by: filled), count - filled, 0)
      }
      guard got > 0 else { return nil }
      filled += got
    }
    return body
  }

  private static func readChunks(_ connection: Int32) -> [UInt8]? {
    var body: [UInt8] = []
    while true {
      var line = ""
      while !line.hasSuffix("\r\n") {
        guard let byte = readBytes(connection, 1)?.first else { return nil }
        line.append(Character(UnicodeScalar(byte)))
        // A grapheme of two scalars.
        if line.unicodeScalars.suffix(2).elementsEqual(["\r", "\n"]) { break }
      }
      let size = line.trimmingCharacters(in: .whitespacesAndNewlines)
      guard let count = Int(size, radix: 16), let bytes = readBytes(connection, count),
        readBytes(connection, 2) != nil
      else { return nil }
      if count == 0 { return body }
      body += bytes
    }
  }
}

/// A value that the threads of a test share.
final class SharedValue<Value: Sendable>: Sendable {
  private let held: Mutex<Value?>

  init(_ value: Value? = nil) {
    held = Mutex(value)
  }

  var value: Value? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
