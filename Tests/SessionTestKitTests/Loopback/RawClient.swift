import Foundation
import SessionCore
import SessionTestKit

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A client that sends exactly the given bytes; it blocks, so use it inside `onThread`.
final class RawClient {
  struct Failure: Error {
    let call: String
    let code: Int32
  }

  struct Reply: Equatable {
    var status: Int
    var head: String
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
      for line in head.components(separatedBy: "\r\n").dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2, parts[0].lowercased() == name {
          return parts[1].trimmingCharacters(in: .whitespaces)
        }
      }
      return nil
    }
  }

  private let descriptor: Int32
  private var input: [UInt8] = []

  init(port: UInt16) throws {
    #if canImport(Glibc)
    let type = Int32(SOCK_STREAM.rawValue)
    #else
    let type = SOCK_STREAM
    #endif
    descriptor = socket(AF_INET, type, 0)
    // A test that waits without end fails instead. All tests start at once, so this is long.
    let patience = ProcessInfo.processInfo.environment["SESSION_PATIENCE"].flatMap(Int.init) ?? 240
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    var on: Int32 = 1
    #if canImport(Darwin)
    setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
    let tcp = Int32(IPPROTO_TCP)
    setsockopt(descriptor, tcp, TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafeBytes(of: &address) { bytes in
      connect(
        descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)
      )
    }
    guard result == 0 else { throw Failure(call: "connect", code: errno) }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    #if os(Linux)
    let flags = Int32(MSG_NOSIGNAL)
    #else
    let flags: Int32 = 0
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Self.systemSend(descriptor, $0.baseAddress, $0.count, flags)
      }
      guard sent > 0 else { throw Failure(call: "send", code: errno) }
      rest = rest.dropFirst(sent)
    }
  }

  func finishWriting() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// The next response; nil if the server closed the connection before a whole one.
  func reply() throws -> Reply? {
    var head: Int?
    var searched = 0
    while head == nil {
      while searched + 4 <= input.count {
        if input[searched..<(searched + 4)].elementsEqual("\r\n\r\n".utf8) {
          head = searched + 4
          break
        }
        searched += 1
      }
      if head == nil, try !receive() { return nil }
    }
    let end = head ?? 0
    let text = String(decoding: input[..<(end - 4)], as: UTF8.self)
    var reply = Reply(status: Int(text.dropFirst(9).prefix(3)) ?? 0, head: text, body: [])
    let length = reply.header("content-length").flatMap { Int($0) } ?? 0
    while input.count < end + length { if try !receive() { return nil } }
    reply.body = Array(input[end..<(end + length)])
    input.removeFirst(end + length)
    return reply
  }

  /// The next bytes, this many.
  func bytes(_ count: Int) throws -> [UInt8] {
    while input.count < count {
      guard try receive() else { throw Failure(call: "recv", code: 0) }
    }
    defer { input.removeFirst(count) }
    return Array(input[..<count])
  }

  /// All bytes until the server closes the connection.
  func rest() throws -> String {
    while try receive() {}
    return String(decoding: input, as: UTF8.self)
  }

  func post(_ path: String, _ body: String, bearer: String? = nil) throws -> Reply? {
    let authorization = bearer.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    try send(
      "POST \(path) HTTP/1.1\r\nHost: h\r\n\(authorization)Content-Length: \(body.utf8.count)"
        + "\r\n\r\n\(body)")
    return try reply()
  }

  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == ECONNRESET { return false }
    guard count >= 0 else { throw Failure(call: "recv", code: errno) }
    input += buffer.prefix(count)
    return count > 0
  }

  #if canImport(Darwin)
  private static let systemSend = Darwin.send
  #elseif canImport(Glibc)
  private static let systemSend = Glibc.send
  #elseif canImport(Musl)
  private static let systemSend = Musl.send
  #endif
}

/// Runs blocking work on its own thread, so that the cooperative pool stays free.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws
  -> Result
{
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
  }
}

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client like that of an app: `URLSession`, with its own connections.
struct WebClient: Sendable {
  struct Reply: Sendable {
    let status: Int
    let body: Data
    let headers: [String: String]

    var tokens: TokenReply { get throws { try TokenReply.read(body) } }
    var code: String? { get throws { try tokens.error?.code } }
  }

  let base: URL
  private let session: URLSession

  init(_ server: LoopbackServer) {
    base = server.baseURL
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 60
    session = URLSession(configuration: configuration)
  }

  func send(
    _ method: String, _ path: String, _ members: [String: String]? = nil, bearer: String? = nil
  ) async throws -> Reply {
    var request = URLRequest(url: base.appendingPathComponent(path))
    request.httpMethod = method
    if let members {
      request.httpBody = try JSONEncoder().encode(members)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    if let bearer { request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization") }
    let (body, response) = try await session.data(for: request)
    guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    var headers: [String: String] = [:]
    for (name, value) in http.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
    return Reply(status: http.statusCode, body: body, headers: headers)
  }

  func login(_ user: LoopbackUser = .sample) async throws -> Reply {
    try await send("POST", "auth/login", ["email": user.email, "password": user.password])
  }

  func refresh(_ token: String?) async throws -> Reply {
    try await send("POST", "auth/refresh", ["refresh_token": token ?? ""])
  }

  func materials(_ token: String?) async throws -> Reply {
    try await send("GET", "materials", bearer: token)
  }
}

/// The members of the responses that the tests examine.
struct TokenReply: Decodable, Equatable, Sendable {
  struct Context: Decodable, Equatable, Sendable {
    var roleName: String
    var schoolId: String
    var academicUnitId: String?
    var permissions: [String]
  }

  struct User: Decodable, Equatable, Sendable {
    var id: String
    var email: String
    var firstName: String
    var lastName: String
  }

  struct Failure: Decodable, Equatable, Sendable {
    var code: String
    var message: String
  }

  struct Claims: Decodable, Equatable, Sendable {
    var sub: String
    var email: String
    var jti: String
    var iat: Int
    var nbf: Int
    var exp: Int
    var iss: String
    var activeContext: Context?
  }

  var accessToken: String?
  var refreshToken: String?
  var expiresIn: Int?
  var tokenType: String?
  var user: User?
  var activeContext: Context?
  var context: Context?
  var error: Failure?

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  static func read(_ bytes: some Sequence<UInt8>) throws -> TokenReply {
    try decoder.decode(TokenReply.self, from: Data(bytes))
  }

  /// The claims of the access token.
  func claims() throws -> Claims {
    let parts = (accessToken ?? "").split(separator: ".")
    var text = String(parts.dropFirst().first ?? "").replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try Self.decoder.decode(Claims.self, from: Data(base64Encoded: text) ?? Data())
  }
}
