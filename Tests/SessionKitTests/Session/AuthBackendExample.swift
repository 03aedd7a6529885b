import SessionKit
import SessionTestKit
import Testing

/// The errors of the client in the page's example.
enum AccountError: Error {
  case wrongCode
  case notSent
  case noReply
}

/// A client of a protocol other than HTTP, which has one user.
struct AccountClient {
  struct Tokens {
    var access = "A1"
    var renewal = "R1"
    var lifetime = Duration.seconds(3_600)
    var user = "u-1"
  }

  func redeem(_ code: String?) async throws(AccountError) -> Tokens {
    guard let code else { throw .notSent }
    if code.isEmpty { throw .noReply }
    guard code == "123456" else { throw .wrongCode }
    return Tokens()
  }

  func renew(_ renewal: String) async throws(AccountError) -> Tokens {
    guard renewal == "R1" else { throw .wrongCode }
    return Tokens(access: "A2", renewal: "R2")
  }
}

/// Users log in with a code that they were sent.
struct CodeBackend: AuthBackend {
  let client: AccountClient
  let identity = BackendIdentity("com.example.accounts")

  func login(
    _ credential: Credential, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    switch credential {
    case .custom(type: "code", let fields):
      let code = fields["code"]?.plaintext
      return try await answer { () throws(AccountError) in try await client.redeem(code) }
    case .password, .provider, .registration, .refreshToken, .custom:
      throw .unsupported("users log in with a code")
    }
  }

  func refresh(
    _ token: RefreshToken, in context: RequestContext
  ) async throws(BackendError) -> TokenResponse {
    try await answer { () throws(AccountError) in try await client.renew(token.plaintext) }
  }

  /// What a request brought, in the words of a session.
  private func answer(
    to request: () async throws(AccountError) -> AccountClient.Tokens
  ) async throws(BackendError) -> TokenResponse {
    do throws(AccountError) {
      let tokens = try await request()
      return TokenResponse(
        access: Secret(tokens.access), refresh: Secret(tokens.renewal), lifetime: tokens.lifetime,
        user: UserProfile(id: Identifier(tokens.user)))
    } catch {
      switch error {
      case .wrongCode: throw BackendError(.rejected)
      case .notSent: throw .noResponse("the request was not sent", mayHaveActed: false)
      case .noReply: throw .noResponse("no reply came", mayHaveActed: true)
      }
    }
  }
}

@Suite("A backend without HTTP")
struct AuthBackendExample {
  @Test("POL-4 LOG-14 REF-5 the example logs in with a code, refreshes, and tells errors apart")
  func run() async throws {
    let bench = try Bench()
    var configuration = bench.configuration()
    configuration.backend = CodeBackend(client: AccountClient())
    let session = try await Session.open(configuration)
    let refused: [(Credential, SessionError.Code)] = [
      (.custom("code", ["code": "654321"]), .invalidCredentials),
      (.custom("code"), .noConnection),
      (.custom("code", ["code": ""]), .noReply),
      (.password("ana@school.test", "correct-horse-9"), .refused),
    ]
    for (credential, code) in refused {
      let error = await failure { () async throws(SessionError) in
        try await session.login(credential)
      }
      #expect(error?.code == code)
    }
    #expect(
      try await session.login(.custom("code", ["code": "123456"]))
        == .loggedIn(UserProfile(id: "u-1")))
    #expect(try await session.refresh().plaintext == "A2")
    try await session.close()
  }
}
