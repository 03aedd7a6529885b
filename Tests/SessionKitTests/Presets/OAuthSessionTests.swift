import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import Testing

@Suite("A session at an OAuth 2.0 server")
struct OAuthSessionTests {
  private static let client = ClientAuthentication.basic(id: "app", secret: Secret("word"))

  private func configuration(
    _ bench: Bench, _ front: OAuthFront, key: UserNameKey? = nil
  ) -> SessionConfiguration {
    var preset = front.preset(Self.client)
    if let key { preset.backend.response.user.append(.userName(key)) }
    preset.policy.refresh.timeout = .seconds(5)
    return SessionConfiguration(
      journal: bench.journal, secrets: FileSecretStore(folder: bench.secrets), preset: preset,
      transport: front, clock: bench.clock)
  }

  /// Whether a text is anywhere in a request.
  private func holds(_ request: HTTPRequest, _ text: String) -> Bool {
    let places =
      [request.url.absoluteString, request.url.absoluteString.removingPercentEncoding ?? ""]
      + request.headers.flatMap { [$0.name, $0.value] }
    let body = Data(request.body ?? [])
    return places.contains { $0.contains(text) } || body.range(of: Data(text.utf8)) != nil
  }

  @Test("POL-4 LOG-3 LOG-4 OUT-1 a session logs in by password grant, refreshes and is revoked")
  func wholeLife() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let front = OAuthFront(bench.server)
    let session = try await Session.open(configuration(bench, front))
    let user = try await session.login(bench.credentials).user
    #expect(user?.id == Identifier(LoopbackUser.sample.id))
    #expect(session.isAuthenticated && session.canRefreshToken)
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    #expect(try bench.eventNames() == ["login", "refreshSucceeded"])
    #expect(try await session.logout() == .success)
    #expect(bench.server.violations.isEmpty)
    #expect(
      front.requests.map(\.url.path) == ["/oauth/token", "/oauth/token", "/oauth/revoke"])
    try await session.close()
  }

  @Test("REF-4 a refresh request has the client's authentication, and no access token anywhere")
  func refreshRequest() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let front = OAuthFront(bench.server)
    let session = try await Session.open(configuration(bench, front))
    try await session.login(bench.credentials)
    for _ in 0..<3 { try await session.refresh() }
    try await session.logout()
    let refreshes = front.requests.filter {
      String(decoding: $0.body ?? [], as: UTF8.self).contains("grant_type=refresh_token")
    }
    #expect(refreshes.count == 3)
    #expect(Set(front.accessTokens).count == 4)
    for request in refreshes {
      #expect(
        request.headers.filter { $0.isNamed("Authorization") }.map(\.value)
          == ["Basic YXBwOndvcmQ="])
      for token in front.accessTokens { #expect(!holds(request, token)) }
    }
    // The search finds a token: EDU's logout carries the access token.
    let token = try #require(front.accessTokens.first)
    let logout = HTTPBackend.snakeCaseJSON(bench.server.baseURL).revoke(
      access: Secret(token), refresh: nil)
    #expect(holds(try #require(logout), token))
    try await session.close()
  }

  @Test(
    "LOG-4 STA-6 the user name identifies the user if no member does, also at the next login")
  func userName() async throws {
    let eve = LoopbackUser(
      id: "u-eve", email: "eve@school.test", password: "four-five-six", firstName: "Eve",
      lastName: "Sample", contexts: [])
    let bench = try Bench()
    let server = try LoopbackServer.start(backend: .edu(users: [.sample, eve]))
    defer { server.stop() }
    let front = OAuthFront(server, hidesClaims: true)
    let key = UserNameKey.random()
    let session = try await Session.open(configuration(bench, front, key: key))
    let user = try await session.login(bench.credentials).user
    #expect(user?.id == key.identifier(of: LoopbackUser.sample.email))
    #expect(session.currentToken?.plaintext == "opaque-1")
    server.revokeAllTokens()
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    guard case .expired = session.state else {
      Issue.record("it is \(session.state)")
      return
    }
    let other = await failure { () async throws(SessionError) in
      try await session.login(.password(of: eve))
    }
    #expect(other?.code == .alreadyLoggedIn && other?.reason != nil)
    #expect(try await session.login(bench.credentials).user?.id == user?.id)
    #expect(session.isAuthenticated)
    // The journal has the digest, and not the name.
    let text = try #require(user?.id.description)
    let journal = try Data(contentsOf: URL(fileURLWithPath: bench.journal))
    #expect(journal.range(of: Data(text.utf8)) != nil)
    #expect(journal.range(of: Data(LoopbackUser.sample.email.utf8)) == nil)
    try await session.close()
  }
}
