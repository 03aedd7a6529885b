import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionTestKit
import Testing

@Suite("A session: a login with only a refresh token")
struct RefreshTokenLoginTests {
  /// A configuration whose access tokens name the user, since a refresh does not.
  private func configuration(_ bench: Bench) -> SessionConfiguration {
    var configuration = bench.configuration()
    configuration.http.response.user = [.member("user"), .claim("sub")]
    return configuration
  }

  /// A refresh token that the server gave to another client.
  private func token(_ bench: Bench) async throws -> Secret {
    let wire = bench.configuration().http
    let request = try #require(wire.loginRequest(.sample))
    let response = try wire.readLogin(try await URLSessionTransport().send(request))
    return try #require(response.refresh)
  }

  @Test("LOG-15 the session begins with one refresh request, and then works like any other")
  func begins() async throws {
    let bench = try Bench()
    let session = try await Session.open(configuration(bench))
    let result = try await session.login(.refreshToken(try await token(bench)))
    #expect(result.user?.id == Identifier(LoopbackUser.sample.id))
    #expect(bench.server.count(of: .refresh) == 1 && bench.server.count(of: .login) == 1)
    let login = try #require(try bench.records().compactMap(\.event).first)
    guard case .login(let facts) = login else {
      Issue.record("it is \(login)")
      return
    }
    #expect(facts.method == .refreshToken)
    // The server keeps the refresh token, and so does the session.
    #expect(session.canRefreshToken)
    try await session.close()

    let again = try await Session.open(configuration(bench))
    #expect(again.isAuthenticated)
    #expect(try await again.refresh().generation == Generation(2))
    #expect(try await again.logout() == .success)
    #expect(bench.server.count(of: .logout) == 1)
    try await again.close()
  }

  @Test("LOG-15 a login whose response is lost stores nothing, and can be repeated")
  func lost() async throws {
    let bench = try Bench()
    let session = try await Session.open(configuration(bench))
    let token = try await token(bench)
    bench.server.failNext(.refresh, with: .dropConnection(.afterActing))
    let error = await failure { () async throws(SessionError) in
      try await session.login(.refreshToken(token))
    }
    #expect(error?.code == .noReply)
    #expect(session.state == .unauthenticated && session.currentToken == nil)
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    try await session.close()

    let again = try await Session.open(configuration(bench))
    #expect(again.state == .unauthenticated)
    #expect(bench.server.count(of: .refresh) == 1)
    try await again.login(.refreshToken(token))
    #expect(again.isAuthenticated)
    try await again.close()
  }

  @Test("LOG-15 LOG-3 a refused token is reported as wrong credentials, and stores nothing")
  func refused() async throws {
    let bench = try Bench()
    let session = try await Session.open(configuration(bench))
    let error = await failure { () async throws(SessionError) in
      try await session.login(.refreshToken(Secret("rt-unknown")))
    }
    #expect(error?.code == .invalidCredentials && error?.serverCode == "TOKEN_INVALID")
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    try await session.close()
  }

  @Test("LOG-15 a token that cannot be sent is refused at once", arguments: ["", "a\r\nb"])
  func unsendable(token: String) async throws {
    let bench = try Bench()
    let session = try await Session.open(configuration(bench))
    let error = await failure { () async throws(SessionError) in
      try await session.login(.refreshToken(Secret(token)))
    }
    #expect(error?.code == .invalidResponse)
    #expect(bench.server.calls.isEmpty)
    try await session.close()
  }

  @Test("LOG-15 LOG-10 a response that does not name the user fails the login")
  func nameless() async throws {
    let bench = try Bench()
    let session = try await bench.open()
    let token = try await token(bench)
    let error = await failure { () async throws(SessionError) in
      try await session.login(.refreshToken(token))
    }
    #expect(error?.code == .invalidResponse)
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    try await session.close()
    // The token still belongs to its owner, so nothing was revoked.
    #expect(bench.server.count(of: .logout) == 0)
    let again = try await Session.open(configuration(bench))
    try await again.login(.refreshToken(token))
    #expect(again.isAuthenticated)
    try await again.close()
  }

  @Test("LOG-15 LOG-10 a new refresh token of a failed login is revoked")
  func namelessRotated() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await bench.open()
    let token = try await token(bench)
    let error = await failure { () async throws(SessionError) in
      try await session.login(.refreshToken(token))
    }
    #expect(error?.code == .invalidResponse)
    await eventually("the server is told") { bench.server.count(of: .logout) == 1 }
    try await session.close()
  }

  @Test("LOG-15 REF-7 a new refresh token is kept although other members are unreadable")
  func oddResponse() async throws {
    let bench = try Bench { $0.rotatesRefreshTokens = true }
    let session = try await Session.open(configuration(bench))
    bench.server.failNext(.refresh, with: .patch(["expires_in": "soon", "token_type": "odd"]))
    try await session.login(.refreshToken(try await token(bench)))
    #expect(session.isAuthenticated)
    #expect(try await session.refresh().generation == Generation(2))
    #expect(bench.server.violations.isEmpty)
    try await session.close()
  }
}

@Suite("A session: the response to a registration")
struct RegistrationResponseTests {
  /// A session whose registrations use the loopback's login endpoint, which returns tokens.
  private func open(_ bench: Bench) async throws -> Session {
    var configuration = bench.configuration()
    configuration.http.register = "auth/login"
    return try await Session.open(configuration)
  }

  private static let account = Credential.registration(
    LoopbackUser.sample.email, LoopbackUser.sample.password, fields: ["first_name": "Ada"])

  @Test("LOG-14 LOG-5 a response with tokens logs in")
  func signsIn() async throws {
    let bench = try Bench()
    let session = try await open(bench)
    let result = try await session.login(Self.account)
    #expect(result.user?.id == Identifier(LoopbackUser.sample.id))
    #expect(session.isAuthenticated)
    #expect(try bench.eventNames() == ["login"])
    try await session.close()
  }

  @Test(
    "LOG-14 LOG-5 a success without tokens means that the account was created, and is no error",
    arguments: [
      "", #"{"user":{"id":"u-1"},"message":"confirm your e-mail address"}"#, "[]", "created",
      #"{"access_token":null}"#,
    ])
  func accountCreated(body: String) async throws {
    let bench = try Bench()
    let session = try await open(bench)
    bench.server.failNext(.login, with: .body(Array(body.utf8), status: 201))
    #expect(try await session.login(Self.account) == .accountCreated)
    #expect(session.state == .unauthenticated && session.activity == .idle)
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    // The account can be used at once.
    try await session.login(.sample)
    #expect(session.isAuthenticated)
    try await session.close()
  }

  @Test(
    "LOG-14 an unreadable token and a proxy's page are errors",
    arguments: [LoopbackFault.brokenJSON, .html, .patch(["access_token": 7])])
  func unreadable(fault: LoopbackFault) async throws {
    let bench = try Bench()
    let session = try await open(bench)
    bench.server.failNext(.login, with: fault)
    let error = await failure { () async throws(SessionError) in
      try await session.login(Self.account)
    }
    #expect(error?.code == .invalidResponse)
    #expect(try bench.eventNames().isEmpty && bench.files().isEmpty)
    try await session.close()
  }
}
