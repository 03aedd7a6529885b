internal import Foundation
internal import SessionCore
internal import SessionJournal
internal import SessionKit

/// Where a session of the benchmarks lives.
struct VisitorPlace: Sendable {
  let journal: String

  /// A new place.
  init(_ stage: Stage) {
    journal = stage.path("session.journal")
  }

  /// The place of a journal that is there.
  init(journal: String) {
    self.journal = journal
  }
}

/// A session whose backend answers at once.
enum Visitor {
  /// A session on a journal, as an app opens it; nothing of the journal is compacted.
  static func opened(_ place: VisitorPlace) async throws -> Session {
    guard let url = URL(string: "http://localhost") else { throw Problem("no address") }
    var wire = Wire.edu(baseURL: url)
    wire.tokenForm = .opaque
    return try await Session.open(
      SessionConfiguration(
        journal: place.journal, secrets: MemorySecretStore(), wire: wire,
        transport: Backend(), eventBuffer: 50_000, retention: nil))
  }

  static func signedIn(at place: VisitorPlace) async throws -> Session {
    let session = try await opened(place)
    try await session.login(PasswordCredentials(userName: "a@b.example", password: Secret("word")))
    try expect(session.currentToken != nil, "nobody is signed in")
    return session
  }

  private struct Backend: HTTPTransport {
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      // As long as the tokens of real servers.
      let access = String(repeating: "x", count: 800)
      let answer = """
        {"access_token":"\(access)","refresh_token":"refresh","expires_in":86400,\
        "user":{"id":"9f2c1a7e-0000-4000-8000-000000000001","email":"a@b.example"}}
        """
      return HTTPResponse(status: 200, body: Array(answer.utf8))
    }
  }
}
