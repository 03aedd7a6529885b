import Foundation
import SessionTestKit

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
    if let bearer {
      request.setValue("Bearer \(bearer)", forHTTPHeaderField: "Authorization")
    }
    let (body, response) = try await session.data(for: request)
    guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    var headers: [String: String] = [:]
    for (name, value) in http.allHeaderFields {
      headers["\(name)".lowercased()] = "\(value)"
    }
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
