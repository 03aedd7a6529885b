import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app's old session layer: an actor with its tokens in a JSON file.
actor LegacyTokens {
  struct Tokens: Codable {
    var accessToken: String
    var refreshToken: String
    var expiresAt: Date
    var userID: String
  }

  private struct Refreshed: Decodable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Double
  }

  private let file: URL
  private let service: URL
  private var tokens: Tokens
  private var refreshing: Task<String, any Error>?

  init(file: URL, service: URL) throws {
    self.file = file
    self.service = service
    tokens = try JSONDecoder().decode(Tokens.self, from: Data(contentsOf: file))
  }

  func accessToken() async throws -> String {
    if tokens.expiresAt > Date.now { return tokens.accessToken }
    if let refreshing { return try await refreshing.value }
    let task = Task { try await refresh() }
    refreshing = task
    defer { refreshing = nil }
    return try await task.value
  }

  private func refresh() async throws -> String {
    var request = URLRequest(url: service.appending(path: "auth/refresh"))
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode(["refreshToken": tokens.refreshToken])
    let (data, _) = try await URLSession.shared.data(for: request)
    let fresh = try JSONDecoder().decode(Refreshed.self, from: data)
    tokens.accessToken = fresh.accessToken
    tokens.refreshToken = fresh.refreshToken
    tokens.expiresAt = Date.now.addingTimeInterval(fresh.expiresIn)
    try JSONEncoder().encode(tokens).write(to: file)
    return fresh.accessToken
  }
}
