import Foundation
import Synchronization
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A backend of one closure on real sockets: it sees each request with its whole body, and answers,
/// or hangs up on a kept connection.
final class CallServer: Sendable {
  struct SystemError: Error {
    let call: String
    let code: Int32
  }

  struct Request: Sendable {
    /// Which of the server's connections, from 1.
    var connection = 0
    var method = ""
    var target = ""
    var fields: [String: String] = [:]
    var body: [UInt8] = []

    var token: String? { fields["authorization"]?.components(separatedBy: "Bearer ").last }
  }

  enum Reply: Sendable {
    case answer(Int, fields: [String: String] = [:], body: String = "{}")
    /// The connection ends without a byte.
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

  /// What the threads share; they do not keep the server alive.
  private final class Shelf: Sendable {
    let state = Mutex(State())
    let handler: @Sendable (Request, Int) -> Reply

    init(_ handler: @escaping @Sendable (Request, Int) -> Reply) {
      self.handler = handler
    }
  }

  /// The handler is told the request and how many came before it; may block.
  init(_ handler: @escaping @Sendable (Request, Int) -> Reply) throws {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { throw SystemError(call: "socket", code: errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { address in
        guard let address = address.baseAddress else { return false }
        return bind(listener, address, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else {
      let code = errno
      close(listener)
      throw SystemError(call: "listen", code: code)
    }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    url = try #require(URL(string: "http://127.0.0.1:\(port)"))
    let shelf = Shelf(handler)
    state = shelf
    Thread.detachNewThread { CallServer.serve(listener, shelf) }
  }

  deinit {
    // Wakes the threads, which close what is theirs.
    let open = state.state.withLock { state in
      state.isOver = true
      return state.connections.keys.map { $0 }
    }
    for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// The requests that came, in order; one whose body never came whole is not among them.
  var requests: [Request] { state.state.withLock { $0.requests } }

  /// The values of the `Authorization` fields that came, in order.
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
        guard write(connection, Array((text + "\r\n" + body).utf8)) else { return }
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
      _ = write(connection, Array("HTTP/1.1 100 Go on\r\n\r\n".utf8))
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

  private static func write(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
    #if canImport(Darwin)
      let quietly: Int32 = 0x80000
    #else
      let quietly = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, quietly) }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }
}
