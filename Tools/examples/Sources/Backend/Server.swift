public import Foundation
import Synchronization

/// A small HTTP server on loopback: a thread for each connection, one request on each.
public final class Server: Sendable {
  /// A received request.
  public struct Request: Sendable {
    /// The method, such as `GET`.
    public let method: String
    /// The path, with a leading slash.
    public let path: String
    /// The values of the header fields, by lower-case name.
    public let headers: [String: String]
    /// The whole body.
    public let body: Data
  }

  /// A response: a status, and an object as JSON.
  public struct Response: Sendable {
    /// The status, from 100 to 599.
    public var status: Int
    /// The body, as JSON.
    public var body: String

    /// Creates a response; by default its body is an empty object.
    public init(_ status: Int, _ body: String = "{}") {
      self.status = status
      self.body = body
    }
  }

  /// The reason why the server could not start.
  public struct Problem: LocalizedError, CustomStringConvertible {
    /// The call that failed.
    public let call: String
    /// Its `errno`.
    public let code: Int32

    /// The call and its code.
    public var description: String { "\(call) failed with \(code)" }
    /// The same as the description.
    public var errorDescription: String? { description }
  }

  /// The address of the server.
  public let url: URL
  private let port: UInt16
  private let listener: Mutex<Int32?>
  private let answer: @Sendable (Request) -> Response

  /// Starts to listen; `answer` is called on the thread of a connection.
  public init(_ answer: @escaping @Sendable (Request) -> Response) throws {
    let (socket, port) = try Self.listen(0)
    guard let url = URL(string: "http://127.0.0.1:\(port)") else {
      throw Problem(call: "URL", code: 0)
    }
    self.url = url
    self.port = port
    self.answer = answer
    listener = Mutex(socket)
    accept(on: socket)
  }

  /// Stops listening, as if there were no network.
  public func goAway() {
    listener.withLock { socket in
      guard let open = socket.take() else { return }
      shutdown(open, Int32(SHUT_RDWR))
      close(open)
    }
  }

  /// Listens again on the same port.
  public func comeBack() throws {
    let (socket, _) = try Self.listen(port)
    listener.withLock { $0 = socket }
    accept(on: socket)
  }

  private static func listen(_ port: UInt16) throws -> (Int32, UInt16) {
    #if canImport(Darwin)
    let stream = SOCK_STREAM
    #else
    let stream = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, stream, 0)
    guard listener >= 0 else { throw Problem(call: "socket", code: errno) }
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && Foundation.listen(listener, 128) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isListening else {
      let code = errno
      close(listener)
      throw Problem(call: "bind or listen", code: code)
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  private func accept(on listener: Int32) {
    let answer = answer
    Thread.detachNewThread {
      while true {
        let connection = Foundation.accept(listener, nil, nil)
        guard connection >= 0 else { return }
        Thread.detachNewThread {
          if let request = Self.read(connection) { Self.write(answer(request), to: connection) }
          close(connection)
        }
      }
    }
  }

  private static func read(_ connection: Int32) -> Request? {
    var received = Data()
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let request = parse(received) { return request }
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return nil }
      received.append(contentsOf: chunk[..<count])
    }
  }

  /// Parses a request; `nil` if bytes are missing, or the request line is malformed.
  private static func parse(_ bytes: Data) -> Request? {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ").map(String.init)
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] =
        line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    let body = bytes[end.upperBound...]
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    guard body.count >= length else { return nil }
    return Request(
      method: words[0], path: words[1], headers: headers, body: Data(body.prefix(length)))
  }

  private static func write(_ response: Response, to connection: Int32) {
    let body = response.status == 204 ? "" : response.body
    let head = """
      HTTP/1.1 \(response.status) Response\r
      Content-Type: application/json\r
      Content-Length: \(body.utf8.count)\r
      Connection: close\r\n\r\n
      """
    var rest = Array((head + body).utf8)[...]
    #if canImport(Darwin)
    let flags: Int32 = 0
    #else
    let flags = Int32(MSG_NOSIGNAL)
    #endif
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
