import Foundation
import SessionHTTP
import SessionTestKit
import Synchronization

@testable import SessionKit

/// A session whose server checks every proof, and whose key a test replaces.
struct ProofBench {
  let key = HashingKey()
  let clock = ManualClock()
  let server: ProofServer
  let folder: SessionFolder

  init() throws { (server, folder) = (ProofServer(clock), try SessionFolder()) }

  func open() async throws -> Session {
    var backend = HTTPBackend.snakeCaseJSON(ProofServer.url)
    (backend.tokenForm, backend.transport) = (.opaque, server)
    backend.proof = ProofOfPossession(key: key)
    var configuration = SessionConfiguration(
      journal: folder.journal, secrets: FileSecretStore(folder: folder.secrets), backend: backend,
      policy: .keeping, clock: clock)
    configuration.followsOthers = false
    return try await Session.open(configuration)
  }

  func signedIn() async throws -> Session {
    let session = try await open()
    try await session.login(.password("a@b.test", "correct-horse"))
    return session
  }

  /// Makes a call, and returns the response's status.
  @discardableResult
  func call(_ session: Session) async throws -> Int {
    let url = URL(string: "/materials?page=2#x", relativeTo: ProofServer.url) ?? ProofServer.url
    let request = HTTPRequest(method: "GET", url: url.absoluteURL)
    return try await session.calls(by: TransportCalls(server)).send(request).status
  }
}

/// A key whose signature is a hash of the message and the public key, so that a test can check it.
final class HashingKey: ProofKey {
  private let state = Mutex<(x: UInt8, problem: ProofKeyError?)>((1, nil))

  func replace() { state.withLock { $0.x += 1 } }

  func fail(_ problem: ProofKeyError?) { state.withLock { $0.problem = problem } }

  func publicKey() async throws(ProofKeyError) -> ProofPublicKey {
    let (x, problem) = read()
    if let problem { throw problem }
    return try ProofPublicKey(
      x: Array(repeating: x, count: 32), y: Array(repeating: 7, count: 32))
  }

  func signature(for message: [UInt8]) async throws(ProofKeyError) -> [UInt8] {
    Self.signature(of: message, by: try await publicKey())
  }

  static func signature(of message: [UInt8], by key: ProofPublicKey) -> [UInt8] {
    SHA256.digest(message + key.x) + SHA256.digest(key.x + message)
  }

  private func read() -> (UInt8, ProofKeyError?) { state.withLock { ($0.x, $0.problem) } }
}

/// A server of tokens (`/auth/…`) and of calls that checks all that RFC 9449 §4.3 says.
final class ProofServer: HTTPTransport {
  static let url = URL(string: "https://api.school.test") ?? URL(filePath: "/")

  struct Book {
    /// The nonce that the next proof must have, of token requests and of calls.
    var nonces: [String: String] = [:]
    /// How many requests are refused, each with a new nonce.
    var refusals = 0
    var tokenType = "DPoP"
    /// How far the server's clock is ahead, in seconds.
    var skew: Int64 = 0
    /// The answers, such as `POST /auth/login 200`.
    var log: [String] = []
    fileprivate var used: Set<String> = []
    fileprivate var bound: ProofPublicKey?
    fileprivate var token = ""
  }

  let book = Mutex(Book())
  private let clock: ManualClock

  init(_ clock: ManualClock) { self.clock = clock }

  /// Returns the answers since the last question.
  func log() -> [String] {
    book.withLock { book in
      defer { book.log = [] }
      return book.log
    }
  }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    book.withLock { book in
      let fields = Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { $1 }
      let now = clock.now().time.milliseconds / 1000 + book.skew
      return book.answer(request.method, request.url, fields, at: now)
    }
  }
}

extension ProofServer.Book {
  /// Answers a request with these fields, whose names are in lower case.
  mutating func answer(
    _ method: String, _ url: URL, _ fields: [String: String], at now: Int64
  ) -> HTTPResponse {
    let server = url.path.hasPrefix("/auth") ? "tokens" : "calls"
    var problem = problem(method, url, fields, server, at: now)
    if refusals > 0 {
      refusals -= 1
      (problem, nonces[server]) = ("use_dpop_nonce", "n-\(refusals)")
    }
    var headers = [HTTPHeader("Date", Timestamp(milliseconds: now * 1000).httpDate)]
    // As a server that looks at the time first.
    if problem != "invalid_dpop_proof", let nonce = nonces[server] {
      headers.append(HTTPHeader("DPoP-Nonce", nonce))
    }
    var (status, body) = (200, "{}")
    if let problem, server == "calls" {
      status = 401
      let challenge = #"DPoP algs="ES256", error="\#(problem)""#
      headers.append(HTTPHeader("WWW-Authenticate", challenge))
    } else if let problem {
      (status, body) = (400, #"{"error":"\#(problem)"}"#)
    } else if server == "tokens" {
      token = LoopbackToken.make(claims: ["sub": "u-1", "jti": .string("\(used.count)")])
      body = """
        {"access_token":"\(token)","refresh_token":"R\(used.count)","expires_in":3600,\
        "token_type":"\(tokenType)","user":{"id":"u-1","email":"a@b.test"},"context":{\
        "role_id":"r","role_name":"r","school_id":"s","school_name":"s","permissions":[]}}
        """
    }
    log.append("\(method) \(url.path) \(status)\(problem.map { " \($0)" } ?? "")")
    return HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
  }

  private mutating func problem(
    _ method: String, _ url: URL, _ fields: [String: String], _ server: String, at now: Int64
  ) -> String? {
    if server == "calls", tokenType == "Bearer" {
      return fields["authorization"] == "Bearer \(token)" && fields["dpop"] == nil
        ? nil : "invalid_token"
    }
    let parts = (fields["dpop"] ?? "").split(separator: ".").map(String.init)
    guard parts.count == 3, let header = ProofServer.object(parts[0]),
      let claims = ProofServer.object(parts[1]),
      let jwk = header["jwk"] as? [String: String],
      let key = try? ProofPublicKey(
        x: ProofServer.bytes(jwk["x"]), y: ProofServer.bytes(jwk["y"])),
      header["typ"] as? String == "dpop+jwt", header["alg"] as? String == "ES256",
      ProofServer.bytes(parts[2])
        == HashingKey.signature(of: Array("\(parts[0]).\(parts[1])".utf8), by: key),
      claims["htm"] as? String == method,
      claims["htu"] as? String == url.absoluteString.components(separatedBy: "?")[0],
      let time = claims["iat"] as? Int64, abs(time - now) <= 60,
      let id = claims["jti"] as? String, used.insert(id).inserted
    else { return "invalid_dpop_proof" }
    if let nonce = nonces[server], claims["nonce"] as? String != nonce { return "use_dpop_nonce" }
    if server == "calls" || fields["authorization"] != nil {
      guard fields["authorization"] == "DPoP \(token)", key == bound,
        claims["ath"] as? String == Base64.encode(url: SHA256.digest(Array(token.utf8)))
      else { return "invalid_token" }
    } else if url.path.hasSuffix("refresh"), key != bound {
      return "invalid_grant"
    } else if claims["ath"] != nil {
      return "invalid_dpop_proof"
    } else {
      bound = key
    }
    return nil
  }
}

extension ProofServer {
  static func object(_ text: String) -> [String: Any]? {
    (try? JSONSerialization.jsonObject(with: Data(bytes(text)))) as? [String: Any]
  }

  static func bytes(_ text: String?) -> [UInt8] {
    var text = (text ?? "").replacing("-", with: "+").replacing("_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return Array(Data(base64Encoded: text) ?? Data())
  }
}
